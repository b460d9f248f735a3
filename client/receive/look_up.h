#ifndef STOKER_CLIENT_RECEIVE_LOOK_UP_H_
#define STOKER_CLIENT_RECEIVE_LOOK_UP_H_

#include <netdb.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stoker {

using HostAddresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// The addresses of `host`, a name or a number without brackets, for TCP. At least one. Blocks for as long as the
// system's resolver takes, which may be seconds. NotFound, "name not found", where the resolver knows that there is no
// such name; Unavailable where it cannot tell now.
absl::StatusOr<HostAddresses> LookUp(const std::string& host, const std::string& port);

// What the code of getaddrinfo, which is not 0, stands for.
absl::Status LookUpError(int code);

}  // namespace stoker

#endif  // STOKER_CLIENT_RECEIVE_LOOK_UP_H_
