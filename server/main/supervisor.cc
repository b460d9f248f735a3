#include "server/main/supervisor.h"

#include <signal.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/main/notify_socket.h"

namespace stoker {
namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

void BlockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void UnblockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

std::string AwaitStop() {
  const sigset_t signals = StopSignals();
  const absl::Duration watchdog = WatchdogPeriod();
  const timespec interval = absl::ToTimespec(std::min(watchdog / 2, absl::Hours(1)));
  while (true) {
    const int signal = sigtimedwait(&signals, nullptr, &interval);
    if (signal > 0) return signal == SIGTERM ? "SIGTERM" : "SIGINT";
    if (watchdog < absl::InfiniteDuration()) NotifyServiceManager("WATCHDOG=1");
  }
}

void NotifyReady(const std::string& status) { NotifyServiceManager(absl::StrCat("READY=1\nSTATUS=", status)); }

void NotifyStopping(absl::Duration at_most) {
  const int64_t us = absl::ToInt64Microseconds(at_most + absl::Seconds(5));
  NotifyServiceManager(absl::StrCat("STOPPING=1\nEXTEND_TIMEOUT_USEC=", us));
}

}  // namespace stoker
