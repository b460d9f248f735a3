#ifndef STOKER_COMMON_IDENTITY_MIXED_PARTS_H_
#define STOKER_COMMON_IDENTITY_MIXED_PARTS_H_

#include <cstdint>

namespace stoker {

// Bounds of a dataset that is mixed of others. Servers refuse a configuration beyond them, and clients an answer.
inline constexpr int kMostMixedParts = 1024;
inline constexpr uint64_t kMostMixedWeight = uint64_t{1} << 32;  // the sum of all parts' weights

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_MIXED_PARTS_H_
