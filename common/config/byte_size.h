#ifndef STOKER_COMMON_CONFIG_BYTE_SIZE_H_
#define STOKER_COMMON_CONFIG_BYTE_SIZE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace stoker {

// Returns the number of bytes that a text such as "8GiB", "1.5 GB" or "4096" means. The number may have up to six
// decimals. The unit is B or nothing, KiB, MiB, GiB, TiB (powers of 1024), or KB, MB, GB, TB (powers of 1000), in upper
// or lower case. Fractions of a byte are dropped. InvalidArgument, with an example, for any other text, and for 2^64
// bytes and more.
absl::StatusOr<uint64_t> ParseByteSize(const std::string& text);

// Writes `bytes` for people, in the largest binary unit that it reaches, rounded down to a tenth: "8GiB", "36.7MiB".
// ParseByteSize reads it back as `bytes` or a little less.
std::string FormatByteSize(uint64_t bytes);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_BYTE_SIZE_H_
