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

  // Returns whether the server has a pulse, and asks it again.
  bool Feel();

 private:
  struct Call;

  // Shared with calls that may be answered after the pulse is gone.
  struct State {
    absl::Mutex mutex;
    bool asked ABSL_GUARDED_BY(mutex) = false;  // and not answered yet
    std::chrono::steady_clock::time_point since ABSL_GUARDED_BY(mutex);
  };

  const std::shared_ptr<grpc::Channel> channel_;
  const absl::Duration patience_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_PULSE_H_
