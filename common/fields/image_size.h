#ifndef STOKER_COMMON_FIELDS_IMAGE_SIZE_H_
#define STOKER_COMMON_FIELDS_IMAGE_SIZE_H_

#include <cstdint>

namespace stoker {

// Height and width in pixels.
struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

}  // namespace stoker

#endif  // STOKER_COMMON_FIELDS_IMAGE_SIZE_H_
