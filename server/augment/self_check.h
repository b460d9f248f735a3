#ifndef STOKER_SERVER_AUGMENT_SELF_CHECK_H_
#define STOKER_SERVER_AUGMENT_SELF_CHECK_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace stoker {

// XXH3-64 over the pixels that this build makes of a small embedded set: JPEG, PNG and WebP files decoded,
// and every op done to them. Servers whose libraries or compilers give other bytes have another number.
// Takes about a millisecond. Internal where a library cannot decode the set.
absl::StatusOr<uint64_t> PixelCheck();

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_SELF_CHECK_H_
