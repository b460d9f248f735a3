#include "client/receive/look_up.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace stoker {

absl::Status LookUpError(int code) {
  switch (code) {
    case EAI_NONAME:
#ifdef EAI_NODATA
    case EAI_NODATA:  // There is such a name, but it has no addresses.
#endif
#ifdef EAI_ADDRFAMILY
    case EAI_ADDRFAMILY:
#endif
      return absl::NotFoundError("name not found");
    default:
      return absl::UnavailableError(absl::StrCat("the name cannot be looked up now (",
                                                 code == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(code), ")"));
  }
}

absl::StatusOr<HostAddresses> LookUp(const std::string& host, const std::string& port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  HostAddresses owner(found, freeaddrinfo);
  if (code != 0) return LookUpError(code);
  return owner;
}

}  // namespace stoker
