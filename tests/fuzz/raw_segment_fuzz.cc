// Fuzzes the files of the disk cache: segments and their tables. The first byte says which. Bytes become a segment also
// with right checksums, since no mutation finds one. What is found lies in the file, and no sample passes for another.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "server/read/cached/segment.h"

namespace stoker {
namespace {

using Bytes = std::span<const uint8_t>;

SegmentContents Scan(Bytes segment) {
  return ScanSegment(segment.size(), [&](uint64_t offset, std::span<uint8_t> into) -> uint64_t {
    if (offset >= segment.size()) return 0;
    const uint64_t count = std::min<uint64_t>(into.size(), segment.size() - offset);
    std::copy_n(segment.begin() + static_cast<ptrdiff_t>(offset), count, into.begin());
    return count;
  });
}

void CheckPlaces(const std::vector<RecordPlace>& records, uint64_t segment_bytes) {
  uint64_t end = kSegmentMagicBytes;
  for (const RecordPlace& record : records) {
    if (record.offset < end || record.offset + kRecordHeaderSize > segment_bytes) std::abort();
    end = record.offset + kRecordHeaderSize;
  }
}

void FuzzSegment(Bytes segment) {
  const SegmentContents contents = Scan(segment);
  if (contents.end > segment.size()) std::abort();
  CheckPlaces(contents.records, segment.size());
  const auto parsed = ParseTable(SerializeTable(segment.size(), contents.records), segment.size());
  if (!parsed.has_value() || *parsed != contents.records) std::abort();
}

void FuzzTable(Bytes table) {
  constexpr uint64_t kBytes = 100000;
  const auto records = ParseTable({reinterpret_cast<const char*>(table.data()), table.size()}, kBytes);
  if (records.has_value()) CheckPlaces(*records, kBytes);
}

// Makes samples of the bytes: each of as many as the byte before it says. Then a byte of the segment changes.
void FuzzSamples(Bytes bytes) {
  if (bytes.size() < 4) return;
  const uint64_t at = bytes[0] | bytes[1] << 8, change = bytes[2];
  bytes = bytes.subspan(3);
  std::vector<uint8_t> segment(kSegmentMagic.begin(), kSegmentMagic.end());
  std::vector<std::pair<SampleKey, std::vector<uint8_t>>> samples;
  while (!bytes.empty()) {
    const uint64_t size = std::min<uint64_t>(bytes[0], bytes.size() - 1);
    const Bytes sample = bytes.subspan(1, size);
    SampleKey key = {};
    const auto number = static_cast<uint32_t>(samples.size());
    std::memcpy(key.data(), &number, sizeof number);
    const RecordHeader header = HeaderOf(key, sample);
    segment.insert(segment.end(), header.begin(), header.end());
    segment.insert(segment.end(), sample.begin(), sample.end());
    samples.emplace_back(key, std::vector<uint8_t>(sample.begin(), sample.end()));
    bytes = bytes.subspan(1 + size);
  }
  if (Scan(segment).records.size() != samples.size()) std::abort();
  segment[at % segment.size()] ^= change;
  for (const RecordPlace& record : Scan(segment).records) {
    RecordHeader header;
    std::memcpy(header.data(), segment.data() + record.offset, header.size());
    const auto info = ParseRecordHeader(header);
    if (!info.has_value()) std::abort();
    const Bytes found = Bytes(segment).subspan(record.offset + header.size(), info->size);
    for (const auto& [key, sample] : samples)
      if (IsRecord(header, key, found) && !std::equal(found.begin(), found.end(), sample.begin(), sample.end()))
        std::abort();
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const stoker::Bytes bytes(data + 1, size - 1);
  switch (data[0] % 3) {
    case 0: stoker::FuzzSegment(bytes); break;
    case 1: stoker::FuzzTable(bytes); break;
    default: stoker::FuzzSamples(bytes); break;
  }
  return 0;
}
