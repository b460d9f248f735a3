#ifndef STOKER_SERVER_MAIN_PASSED_SOCKETS_H_
#define STOKER_SERVER_MAIN_PASSED_SOCKETS_H_

#include <vector>

#include "server/main/listening_socket.h"

namespace stoker {

// The first descriptor that a service manager passes.
inline constexpr int kFirstPassed = 3;

// Takes the sockets over that systemd, or whatever else sets LISTEN_PID and LISTEN_FDS, listens on for this process, by
// the protocol that sd_listen_fds(3) documents; none where nobody does. They lie from the descriptor `first` on. What
// they are is not looked at: ListeningSockets::TakeOver does that. The variables are removed, so a second call returns
// none, and children take nothing for theirs. For the main thread, since it changes the environment.
std::vector<OwnedFd> PassedSockets(int first = kFirstPassed);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_PASSED_SOCKETS_H_
