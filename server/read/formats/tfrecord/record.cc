#include "server/read/formats/tfrecord/record.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/fields/schema.h"
#include "common/status_macros.h"
#include "server/read/formats/tfrecord/crc32c.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

template <typename Number>
Number NumberAt(std::span<const uint8_t> bytes, size_t place) {
  Number number;
  std::memcpy(&number, bytes.data() + place, sizeof number);
  return number;
}

// The part of a shard that was read last.
class Window {
 public:
  Window(Store& store, const ObjectInfo& shard)
      : store_(store), shard_(shard), most_(store.is_remote() ? uint64_t{4} << 20 : uint64_t{64} << 10) {}

  // Returns the header at `offset`. The record before it had `record_bytes`. Requires that the shard has a header
  // there.
  absl::StatusOr<std::span<const uint8_t>> HeaderAt(uint64_t offset, uint64_t record_bytes) {
    if (offset < begin_ || offset + kRecordHeaderBytes > begin_ + bytes_.size()) {
      // A read over large records would be of little but what nobody wants here.
      const uint64_t bytes = record_bytes > most_ / (store_.is_remote() ? 1 : 4) ? kShortBytes : most_;
      bytes_.resize(std::min(bytes, shard_.size - offset));
      begin_ = offset;
      STOKER_RETURN_IF_ERROR(ReadNow(store_, {&shard_, offset, bytes_}));
    }
    return std::span<const uint8_t>(bytes_).subspan(offset - begin_, kRecordHeaderBytes);
  }

 private:
  static constexpr uint64_t kShortBytes = 512;

  Store& store_;
  const ObjectInfo& shard_;
  const uint64_t most_;  // bytes at a time
  uint64_t begin_ = 0;
  std::vector<uint8_t> bytes_;
};

// Says what a shard is that does not begin with a record.
std::string WordsOfBeginning(std::span<const uint8_t> begin) {
  if (begin[0] == 0x1f && begin[1] == 0x8b)
    return "is compressed by gzip, of which no single record can be read: decompress it (gunzip)";
  if (begin[0] == 0x78 && (begin[0] << 8 | begin[1]) % 31 == 0)
    return "is compressed by zlib, of which no single record can be read: write it without compression";
  return "does not begin as a TFRecord file";
}

}  // namespace

uint32_t MaskedCrc32c(std::span<const uint8_t> bytes) {
  const uint32_t crc = Crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

absl::StatusOr<uint64_t> ParseRecordHeader(std::span<const uint8_t> header) {
  if (MaskedCrc32c(header.first(8)) != NumberAt<uint32_t>(header, 8))
    return absl::DataLossError("the checksum of the record's length is wrong");
  return NumberAt<uint64_t>(header, 0);
}

absl::StatusOr<std::span<const uint8_t>> ParseRecord(std::span<const uint8_t> record) {
  if (record.size() < kRecordFramingBytes) return absl::DataLossError("the record is shorter than its framing");
  STOKER_ASSIGN_OR_RETURN(const uint64_t length, ParseRecordHeader(record.first(kRecordHeaderBytes)));
  if (length != record.size() - kRecordFramingBytes)
    return absl::DataLossError(absl::StrCat("the record tells of ", length, " bytes, where the index has ",
                                            record.size() - kRecordFramingBytes));
  const auto data = record.subspan(kRecordHeaderBytes, length);
  if (MaskedCrc32c(data) != NumberAt<uint32_t>(record, kRecordHeaderBytes + length))
    return absl::DataLossError("the checksum of the record's data is wrong");
  return data;
}

absl::Status WalkRecords(Store& store, const ObjectInfo& shard, ShardIndex::Rows& rows) {
  Window window(store, shard);
  uint64_t offset = 0, record_bytes = 0;
  const auto wrong = [&](const auto&... what) {
    return NamedError(shard.name, absl::DataLossError(absl::StrCat("at byte ", offset, ": ", what...)));
  };
  for (; offset < shard.size; offset += record_bytes) {
    const uint64_t left = shard.size - offset;
    if (left < kRecordFramingBytes) return wrong("the file ends within a record");
    STOKER_ASSIGN_OR_RETURN(const auto header, window.HeaderAt(offset, record_bytes));
    const auto length = ParseRecordHeader(header);
    if (!length.ok() && offset == 0) return NamedError(shard.name, absl::DataLossError(WordsOfBeginning(header)));
    if (!length.ok()) return wrong(length.status().message());
    if (*length > left - kRecordFramingBytes)
      return wrong("the record tells of ", *length, " bytes, where the file has ", left - kRecordFramingBytes, " left");
    if (*length > kMaxSampleBytes) return wrong("the record has ", *length, " bytes, above ", kMaxSampleBytes);
    record_bytes = *length + kRecordFramingBytes;
    rows.Add("", {offset, static_cast<uint32_t>(record_bytes)}, {});
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> BeginsWithRecord(Store& store, const ObjectInfo& object) {
  std::vector<uint8_t> header(kRecordHeaderBytes);
  if (object.size < kRecordFramingBytes) return false;
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&object, 0, header}));
  return ParseRecordHeader(header).ok();
}

}  // namespace stoker
