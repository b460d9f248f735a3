#include "server/read/cached/segment.h"

#include <algorithm>
#include <cstring>

#include "server/read/binary.h"
#include "xxhash.h"

namespace stoker {
namespace {

constexpr size_t kSizeAt = 32, kChecksumAt = 40, kSampleChecksumAt = 48;
constexpr uint64_t kTableHeaderBytes = 32;

uint64_t NumberAt(const RecordHeader& header, size_t offset) {
  uint64_t number;
  std::memcpy(&number, header.data() + offset, sizeof number);
  return number;
}

XXH128_canonical_t SampleChecksum(std::span<const uint8_t> sample) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(sample.data(), sample.size()));
  return canonical;
}

// Returns the checksum of all of a header but the checksum itself.
uint64_t HeaderChecksum(const RecordHeader& header) {
  std::array<uint8_t, kRecordHeaderSize - sizeof(uint64_t)> checked;
  std::copy_n(header.begin(), kChecksumAt, checked.begin());
  std::copy(header.begin() + kSampleChecksumAt, header.end(), checked.begin() + kChecksumAt);
  return XXH3_64bits(checked.data(), checked.size());
}

}  // namespace

RecordHeader HeaderOf(const SampleKey& key, std::span<const uint8_t> sample) {
  RecordHeader header;
  const uint64_t size = sample.size();
  const XXH128_canonical_t of_sample = SampleChecksum(sample);
  std::memcpy(header.data(), key.data(), key.size());
  std::memcpy(header.data() + kSizeAt, &size, sizeof size);
  std::memcpy(header.data() + kSampleChecksumAt, &of_sample, sizeof of_sample);
  const uint64_t checksum = HeaderChecksum(header);
  std::memcpy(header.data() + kChecksumAt, &checksum, sizeof checksum);
  return header;
}

std::optional<RecordInfo> ParseRecordHeader(const RecordHeader& header) {
  if (NumberAt(header, kChecksumAt) != HeaderChecksum(header)) return std::nullopt;
  return RecordInfo{.short_key = NumberAt(header, 0), .size = NumberAt(header, kSizeAt)};
}

bool IsRecord(const RecordHeader& header, const SampleKey& key, std::span<const uint8_t> sample) {
  if (!std::equal(key.begin(), key.end(), header.begin()) || NumberAt(header, kSizeAt) != sample.size()) return false;
  const XXH128_canonical_t of_sample = SampleChecksum(sample);
  return std::memcmp(header.data() + kSampleChecksumAt, &of_sample, sizeof of_sample) == 0;
}

SegmentContents ScanSegment(uint64_t bytes, const ReadSegment& read) {
  SegmentContents contents;
  std::array<uint8_t, kSegmentMagicBytes> magic;
  if (read(0, magic) != magic.size() || !std::equal(magic.begin(), magic.end(), kSegmentMagic.begin())) return contents;
  contents.end = magic.size();
  for (RecordHeader header; contents.end <= ~uint32_t{} && read(contents.end, header) == header.size();) {
    const auto record = ParseRecordHeader(header);
    const uint64_t sample = contents.end + header.size();
    if (!record.has_value() || sample > bytes || record->size > bytes - sample) break;
    contents.records.push_back({record->short_key, static_cast<uint32_t>(contents.end)});
    contents.end = sample + record->size;
  }
  return contents;
}

std::string SerializeTable(uint64_t segment_bytes, const std::vector<RecordPlace>& records) {
  BinaryWriter writer;
  writer.bytes.reserve(kTableHeaderBytes + records.size() * kPlaceBytes + sizeof(uint64_t));
  writer.bytes += kTableMagic;
  writer.Put<uint64_t>(segment_bytes);
  writer.Put<uint64_t>(records.size());
  for (const RecordPlace& record : records) {
    writer.Put<uint64_t>(record.short_key);
    writer.Put<uint32_t>(record.offset);
  }
  writer.Put<uint64_t>(XXH3_64bits(writer.bytes.data(), writer.bytes.size()));
  return std::move(writer.bytes);
}

std::optional<std::vector<RecordPlace>> ParseTable(std::string_view table, uint64_t segment_bytes) {
  if (table.size() < kTableHeaderBytes + sizeof(uint64_t) || table.substr(0, kTableMagic.size()) != kTableMagic)
    return std::nullopt;
  const std::string_view checked = table.substr(0, table.size() - sizeof(uint64_t));
  if (BinaryReader(table.substr(checked.size())).Get<uint64_t>() != XXH3_64bits(checked.data(), checked.size()))
    return std::nullopt;
  BinaryReader reader(checked.substr(kTableMagic.size()));
  if (reader.Get<uint64_t>() != segment_bytes) return std::nullopt;
  std::vector<RecordPlace> records(reader.GetCount(kPlaceBytes));
  uint64_t end = kSegmentMagicBytes;
  for (RecordPlace& record : records) {
    record.short_key = reader.Get<uint64_t>();
    record.offset = reader.Get<uint32_t>();
    if (record.offset < end || record.offset + kRecordHeaderSize > segment_bytes) return std::nullopt;
    end = record.offset + kRecordHeaderSize;
  }
  if (!reader.done()) return std::nullopt;
  return records;
}

}  // namespace stoker
