#include "server/request/rights.h"

#include "absl/strings/str_cat.h"

namespace stoker {

bool Rights::MayRead(const std::string& identity, const std::string& dataset) const {
  const auto found = allowed_.find(dataset);
  return found != allowed_.end() && (found->second.empty() || found->second.contains(identity));
}

absl::Status Rights::Check(const std::string& identity, const std::string& dataset) const {
  if (MayRead(identity, dataset)) return absl::OkStatus();
  std::string readable;
  for (const auto& [name, identities] : allowed_)
    if (MayRead(identity, name)) absl::StrAppend(&readable, readable.empty() ? "" : ", ", name);
  return absl::NotFoundError(
      absl::StrCat("no dataset '", dataset, "' is configured here; there are: ", readable.empty() ? "none" : readable));
}

}  // namespace stoker
