#ifndef STOKER_CLIENT_CLI_STOP_SIGNAL_H_
#define STOKER_CLIENT_CLI_STOP_SIGNAL_H_

#include <csignal>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace stoker {

// Turns Ctrl-C and SIGTERM into an ordinary call on a thread of its own. Construct it before any other thread starts,
// since only threads that start later have the signals blocked. While there is no Handler, a signal ends the process at
// once with exit_code(); a second signal always does. Thread-safe.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();

  // The exit code that a shell expects of a program that a signal ended: 128 + the signal's number. 0 if there was
  // none.
  int exit_code() const;

  // While it lives, the first signal calls `stop`, on the StopSignal's thread.
  class Handler {
   public:
    Handler(StopSignal& signal, std::function<void()> stop);
    ~Handler();

   private:
    StopSignal& signal_;
  };

 private:
  void Wait();

  sigset_t stop_signals_, blocked_before_;
  mutable absl::Mutex mutex_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  int received_ ABSL_GUARDED_BY(mutex_) = 0;
  std::function<void()> stop_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_STOP_SIGNAL_H_
