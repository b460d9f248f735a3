#ifndef STOKER_SERVER_SEND_DESK_H_
#define STOKER_SERVER_SEND_DESK_H_

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace stoker {

// A few threads that answer requests which may take long, so that gRPC's own threads never do. Peers take turns: one
// request of each, however many one of them sends.
//
// Thread-safe. What waits is bounded, for each peer and in all.
class Desk {
 public:
  // Answers one request. Its argument is OK, or Cancelled where the desk closes before the request's turn came.
  using Answer = std::function<void(const absl::Status&)>;

  struct Options {
    int threads = 2;
    size_t most_waiting = 256;  // requests of all peers
    size_t most_waiting_of_peer = 32;
  };

  explicit Desk(const Options& options);
  Desk() : Desk(Options()) {}
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  // Waits for the answers in work. Requests that still wait are told that they are Cancelled.
  ~Desk();

  // Queues a request of `peer`. ResourceExhausted if too many wait; `answer` is not called then.
  absl::Status Ask(const std::string& peer, Answer answer);

 private:
  void Run();

  const Options options_;

  absl::Mutex mutex_;
  absl::CondVar changed_;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::deque<Answer>> by_peer_ ABSL_GUARDED_BY(mutex_);  // no queue is empty
  std::deque<std::string> turns_ ABSL_GUARDED_BY(mutex_);  // the keys of by_peer_; the next is first
  std::vector<std::thread> threads_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_SEND_DESK_H_
