#ifndef STOKER_CLIENT_FLEET_ASK_ALL_H_
#define STOKER_CLIENT_FLEET_ASK_ALL_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/receive/obstacle.h"
#include "client/receive/transport.h"
#include "common/time/steady_time.h"

namespace stoker {

// What one server said. Where it could not be reached the status is Unavailable, with the reason in plain words.
template <typename Response>
struct Answer {
  std::string address;
  absl::StatusOr<Response> response;
};

// Asks one question of all servers at once, each in a thread of its own, and again of those that cannot be reached.
// Used once, by one thread.
template <typename Response>
class AskAll {
 public:
  using Ask =
      std::function<absl::StatusOr<Response>(const std::string& address, absl::Time deadline, Transport::Call&)>;

  // Asks until `deadline`, a time of SteadyNow(). It gives up earlier when nothing can come of any server without an
  // answer, for its certificate or this client's is not good; and if `patient` is false also when each is known to
  // refuse connections, or to have no address. `transport` says what stands in the way.
  AskAll(Ask ask, const Transport* transport, absl::Time deadline, absl::Duration grace, bool patient)
      : ask_(std::move(ask)), transport_(transport), deadline_(deadline), grace_(grace), patient_(patient) {}

  // Returns when all have answered or it is time to give up, or `grace` after the first that succeeded.
  std::vector<Answer<Response>> Run(const std::vector<std::string>& addresses) {
    for (const std::string& address : addresses) servers_.push_back({.address = address});
    std::vector<std::thread> threads;
    for (Server& server : servers_) threads.emplace_back([this, &server] { Reach(server); });
    AwaitEnd();
    for (std::thread& thread : threads) thread.join();
    std::vector<Answer<Response>> answers;
    for (Server& server : servers_) answers.push_back({server.address, std::move(server.response)});
    return answers;
  }

  // After Run(): whether it ended for no server could have answered any more.
  bool gave_up() const { return gave_up_; }

 private:
  // How long finding out what stands in the way may connect, and the pause until a server is tried again.
  static constexpr absl::Duration kPatience = absl::Milliseconds(500), kPause = absl::Milliseconds(200);

  // mutex_ guards `answered`, `hopeless` and `call`, and the response until the server's thread has ended.
  struct Server {
    std::string address;
    absl::StatusOr<Response> response = absl::UnavailableError("no answer");
    bool answered = false;  // The response is there.
    bool hopeless = false;  // What stands in the way is definite,
    bool lasting = false;   // and no time changes it.
    std::unique_ptr<Transport::Call> call = nullptr;
  };

  // A server's thread: asks until there is an answer, or none is waited for any more.
  void Reach(Server& server) {
    auto connect = Transport::Call::Connect::kOnce;
    absl::Status failure = absl::UnavailableError("nothing answers there");
    while (Transport::Call* call = Begin(server, connect)) {
      auto response = ask_(server.address, deadline_, *call);
      const absl::StatusCode code = response.status().code();
      if (code == absl::StatusCode::kDeadlineExceeded)
        failure = absl::UnavailableError("it is there, but gave no answer in time");
      if (code == absl::StatusCode::kDeadlineExceeded || code == absl::StatusCode::kCancelled) break;
      // Where connections were waited for, this is the server's own word.
      if (code != absl::StatusCode::kUnavailable || connect == Transport::Call::Connect::kWait)
        return Finish(server, std::move(response));
      const Obstacle obstacle = transport_->FindObstacle(server.address, kPatience);
      failure = absl::UnavailableError(
          !obstacle.reason.empty() ? obstacle.reason
                                   : absl::StrCat("it is there, but gives no answer: ", response.status().message()));
      if (obstacle.reason.empty()) connect = Transport::Call::Connect::kWait;
      Pause(server, obstacle);
    }
    Finish(server, failure);
  }

  // The server's next call, or null where no answer is waited for any more.
  Transport::Call* Begin(Server& server, Transport::Call::Connect connect) {
    absl::MutexLock lock(&mutex_);
    if (over_ || SteadyNow() >= deadline_) return nullptr;
    server.call = std::make_unique<Transport::Call>(connect);
    return server.call.get();
  }

  void Pause(Server& server, const Obstacle& obstacle) {
    absl::MutexLock lock(&mutex_);
    server.hopeless = obstacle.definite;
    server.lasting = obstacle.lasting;
    changed_.SignalAll();
    const absl::Time until = std::min(deadline_, SteadyNow() + kPause);
    while (!over_ && !obstacle.reason.empty() && SteadyNow() < until)
      changed_.WaitWithTimeout(&mutex_, until - SteadyNow());
  }

  void Finish(Server& server, absl::StatusOr<Response> response) {
    absl::MutexLock lock(&mutex_);
    server.answered = true;
    server.response = std::move(response);
    changed_.SignalAll();
  }

  // Waits for what Run() waits for, and ends all calls.
  void AwaitEnd() {
    absl::MutexLock lock(&mutex_);
    while (!AllAnswered() && !OneSucceeded() && !IsHopeless()) changed_.Wait(&mutex_);
    gave_up_ = !AllAnswered() && !OneSucceeded();
    const absl::Time grace = SteadyNow() + (OneSucceeded() ? grace_ : absl::ZeroDuration());
    while (!AllAnswered() && SteadyNow() < grace) changed_.WaitWithTimeout(&mutex_, grace - SteadyNow());
    over_ = true;
    changed_.SignalAll();
    for (const Server& server : servers_)
      if (server.call != nullptr) server.call->Cancel();
  }

  bool AllAnswered() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return std::all_of(servers_.begin(), servers_.end(), [](const Server& server) { return server.answered; });
  }
  bool OneSucceeded() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return std::any_of(servers_.begin(), servers_.end(), [](const Server& server) { return server.response.ok(); });
  }
  bool IsHopeless() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto gives_none = [this](const Server& server) {
      return server.answered || server.lasting || (server.hopeless && !patient_);
    };
    return std::all_of(servers_.begin(), servers_.end(), gives_none);
  }

  const Ask ask_;
  const Transport* const transport_;
  const absl::Time deadline_;
  const absl::Duration grace_;
  const bool patient_;

  absl::Mutex mutex_;
  absl::CondVar changed_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  bool gave_up_ = false;  // Written by Run() alone.
  std::deque<Server> servers_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_FLEET_ASK_ALL_H_
