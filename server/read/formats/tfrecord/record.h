#ifndef STOKER_SERVER_READ_FORMATS_TFRECORD_RECORD_H_
#define STOKER_SERVER_READ_FORMATS_TFRECORD_RECORD_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/index/shard_index.h"
#include "server/read/stores/store.h"

namespace stoker {

// The framing of TFRecord files, which are records one after another:
//
//   length        u64, little-endian, of the data
//   length's crc  u32, masked CRC-32C of the eight bytes before
//   data          `length` bytes
//   data's crc    u32, masked CRC-32C of the data
//
// A checksum c is masked as ((c >> 15) | (c << 17)) + 0xa282ead8, so that files which hold checksums have good ones
// too.
inline constexpr uint64_t kRecordHeaderBytes = 12, kRecordFooterBytes = 4;
inline constexpr uint64_t kRecordFramingBytes = kRecordHeaderBytes + kRecordFooterBytes;

// Returns the masked CRC-32C of `bytes`.
uint32_t MaskedCrc32c(std::span<const uint8_t> bytes);

// Returns the length that a record's header tells. DataLoss where its checksum is wrong. Requires kRecordHeaderBytes.
absl::StatusOr<uint64_t> ParseRecordHeader(std::span<const uint8_t> header);

// Returns the data of a whole record, which lies in `record`. DataLoss where its length or a checksum is wrong.
absl::StatusOr<std::span<const uint8_t>> ParseRecord(std::span<const uint8_t> record);

// Finds the records of `shard` by their headers, and adds the whole of each. DataLoss names the shard and the offset.
// Where records are small it reads all of the shard: 64 KiB at a time, or 4 MiB from a remote store.
absl::Status WalkRecords(Store& store, const ObjectInfo& shard, ShardIndex::Rows& rows);

// Returns whether `object` begins with the header of a record.
absl::StatusOr<bool> BeginsWithRecord(Store& store, const ObjectInfo& object);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TFRECORD_RECORD_H_
