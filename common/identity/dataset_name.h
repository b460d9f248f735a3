#ifndef STOKER_COMMON_IDENTITY_DATASET_NAME_H_
#define STOKER_COMMON_IDENTITY_DATASET_NAME_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace stoker {

// The names that datasets may have. Pure functions and constants.

// kDatasetNameRule says this number too.
inline constexpr size_t kMaxDatasetNameBytes = 128;

// The rule, for error messages.
inline constexpr absl::string_view kDatasetNameRule =
    "1 to 128 letters, digits, '.', '_' and '-' that do not start with a dot";

bool IsDatasetName(absl::string_view name);

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_DATASET_NAME_H_
