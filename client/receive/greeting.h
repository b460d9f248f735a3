#ifndef STOKER_CLIENT_RECEIVE_GREETING_H_
#define STOKER_CLIENT_RECEIVE_GREETING_H_

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "client/receive/obstacle.h"
#include "client/receive/security.h"

namespace stoker {

// Opens a new connection to the server in question: a socket that does not block, which the caller closes, or -1.
using OpenSocket = std::function<int()>;

// What keeps a server that accepts connections from speaking with this client: finds out by itself, up to the server's
// first bytes of HTTP/2, whether both mean TLS, and what is wrong with which certificate. gRPC says that in words of
// its own, or not at all. An obstacle that is found is certain and stays until somebody does something; none is found
// where the server says nothing by `deadline`, a time of SteadyNow().
//
// `name` is what the server's certificate has to be for: a host name or an address.
Obstacle FindGreetingObstacle(const OpenSocket& open, const Security::Tls& tls, bool uses_tls, const std::string& name,
                              absl::Time deadline);

}  // namespace stoker

#endif  // STOKER_CLIENT_RECEIVE_GREETING_H_
