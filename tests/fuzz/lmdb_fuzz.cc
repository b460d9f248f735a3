// Fuzzes LMDB data files: u8 what, then
//   0  a data file, whose samples must lie in it
//   1  a data file whose pages of 256 bytes follow a header that fits them, so that damage is not found there already
//   2  a value, of the layout that u8 says

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "server/read/formats/lmdb/layout.h"
#include "server/read/formats/lmdb/lmdb.h"
#include "server/read/formats/lmdb/tree.h"
#include "tests/fuzz/memory_store.h"

namespace stoker {
namespace {

using Bytes = std::span<const uint8_t>;

void FuzzFile(std::vector<uint8_t> bytes) {
  const MemoryStore::Objects objects = {{"data.mdb", bytes}};
  MemoryStore store(objects, false);
  const ObjectInfo object = store.Object("data.mdb");
  for (const char* database : {"", "n"}) {
    const auto tree = LmdbTree::Open(store, object, database);
    if (!tree.ok()) continue;
    uint64_t key_bytes = 0;
    (void)tree->Walk([&](const LmdbTree::Entry& entry) {
      if (entry.key.empty() || entry.offset > object.size || entry.size > object.size - entry.offset) std::abort();
      if ((key_bytes += entry.key.size()) > object.size) std::abort();
      return true;
    });
  }
  v1::Lmdb config;
  config.set_layout("image");
  const auto format = Lmdb::Create(config, store, {object});
  if (!format.ok()) return;
  const auto rows = (*format)->Index(store, object);
  if (!rows.ok()) return;
  ShardIndex index;
  index.Append(object, *rows);
  if (!index.IsConsistent()) std::abort();
}

template <typename Number>
void Put(std::vector<uint8_t>& bytes, size_t offset, Number number) {
  std::memcpy(bytes.data() + offset, &number, sizeof number);
}

// Puts a header before pages: a tree of `depth` levels whose root is page 2.
void FuzzPages(uint8_t depth, Bytes pages) {
  constexpr size_t kPage = kLeastLmdbPageBytes;
  std::vector<uint8_t> bytes(2 * kPage);
  bytes.insert(bytes.end(), pages.begin(), pages.end());
  bytes.resize((bytes.size() + kPage - 1) / kPage * kPage);
  const uint64_t count = bytes.size() / kPage;
  Put<uint16_t>(bytes, 10, 8);
  Put<uint32_t>(bytes, 16, 0xbeefc0de);
  Put<uint32_t>(bytes, 20, 1);
  Put<uint32_t>(bytes, 40, kPage);
  Put<uint16_t>(bytes, 94, 1 + depth % 32);
  Put<uint64_t>(bytes, 128, 2);
  Put<uint64_t>(bytes, 136, count);
  // Each page has its own number, and kinds that a tree has.
  for (uint64_t page = 2; page < count; ++page) {
    Put<uint64_t>(bytes, page * kPage, page);
    Put<uint16_t>(bytes, page * kPage + 10, 1 + (bytes[page * kPage + 10] & 1));
  }
  FuzzFile(std::move(bytes));
}

void FuzzValue(uint8_t which, Bytes value) {
  const auto layout = static_cast<LmdbLayout>(which % 5);
  const auto parsed = ParseLmdbValue(layout, value);
  if (!parsed.ok()) return;
  if (parsed->image.size() > value.size()) std::abort();
  std::vector<uint8_t> field;
  for (const StoredColumn& column : ColumnsOf(*parsed)) {
    if (!TakeLmdbPart(*parsed, column.from, *column.field, field).ok()) std::abort();
    const bool is_dense = column.field->kind == SourceField::Kind::kDense;
    if (is_dense && field.size() != DenseBytes(*column.field)) std::abort();
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const stoker::Bytes bytes(data + 2, size - 2);
  switch (data[0] % 3) {
    case 0: stoker::FuzzFile({data + 1, data + size}); break;
    case 1: stoker::FuzzPages(data[1], bytes); break;
    default: stoker::FuzzValue(data[1], bytes); break;
  }
  return 0;
}
