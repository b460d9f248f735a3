#ifndef STOKER_SERVER_REQUEST_QUOTA_H_
#define STOKER_SERVER_REQUEST_QUOTA_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// What one identity may take on a server. 0: without bound. A plain value.
struct Quota {
  uint32_t streams = 0;          // that are open at once
  uint64_t bytes_in_flight = 0;  // of spans in the making, or made and not yet sent
  uint32_t worker_percent = 0;   // of the workers' time while others want it too
};

// The quotas of identities, by name. Immutable, hence thread-safe.
class Quotas {
 public:
  Quotas() = default;

  // InvalidArgument names the key, "access.quotas[team-a].bytes_in_flight: …".
  static absl::StatusOr<Quotas> Parse(const v1::AccessConfig& config);

  // The identity's own, else that of "*", else no bounds. A client without a proof has the identity "".
  Quota Of(const std::string& identity) const;

 private:
  std::map<std::string, Quota> quotas_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_REQUEST_QUOTA_H_
