#ifndef STOKER_CLIENT_CLI_STOP_SIGNAL_H_
#define STOKER_CLIENT_CLI_STOP_SIGNAL_H_

#include <csignal>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace stoker {

// Ctrl-C and SIGTERM as an ordinary call, on a thread of its own. Make it before any other thread, for signals are
// blocked in those made after it only. A signal ends the process at once, with its exit code, while there is no
// handler, and so does a second one.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();

  // What a shell expects of a program that a signal ended: 128 + its number. 0 if there was none.
  int exit_code() const;

  // Calls `stop` upon the first signal, while it lives.
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
