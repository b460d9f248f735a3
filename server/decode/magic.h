#ifndef STOKER_SERVER_DECODE_MAGIC_H_
#define STOKER_SERVER_DECODE_MAGIC_H_

#include <cstdint>
#include <span>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace stoker {

// Returns a file's bytes as text, in which its format is told by the first ones. The text points into `file`.
inline absl::string_view AsText(std::span<const uint8_t> file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

inline bool IsJpeg(absl::string_view file) { return absl::StartsWith(file, "\xff\xd8\xff"); }

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_MAGIC_H_
