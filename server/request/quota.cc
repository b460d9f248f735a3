#include "server/request/quota.h"

#include "absl/strings/str_cat.h"
#include "common/config/byte_size.h"
#include "server/request/identity.h"

namespace stoker {

absl::StatusOr<Quotas> Quotas::Parse(const v1::AccessConfig& config) {
  Quotas quotas;
  for (const auto& [identity, written] : config.quotas()) {
    const auto bad = [&identity = identity](const std::string& key, absl::string_view what) {
      return absl::InvalidArgumentError(absl::StrCat("access.quotas[", identity, "]", key, ": ", what));
    };
    if (const auto valid = ValidateIdentity(identity); !valid.ok()) return bad("", valid.message());
    Quota quota{.streams = written.streams(), .worker_percent = written.worker_percent()};
    if (!written.bytes_in_flight().empty()) {
      const auto bytes = ParseByteSize(written.bytes_in_flight());
      if (!bytes.ok()) return bad(".bytes_in_flight", bytes.status().message());
      quota.bytes_in_flight = *bytes;
    }
    if (quota.worker_percent > 100) return bad(".worker_percent", "more than 100");
    quotas.quotas_.emplace(identity, quota);
  }
  return quotas;
}

Quota Quotas::Of(const std::string& identity) const {
  for (const std::string& name : {identity, std::string("*")})
    if (const auto found = quotas_.find(name); found != quotas_.end()) return found->second;
  return {};
}

}  // namespace stoker
