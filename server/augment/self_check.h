#ifndef STOKER_SERVER_AUGMENT_SELF_CHECK_H_
#define STOKER_SERVER_AUGMENT_SELF_CHECK_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace stoker {

// Returns XXH3-64 over the pixels that this build makes of a small embedded set: JPEG, PNG and WebP files are decoded
// and every op is done to them. A server whose libraries or compiler give other bytes gets another number. The call
// takes about a millisecond. It returns Internal where a library cannot decode the set. Thread-safe.
absl::StatusOr<uint64_t> PixelCheck();

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_SELF_CHECK_H_
