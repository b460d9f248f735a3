#ifndef STOKER_SERVER_DECODE_LIMITS_H_
#define STOKER_SERVER_DECODE_LIMITS_H_

#include "absl/status/status.h"
#include "server/decode/image.h"
#include "server/decode/options.h"

namespace stoker {

// Longest side of an image. JPEG and WebP cannot reach it; in a PNG it is no photograph, and the sums of a
// resize would leave 32 bits.
inline constexpr int64_t kMaxSide = int64_t{1} << 20;

// DataLoss if an image of `size` is larger than `options` allow.
absl::Status CheckSize(ImageSize size, const DecodeOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_LIMITS_H_
