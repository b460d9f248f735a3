#ifndef STOKER_SERVER_MAIN_PULSE_H_
#define STOKER_SERVER_MAIN_PULSE_H_

#include <chrono>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"

namespace stoker {

// Feels whether gRPC's threads still answer: it makes a call to the server itself, in the process, and looks whether
// the one before was answered. Thread-safe. Never blocks.
class Pulse {
 public:
  // An answer that takes longer than `patience` is none.
  explicit Pulse(std::shared_ptr<grpc::Channel> channel, absl::Duration patience = absl::Seconds(30));
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

  ~Pulse();

  // Returns whether the server has a pulse, and asks it again.
  bool Feel();

  // Feels nothing from now on: the server is about to shut down, and must not be asked then. Cancels the call that was
  // not answered, and waits for its end: gRPC must not lose its last channel in a callback.
  void Close();

 private:
  struct Call;

  const std::shared_ptr<grpc::Channel> channel_;
  const absl::Duration patience_;

  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;  // and not answered yet
  std::chrono::steady_clock::time_point since_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Call> call_ ABSL_GUARDED_BY(mutex_);  // the last one
};

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_PULSE_H_
