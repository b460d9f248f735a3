#ifndef STOKER_SERVER_REQUEST_RIGHTS_H_
#define STOKER_SERVER_REQUEST_RIGHTS_H_

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace stoker {

// Who may read which dataset. Immutable, hence thread-safe.
class Rights {
 public:
  // The identities that may read a dataset. An empty set: everybody may.
  using Allowed = std::map<std::string, std::set<std::string>>;  // by the dataset's name

  explicit Rights(Allowed allowed) : allowed_(std::move(allowed)) {}

  // False for a dataset that does not exist. A client without a proof has the identity "".
  bool MayRead(const std::string& identity, const std::string& dataset) const;

  // OK if `identity` may read `dataset`. NotFound is the same, to the byte, whether the dataset does not exist or is
  // not for this identity. It names the datasets that are.
  absl::Status Check(const std::string& identity, const std::string& dataset) const;

 private:
  const Allowed allowed_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_REQUEST_RIGHTS_H_
