#include "server/main/supervisor.h"

#include <signal.h>

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "common/time/steady_time.h"
#include "server/main/notify_socket.h"
#include "spdlog/spdlog.h"

namespace stoker {
namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
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

std::string AwaitStop(const Duties& duties) {
  const sigset_t signals = StopSignals();
  const absl::Duration watchdog = WatchdogPeriod();
  absl::Time report_at = SteadyNow() + duties.period;
  bool was_healthy = true;
  while (true) {
    const absl::Duration left = std::clamp(report_at - SteadyNow(), absl::ZeroDuration(), duties.period);
    const absl::Duration wait = std::min(watchdog / 2, left);
    const timespec interval = absl::ToTimespec(wait);
    const int signal = sigtimedwait(&signals, nullptr, &interval);
    if (signal == SIGHUP) {
      duties.reload();
      continue;
    }
    if (signal > 0) return signal == SIGTERM ? "SIGTERM" : "SIGINT";
    const bool healthy = duties.healthy();
    if (was_healthy && !healthy) spdlog::error("workers or gRPC's threads no longer answer");
    was_healthy = healthy;
    if (healthy && watchdog < absl::InfiniteDuration()) NotifyServiceManager("WATCHDOG=1");
    if (SteadyNow() < report_at) continue;
    duties.report();
    report_at = SteadyNow() + duties.period;
  }
}

void NotifyReloading() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC, as systemd wants it.
  const int64_t us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  NotifyServiceManager(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=", us));
}

void NotifyReady(const std::string& status) { NotifyServiceManager(absl::StrCat("READY=1\nSTATUS=", status)); }

void NotifyStatus(const std::string& status) { NotifyServiceManager(absl::StrCat("STATUS=", status)); }

void NotifyStopping(absl::Duration at_most) {
  const int64_t us = absl::ToInt64Microseconds(at_most + absl::Seconds(5));
  NotifyServiceManager(absl::StrCat("STOPPING=1\nEXTEND_TIMEOUT_USEC=", us));
}

}  // namespace stoker
