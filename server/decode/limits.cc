#include "server/decode/limits.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/decode/flaw.h"

namespace stoker {

absl::Status CheckSize(ImageSize size, const DecodeOptions& options) {
  if (std::max(size.height, size.width) > kMaxSide)
    return FlawError(Flaw::kOverLimits,
                     absl::StrCat("an image of ", size.width, "x", size.height, " pixels has a side above ", kMaxSide));
  if (static_cast<uint64_t>(size.height * size.width) > options.max_pixels)
    return FlawError(Flaw::kOverLimits, absl::StrCat("an image of ", size.width, "x", size.height,
                                                     " pixels is above limits.max_pixels, ", options.max_pixels));
  return absl::OkStatus();
}

}  // namespace stoker
