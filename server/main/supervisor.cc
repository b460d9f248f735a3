#include "server/main/supervisor.h"

#include <signal.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
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

std::string AwaitStop(absl::Duration period, const std::function<void()>& report) {
  const sigset_t signals = StopSignals();
  const absl::Duration watchdog = WatchdogPeriod();
  absl::Time report_at = absl::Now() + period;
  while (true) {
    const absl::Duration wait =
        std::min(watchdog / 2, std::clamp(report_at - absl::Now(), absl::ZeroDuration(), period));
    const timespec interval = absl::ToTimespec(wait);
    const int signal = sigtimedwait(&signals, nullptr, &interval);
    if (signal > 0) return signal == SIGTERM ? "SIGTERM" : "SIGINT";
    if (watchdog < absl::InfiniteDuration()) NotifyServiceManager("WATCHDOG=1");
    if (absl::Now() < report_at) continue;
    report();
    report_at = absl::Now() + period;
  }
}

void NotifyReady(const std::string& status) { NotifyServiceManager(absl::StrCat("READY=1\nSTATUS=", status)); }

void NotifyStopping(absl::Duration at_most) {
  const int64_t us = absl::ToInt64Microseconds(at_most + absl::Seconds(5));
  NotifyServiceManager(absl::StrCat("STOPPING=1\nEXTEND_TIMEOUT_USEC=", us));
}

}  // namespace stoker
