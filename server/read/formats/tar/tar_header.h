#ifndef STOKER_SERVER_READ_FORMATS_TAR_TAR_HEADER_H_
#define STOKER_SERVER_READ_FORMATS_TAR_TAR_HEADER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stoker {

// Tar archives consist of blocks of 512 bytes: a header, then its data, filled up to whole blocks; at the end a block
// of zeros. The layouts are those of POSIX (ustar and pax) and of GNU tar. All functions are pure, any bytes are safe.
inline constexpr uint64_t kTarBlock = 512;

// What a header block says. A plain value.
struct TarHeader {
  char type = '0';      // the header's flag: '0' a file, '5' a folder, 'x' and 'L' say more of the next header, …
  std::string name;     // without NUL
  uint64_t size = 0;    // bytes of data that follow
  bool is_end = false;  // a block of zeros: nothing follows, and all else here means nothing
};

// What pax records say of the member whose header comes next.
struct PaxRecords {
  std::optional<std::string> path;
  std::optional<uint64_t> size;
  bool is_sparse = false;  // the data is a map of holes and what is between them
};

// Parses a header block. DataLoss where its checksum is wrong, or a number is none or above 2^63 − 1.
absl::StatusOr<TarHeader> ParseTarHeader(std::span<const uint8_t, kTarBlock> block);

// Parses the data of a header of type 'x'. DataLoss where it is malformed, or the path has a NUL.
absl::StatusOr<PaxRecords> ParsePaxRecords(std::string_view data);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TAR_TAR_HEADER_H_
