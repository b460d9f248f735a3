#ifndef STOKER_SERVER_DECODE_LIMITS_H_
#define STOKER_SERVER_DECODE_LIMITS_H_

#include "absl/status/status.h"
#include "server/decode/image.h"
#include "server/decode/options.h"

namespace stoker {

// The longest side of an image, in pixels. JPEG and WebP cannot reach it, and a PNG that exceeds it is no photograph.
// Beyond it the sums of a resize would not fit into 32 bits.
inline constexpr int64_t kMaxSide = int64_t{1} << 20;

// Returns DataLoss if an image of `size` has a side above kMaxSide or more pixels than `options` allow.
absl::Status CheckSize(ImageSize size, const DecodeOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_LIMITS_H_
