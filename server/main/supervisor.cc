#include "server/main/supervisor.h"

#include <signal.h>
#include <systemd/sd-daemon.h>

#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

// Half of the watchdog's period, or a second where there is none.
timespec FeedingInterval() {
  uint64_t watchdog_us = 0;
  if (sd_watchdog_enabled(0, &watchdog_us) <= 0) return {.tv_sec = 1, .tv_nsec = 0};
  return absl::ToTimespec(absl::Microseconds(watchdog_us / 2));
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
  const timespec interval = FeedingInterval();
  while (true) {
    const int signal = sigtimedwait(&signals, nullptr, &interval);
    if (signal > 0) return signal == SIGTERM ? "SIGTERM" : "SIGINT";
    sd_notify(0, "WATCHDOG=1");
  }
}

void NotifyReady(const std::string& status) { sd_notify(0, absl::StrCat("READY=1\nSTATUS=", status).c_str()); }

void NotifyStopping(absl::Duration at_most) {
  const int64_t us = absl::ToInt64Microseconds(at_most + absl::Seconds(5));
  sd_notify(0, absl::StrCat("STOPPING=1\nEXTEND_TIMEOUT_USEC=", us).c_str());
}

}  // namespace stoker
