#ifndef STOKER_SERVER_READ_CACHED_SEGMENT_H_
#define STOKER_SERVER_READ_CACHED_SEGMENT_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/read/cached/sample_key.h"

namespace stoker {

// The files of the disk cache. Numbers are little-endian.
//
// A segment has records, one after another, which are only ever appended:
//
//   magic        16 bytes, "STOKER RAW    1\n"
//   records      of each:
//     key        32 bytes
//     size       u64 n
//     checksum   u64, XXH3-64 of the key, the size and the sample's checksum
//     sample's   16 bytes, XXH3-128 of the sample in its canonical form
//     sample     n bytes
//
// The table of a segment tells where its records are, once no more are appended, so that a start need not read them:
//
//   magic        16 bytes, "STOKER TABLE  1\n"
//   segment      u64, bytes of the segment
//   records      u64 N
//   records      N × (u64 ShortKey, u32 offset of the record)
//   checksum     u64, XXH3-64 of all the bytes before
//
// Checksums find damage, not malice: nobody but this server's user may write to the folder. A record is believed where
// its key, size and checksums are right, wherever a table says that it lies. So nothing needs to be synced to the disk,
// and files may be torn at any byte.

inline constexpr uint64_t kSegmentMagicBytes = 16, kRecordHeaderSize = 64;
inline constexpr uint64_t kTableBytes = 40, kPlaceBytes = 12;  // of a table: beside its records, and for each of them
inline constexpr std::string_view kSegmentMagic = "STOKER RAW    1\n", kTableMagic = "STOKER TABLE  1\n";

using RecordHeader = std::array<uint8_t, kRecordHeaderSize>;

// Returns the header of a record.
RecordHeader HeaderOf(const SampleKey& key, std::span<const uint8_t> sample);

// Where a record is, as its segment or the table of it says.
struct RecordPlace {
  uint64_t short_key = 0;
  uint32_t offset = 0;  // of the header in the segment
  bool operator==(const RecordPlace&) const = default;
};

// Returns the bytes of the sample behind `header`, and its ShortKey; none where that is no header.
struct RecordInfo {
  uint64_t short_key = 0;
  uint64_t size = 0;
};
std::optional<RecordInfo> ParseRecordHeader(const RecordHeader& header);

// Whether `header` and `sample` are the record of `key`.
bool IsRecord(const RecordHeader& header, const SampleKey& key, std::span<const uint8_t> sample);

// Reads a segment from an offset on, and returns how many bytes there were: fewer than asked for at its end.
using ReadSegment = std::function<uint64_t(uint64_t offset, std::span<uint8_t> into)>;

// What a segment of `bytes` bytes has, by its headers: samples are not read. It ends before the first record that is
// torn or damaged.
struct SegmentContents {
  std::vector<RecordPlace> records;
  uint64_t end = 0;  // one past the last record; 0 where the magic is another
};
SegmentContents ScanSegment(uint64_t bytes, const ReadSegment& read);

std::string SerializeTable(uint64_t segment_bytes, const std::vector<RecordPlace>& records);

// Returns the records that `table` has of a segment of `segment_bytes` bytes. None where it is damaged, or of another
// segment. Any bytes are safe to parse, and take no more memory than they are.
std::optional<std::vector<RecordPlace>> ParseTable(std::string_view table, uint64_t segment_bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CACHED_SEGMENT_H_
