// Fuzzes TFRecord files: the walk over records, another tool's index, and Examples. The first byte says which; Examples
// come also framed, since no mutation finds a checksum. What is found lies in the file, and no values are more than
// there are bytes for.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "server/read/formats/tfrecord/example.h"
#include "server/read/formats/tfrecord/foreign_index.h"
#include "server/read/formats/tfrecord/record.h"
#include "server/read/formats/tfrecord/tfrecord.h"
#include "tests/fuzz/memory_store.h"

namespace stoker {
namespace {

using Bytes = std::span<const uint8_t>;

void CheckRows(const ShardIndex::Rows& rows, uint64_t shard_bytes) {
  uint64_t end = 0;
  for (const StoredRange& range : rows.ranges) {
    if (range.offset != end || range.size < kRecordFramingBytes) std::abort();
    end += range.size;
  }
  if (end > shard_bytes) std::abort();
}

// Puts the bytes into a frame, whose length is right.
std::vector<uint8_t> Framed(Bytes data) {
  std::vector<uint8_t> record(data.size() + kRecordFramingBytes);
  const uint64_t length = data.size();
  std::memcpy(record.data(), &length, sizeof length);
  const uint32_t length_crc = MaskedCrc32c(Bytes(record).first(8)), crc = MaskedCrc32c(data);
  std::memcpy(record.data() + 8, &length_crc, sizeof length_crc);
  if (!data.empty()) std::memcpy(record.data() + kRecordHeaderBytes, data.data(), data.size());
  std::memcpy(record.data() + kRecordHeaderBytes + data.size(), &crc, sizeof crc);
  return record;
}

void FuzzWalk(Bytes shard, bool remote) {
  MemoryStore store({{"a.tfrecord", {shard.begin(), shard.end()}}}, remote);
  ShardIndex::Rows rows(0);
  const bool walked = WalkRecords(store, store.Object("a.tfrecord"), rows).ok();
  CheckRows(rows, shard.size());
  if (!walked) return;
  for (const StoredRange& range : rows.ranges) (void)ParseRecord(shard.subspan(range.offset, range.size));
}

void FuzzIndex(Bytes text) {
  constexpr uint64_t kShardBytes = 1000;
  ShardIndex::Rows rows(0);
  const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
  (void)ParseForeignIndex(view, kShardBytes, rows);
  CheckRows(rows, kShardBytes);
}

void FuzzExample(Bytes example) {
  std::vector<uint8_t> elements;
  (void)VisitFeatures(example, [&](const Feature& feature) {
    const auto count = CountValues(feature);
    if (!count.ok()) return absl::OkStatus();
    if (*count > example.size()) std::abort();
    const bool ints = feature.kind == Feature::Kind::kInts, floats = feature.kind == Feature::Kind::kFloats;
    if (ints && (!IntValues(feature, *count, elements).ok() || elements.size() != *count * 8)) std::abort();
    if (floats && (!FloatValues(feature, *count, elements).ok() || elements.size() != *count * 4)) std::abort();
    return absl::OkStatus();
  });
  const std::vector<uint8_t> record = Framed(example);
  MemoryStore store({{"a.tfrecord", record}}, false);
  const auto format = TfRecord::Create({}, store, {store.Object("a.tfrecord")}, {.all_found = true});
  if (!format.ok()) return;
  // What the first record taught must hold for it.
  SampleBytes sample;
  sample.fields.resize((*format)->schema().size());
  if (!(*format)->Parse(record, {}, sample).ok()) std::abort();
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const stoker::Bytes bytes(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
    case 1: stoker::FuzzWalk(bytes, data[0] % 4 == 1); break;
    case 2: stoker::FuzzIndex(bytes); break;
    default: stoker::FuzzExample(bytes); break;
  }
  return 0;
}
