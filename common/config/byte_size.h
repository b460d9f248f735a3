#ifndef STOKER_COMMON_CONFIG_BYTE_SIZE_H_
#define STOKER_COMMON_CONFIG_BYTE_SIZE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace stoker {

// The bytes that "8GiB", "1.5 GB" or "4096" means: a number of up to six decimals and B, KiB, MiB, GiB, TiB
// (powers of 1024), KB, MB, GB, TB (powers of 1000) or nothing, in any case. Fractions of a byte are dropped.
// InvalidArgument, with an example, for anything else and for 2^64 and more.
absl::StatusOr<uint64_t> ParseByteSize(const std::string& text);

// `bytes` for people, in the largest binary unit that it reaches, rounded down to a tenth: "8GiB", "36.7MiB".
// ParseByteSize reads it back to at most `bytes`.
std::string FormatByteSize(uint64_t bytes);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_BYTE_SIZE_H_
