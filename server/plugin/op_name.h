#ifndef STOKER_SERVER_PLUGIN_OP_NAME_H_
#define STOKER_SERVER_PLUGIN_OP_NAME_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "absl/strings/ascii.h"

namespace stoker {

// A field that an op sees has no more dimensions. It is _MOST_DIMENSIONS of ops.py.
inline constexpr size_t kMostDimensions = 8;

// Returns whether ops and their arguments may be called so.
inline bool IsOpName(std::string_view text) {
  return !text.empty() && absl::ascii_islower(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
}

}  // namespace stoker

#endif  // STOKER_SERVER_PLUGIN_OP_NAME_H_
