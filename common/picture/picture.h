#ifndef STOKER_COMMON_PICTURE_PICTURE_H_
#define STOKER_COMMON_PICTURE_PICTURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// A picture of height × width pixels, of three bytes each: red, green, blue.
struct Picture {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> pixels;
};

// Returns the picture as a PNG file, by libspng. ResourceExhausted where memory runs out.
absl::StatusOr<std::string> EncodePng(const Picture& picture);

}  // namespace stoker

#endif  // STOKER_COMMON_PICTURE_PICTURE_H_
