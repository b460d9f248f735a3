#ifndef STOKER_SERVER_DECODE_MAGIC_H_
#define STOKER_SERVER_DECODE_MAGIC_H_

#include <cstdint>
#include <span>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace stoker {

// A file's bytes as text, for telling its format by the first ones.
inline absl::string_view AsText(std::span<const uint8_t> file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

inline bool IsJpeg(absl::string_view file) { return absl::StartsWith(file, "\xff\xd8\xff"); }

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_MAGIC_H_
