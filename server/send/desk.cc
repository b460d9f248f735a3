#include "server/send/desk.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace stoker {

Desk::Desk(const Options& options) : options_(options) {
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { Run(); });
}

Desk::~Desk() {
  std::map<std::string, std::deque<Answer>> left;
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
    left.swap(by_peer_);
    turns_.clear();
    changed_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  for (const auto& [peer, answers] : left)
    for (const Answer& answer : answers) answer(absl::CancelledError("this server is shutting down"));
}

absl::Status Desk::Ask(const std::string& peer, Answer answer) {
  absl::MutexLock lock(&mutex_);
  const auto queue = by_peer_.find(peer);
  const size_t of_peer = queue == by_peer_.end() ? 0 : queue->second.size();
  if (of_peer >= options_.most_waiting_of_peer || waiting_ >= options_.most_waiting)
    return absl::ResourceExhaustedError(
        absl::StrCat(of_peer, " requests of this host wait here already, and ", waiting_, " in all; ask again later"));
  if (of_peer == 0) turns_.push_back(peer);
  by_peer_[peer].push_back(std::move(answer));
  ++waiting_;
  changed_.Signal();
  return absl::OkStatus();
}

void Desk::Run() {
  while (true) {
    Answer answer;
    {
      absl::MutexLock lock(&mutex_);
      while (turns_.empty() && !closing_) changed_.Wait(&mutex_);
      if (closing_) return;
      const auto queue = by_peer_.find(turns_.front());
      answer = std::move(queue->second.front());
      queue->second.pop_front();
      --waiting_;
      if (queue->second.empty()) {
        by_peer_.erase(queue);
      } else {
        turns_.push_back(std::move(turns_.front()));
      }
      turns_.pop_front();
    }
    answer(absl::OkStatus());
  }
}

}  // namespace stoker
