#ifndef STOKER_SERVER_MAIN_SUPERVISOR_H_
#define STOKER_SERVER_MAIN_SUPERVISOR_H_

#include <functional>
#include <string>

#include "absl/time/time.h"

namespace stoker {

// These functions talk to whoever started the process: signals come in, systemd's notifications go out. Without systemd
// (no NOTIFY_SOCKET) notifications do nothing. All are for the main thread.

// Blocks SIGTERM, SIGINT and SIGHUP, so that only AwaitStop receives them. Call it before threads start: they inherit
// it.
void BlockStopSignals();

// What is done until the server stops. Nothing here may block.
struct Duties {
  absl::Duration period;          // of report
  std::function<void()> report;   // says what was done lately
  std::function<bool()> healthy;  // is asked before systemd's watchdog is fed
  std::function<void()> reload;   // is called at SIGHUP
};

// Waits for SIGTERM or SIGINT, and sees to the duties meanwhile. Returns the signal's name.
std::string AwaitStop(const Duties& duties);

// From here on another SIGTERM or SIGINT ends the process at once.
void UnblockStopSignals();

// Tells systemd that the server serves. `status` is for people (`systemctl status`).
void NotifyReady(const std::string& status);

// Changes what systemd shows of the server.
void NotifyStatus(const std::string& status);

// Tells systemd that the server reads its configuration again. NotifyReady ends that.
void NotifyReloading();

// Tells systemd that the server stops, and asks for `at_most` and five seconds more until it is killed.
void NotifyStopping(absl::Duration at_most);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_SUPERVISOR_H_
