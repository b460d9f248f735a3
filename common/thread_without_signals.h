#ifndef STOKER_COMMON_THREAD_WITHOUT_SIGNALS_H_
#define STOKER_COMMON_THREAD_WITHOUT_SIGNALS_H_

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace stoker {

// Starts a thread that no signal of the process goes to. It may be there before others block theirs, and a signal that
// ends the process by default would do so on it.
template <typename Run>
std::thread ThreadWithoutSignals(Run run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(run));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace stoker

#endif  // STOKER_COMMON_THREAD_WITHOUT_SIGNALS_H_
