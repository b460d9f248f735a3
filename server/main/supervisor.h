#ifndef STOKER_SERVER_MAIN_SUPERVISOR_H_
#define STOKER_SERVER_MAIN_SUPERVISOR_H_

#include <string>

#include "absl/time/time.h"

namespace stoker {

// Talks to whoever started the process: signals in, systemd's notifications out. Without systemd (no NOTIFY_SOCKET)
// notifications go nowhere.

// Blocks SIGTERM and SIGINT for AwaitStop. Call before threads start, which inherit it.
void BlockStopSignals();

// Waits for SIGTERM or SIGINT, feeding systemd's watchdog meanwhile. Returns the signal's name.
std::string AwaitStop();

// From here on another SIGTERM or SIGINT ends the process at once.
void UnblockStopSignals();

void NotifyReady(const std::string& status);
void NotifyStopping(absl::Duration at_most);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_SUPERVISOR_H_
