#ifndef STOKER_SERVER_MAIN_NOTIFY_SOCKET_H_
#define STOKER_SERVER_MAIN_NOTIFY_SOCKET_H_

#include <string>

#include "absl/time/time.h"

namespace stoker {

// The talk with systemd, or whatever else sets NOTIFY_SOCKET, by the protocol that sd_notify(3) documents: a few lines
// in place of a library that brings six others into the process. Thread-safe as long as nothing changes the
// environment.

// Sends "NAME=VALUE" lines. Does nothing where nobody listens: a server needs no service manager.
void NotifyServiceManager(const std::string& state);

// How often "WATCHDOG=1" is expected of this process; InfiniteDuration where it is not.
absl::Duration WatchdogPeriod();

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_NOTIFY_SOCKET_H_
