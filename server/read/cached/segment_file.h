#ifndef STOKER_SERVER_READ_CACHED_SEGMENT_FILE_H_
#define STOKER_SERVER_READ_CACHED_SEGMENT_FILE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/read/cached/segment.h"
#include "server/read/stores/local/file.h"

namespace stoker {

// Segments as files (see segment.h), by system calls. All functions are thread-safe.

// Return the names of a segment and of its table: "0000002a.segment".
std::string SegmentName(uint32_t number);
std::string TableName(uint32_t number);

// Returns what a segment of `segment_bytes` bytes takes on the disk, with its table of `records` records.
uint64_t CostOf(uint64_t records, uint64_t segment_bytes);

// Whether an open file is still in a folder.
bool IsLinked(int file);

// Writes all of `header` and `sample` from `offset` on.
absl::Status WriteRecord(int file, const RecordHeader& header, std::span<const uint8_t> sample, uint64_t offset);

// Reads from `offset` on until `into` is full or the file ends, and returns how many bytes.
uint64_t ReadAt(int file, std::span<uint8_t> into, uint64_t offset);

// Returns what the table of a segment of `segment_bytes` bytes has; none where there is none that fits.
std::optional<std::vector<RecordPlace>> ReadTable(const Descriptor& folder, const std::string& name,
                                                  uint64_t segment_bytes);

// Fills `header` and `sample` from `offset` on. False where there are fewer bytes, or the disk fails.
bool ReadRecord(int file, RecordHeader& header, std::span<uint8_t> sample, uint64_t offset);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CACHED_SEGMENT_FILE_H_
