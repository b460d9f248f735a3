#include "server/plugin/python_processes.h"

#include <algorithm>
#include <thread>

#include "common/status_macros.h"

namespace stoker {

absl::StatusOr<std::string> PythonProcesses::Warm() {
  const size_t count = std::max(options_.processes, 1);
  for (size_t i = 0; i < count; ++i) {
    STOKER_ASSIGN_OR_RETURN(rooms_.emplace_back(), PythonRoom::Create());
    GiveBackRoom(static_cast<int>(i));
  }
  std::vector<absl::Status> statuses(count);
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (absl::Status& status : statuses)
    threads.emplace_back([this, &status] {
      auto process = Start();
      status = process.status();
      if (process.ok()) GiveBack(*std::move(process));
    });
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) STOKER_RETURN_IF_ERROR(status);
  const absl::MutexLock lock(&mutex_);
  offer_ = free_.front()->offer();
  for (const auto& process : free_)
    if (process->offer() != offer_)
      return absl::FailedPreconditionError("the files of its ops changed while the server started; start it again");
  return offer_;
}

absl::StatusOr<std::unique_ptr<PythonProcess>> PythonProcesses::Start() const {
  std::vector<int> rooms;
  rooms.reserve(rooms_.size());
  for (const auto& room : rooms_) rooms.push_back(room->descriptor());
  return PythonProcess::Start(options_, files_, rooms);
}

absl::StatusOr<std::unique_ptr<PythonProcess>> PythonProcesses::TakeOrStart() {
  std::unique_ptr<PythonProcess> process = Take();
  while (process != nullptr && !process->Runs()) process = Take();
  if (process != nullptr) return process;
  auto started = Start();
  if (!started.ok()) return absl::InternalError(started.status().message());
  if ((*started)->offer() != offer_)
    return absl::InternalError("the files of its ops have changed since the server started; restart the server");
  return started;
}

std::unique_ptr<PythonProcess> PythonProcesses::Take() {
  const absl::MutexLock lock(&mutex_);
  if (free_.empty()) return nullptr;
  auto process = std::move(free_.back());
  free_.pop_back();
  return process;
}

void PythonProcesses::GiveBack(std::unique_ptr<PythonProcess> process) {
  const absl::MutexLock lock(&mutex_);
  free_.push_back(std::move(process));
}

int PythonProcesses::TakeRoom() {
  const absl::MutexLock lock(&mutex_);
  if (free_rooms_.empty()) return -1;
  const int room = free_rooms_.back();
  free_rooms_.pop_back();
  return room;
}

void PythonProcesses::GiveBackRoom(int room) {
  const absl::MutexLock lock(&mutex_);
  free_rooms_.push_back(room);
}

}  // namespace stoker
