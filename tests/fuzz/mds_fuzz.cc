// Fuzzes MDS datasets: u8 what, then
//   0  an index.json, whose shards must stay below their folder
//   1  a shard of up to 255 samples (u8), read with columns of many encodings; what is found lies in it
//   2  a value, of the encoding that u8 says

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/mds/encoding.h"
#include "server/read/formats/mds/mds.h"
#include "server/read/formats/mds/mds_index.h"
#include "tests/fuzz/memory_store.h"

namespace stoker {
namespace {

using Bytes = std::span<const uint8_t>;

void FuzzIndex(Bytes text) {
  const auto index = ParseMdsIndex({reinterpret_cast<const char*>(text.data()), text.size()});
  if (!index.ok()) return;
  if (index->columns.empty() || index->shards.empty()) std::abort();
  for (const MdsIndex::Shard& shard : index->shards)
    if (shard.name.empty() || absl::StartsWith(shard.name, "/") ||
        absl::StrContains(absl::StrCat("/", shard.name, "/"), "/../"))
      std::abort();
}

void FuzzShard(uint8_t samples, Bytes bytes) {
  MemoryStore store({{"s.mds", {bytes.begin(), bytes.end()}}}, false);
  const auto offsets = ReadMdsOffsets(store, store.Object("s.mds"), samples);
  if (!offsets.ok()) return;
  if (offsets->size() != samples + 1u || offsets->back() != bytes.size()) std::abort();
  const std::vector<MdsColumn> columns = {{"a", "jpeg", 0}, {"b", "int", 8}, {"c", "str", 0}, {"d", "uint8", 1}};
  for (size_t i = 0; i < samples; ++i) {
    const auto values = SplitMdsSample(columns, bytes.subspan((*offsets)[i], (*offsets)[i + 1] - (*offsets)[i]));
    if (values.ok() && (values->size() != 4 || (*values)[1].size() != 8)) std::abort();
  }
}

void FuzzValue(uint8_t which, Bytes value) {
  static const std::vector<std::string> kEncodings = {"jpeg",
                                                      "bytes",
                                                      "pil",
                                                      "int",
                                                      "uint64",
                                                      "int8",
                                                      "ndarray",
                                                      "str_int",
                                                      "str_float",
                                                      "ndarray:uint16",
                                                      "ndarray:float32:3,2",
                                                      "ndarray:uint64:2"};
  const MdsEncoding encoding = ParseMdsEncoding(kEncodings[which % kEncodings.size()]);
  const auto field = FieldOf(encoding, value);
  if (!field.ok()) return;
  std::vector<uint8_t> bytes;
  const bool decoded = DecodeMds(encoding, *field, value, bytes).ok();
  if (decoded && field->kind == SourceField::Kind::kDense && bytes.size() != DenseBytes(*field)) std::abort();
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const stoker::Bytes bytes(data + 2, size - 2);
  switch (data[0] % 3) {
    case 0: stoker::FuzzIndex(stoker::Bytes(data + 1, size - 1)); break;
    case 1: stoker::FuzzShard(data[1], bytes); break;
    default: stoker::FuzzValue(data[1], bytes); break;
  }
  return 0;
}
