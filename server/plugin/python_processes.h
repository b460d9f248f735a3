#ifndef STOKER_SERVER_PLUGIN_PYTHON_PROCESSES_H_
#define STOKER_SERVER_PLUGIN_PYTHON_PROCESSES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/plugin/python_process.h"
#include "server/plugin/python_room.h"

namespace stoker {

// The processes that run one server's ops, and the rooms that they share with it: one of each for a worker.
// Thread-safe.
class PythonProcesses {
 public:
  PythonProcesses(std::vector<std::string> files, PythonOptions options)
      : files_(std::move(files)), options_(std::move(options)) {}

  // Starts as many as the options want, at once, and returns what they offer.
  //
  // It is called before all else.
  absl::StatusOr<std::string> Warm();

  // Lends `use` a process, and returns what it returns. A process that had ended before gets another one's turn.
  // Internal where none can be started any more.
  template <typename Use>
  auto With(Use use) -> decltype(use(std::declval<PythonProcess&>())) {
    absl::StatusOr<std::unique_ptr<PythonProcess>> process = TakeOrStart();
    if (!process.ok()) return process.status();
    auto result = use(**process);
    if ((*process)->usable()) GiveBack(*std::move(process));
    return result;
  }

  // Returns the number of a room that is free until it is given back; −1 where there is none.
  int TakeRoom();
  void GiveBackRoom(int room);
  PythonRoom& room(int number) const { return *rooms_[number]; }

 private:
  absl::StatusOr<std::unique_ptr<PythonProcess>> Start() const;
  absl::StatusOr<std::unique_ptr<PythonProcess>> TakeOrStart();

  // Takes the one that was used last, whose memory is warm.
  std::unique_ptr<PythonProcess> Take();
  void GiveBack(std::unique_ptr<PythonProcess> process);

  const std::vector<std::string> files_;
  const PythonOptions options_;
  std::string offer_;                               // what they all offer; set once, by Warm
  std::vector<std::unique_ptr<PythonRoom>> rooms_;  // set once, by Warm
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<PythonProcess>> free_ ABSL_GUARDED_BY(mutex_);
  std::vector<int> free_rooms_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_PLUGIN_PYTHON_PROCESSES_H_
