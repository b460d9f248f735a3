#include "common/identity/dataset_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace stoker {

bool IsDatasetName(absl::string_view name) {
  const auto may_be_in_name = [](char c) { return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= kMaxDatasetNameBytes && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), may_be_in_name);
}

}  // namespace stoker
