#ifndef STOKER_SERVER_MAIN_NOTIFY_SOCKET_H_
#define STOKER_SERVER_MAIN_NOTIFY_SOCKET_H_

#include <string>

#include "absl/time/time.h"

namespace stoker {

// These functions talk to systemd, or whatever else sets NOTIFY_SOCKET, by the protocol that sd_notify(3) documents.
// They are written here since libsystemd would bring six other libraries into the process. Thread-safe as long as
// nothing changes the environment.

// Sends `state`, which is lines of "NAME=VALUE". Does nothing if nobody listens: a server needs no service manager.
void NotifyServiceManager(const std::string& state);

// How often the service manager expects "WATCHDOG=1" from this process; InfiniteDuration if it does not.
absl::Duration WatchdogPeriod();

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_NOTIFY_SOCKET_H_
