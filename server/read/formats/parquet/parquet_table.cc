#include "server/read/formats/parquet/parquet_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/binary.h"
#include "server/read/formats/parquet/parquet_reader.h"
#include "server/read/index/sealed_file.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr char kSource[] = "parquet";

constexpr uint64_t kMostDimensions = 64;

// The bits of a column's facts.
enum : uint8_t { kIsKnown = 1, kHasValue = 2, kIsImage = 4, kHasOtherShape = 8 };

void PutFacts(const ParquetColumnFacts& facts, BinaryWriter& writer) {
  writer.Put(static_cast<uint8_t>((facts.is_known ? kIsKnown : 0) | (facts.has_value ? kHasValue : 0) |
                                  (facts.is_image ? kIsImage : 0) | (facts.has_other_shape ? kHasOtherShape : 0)));
  writer.Put<uint64_t>(facts.shape.size());
  writer.PutArray(facts.shape);
}

// False where a shape cannot be one.
bool GetFacts(BinaryReader& reader, ParquetColumnFacts& facts) {
  const auto bits = reader.Get<uint8_t>();
  facts.is_known = (bits & kIsKnown) != 0;
  facts.has_value = (bits & kHasValue) != 0;
  facts.is_image = (bits & kIsImage) != 0;
  facts.has_other_shape = (bits & kHasOtherShape) != 0;
  facts.shape = reader.GetArray<int64_t>(reader.GetCount(sizeof(int64_t)));
  return facts.shape.size() <= kMostDimensions &&
         std::all_of(facts.shape.begin(), facts.shape.end(), [](int64_t extent) { return extent > 0; });
}

std::vector<ObjectInfo> ObjectsOf(const ParquetTable& table) {
  std::vector<ObjectInfo> objects;
  for (const ParquetTable::Shard& shard : table.shards) objects.push_back(shard.object);
  return objects;
}

// Returns the name of the first shard that has rows.
std::string NameOfFirstWithRows(const ParquetTable& table) {
  for (const auto& [object, footer] : table.shards)
    for (const ParquetRowGroup& group : footer.row_groups)
      if (group.rows > 0) return object.name;
  return "";
}

}  // namespace

std::string SerializeTable(const ParquetTable& table) {
  BinaryWriter writer;
  writer.Put<uint64_t>(table.shards.size());
  for (const auto& [object, footer] : table.shards) {
    writer.PutBytes(object.name);
    writer.Put<uint64_t>(object.size);
    writer.PutBytes(object.version);
    writer.PutBytes(SerializeFooter(footer));
  }
  writer.Put<uint64_t>(table.facts.size());
  for (const ParquetColumnFacts& facts : table.facts) PutFacts(facts, writer);
  return std::move(writer.bytes);
}

absl::StatusOr<ParquetTable> ParseTable(std::string_view bytes) {
  BinaryReader reader(bytes);
  ParquetTable table;
  const uint64_t shards = reader.GetCount(4 * sizeof(uint64_t));
  for (uint64_t i = 0; i < shards; ++i) {
    auto& [object, footer] = table.shards.emplace_back();
    object.name = reader.GetBytes();
    object.size = reader.Get<uint64_t>();
    object.version = reader.GetBytes();
    if (!ParseFooter(reader.GetBytes(), footer)) return DamagedIndex("a footer cannot be");
    STOKER_RETURN_IF_ERROR(CheckPlaces(footer, object));
  }
  const uint64_t columns = reader.GetCount(1 + sizeof(uint64_t));
  for (uint64_t i = 0; i < columns; ++i)
    if (!GetFacts(reader, table.facts.emplace_back())) return DamagedIndex("a column's shape cannot be");
  if (!reader.done()) return DamagedIndex("its parts do not fit each other");
  for (size_t i = 1; i < table.shards.size(); ++i)
    if (table.shards[i].object.name <= table.shards[i - 1].object.name)
      return DamagedIndex("its shards are in no order");
  return table;
}

absl::Status KeepShards(const std::vector<ObjectInfo>& objects, const IndexPlace& place, ParquetTable& table) {
  const std::string first = NameOfFirstWithRows(table);
  std::vector<ParquetTable::Shard> kept;
  for (const ObjectInfo& object : objects) {
    const auto shard =
        std::lower_bound(table.shards.begin(), table.shards.end(), object.name,
                         [](const auto& one, const std::string& name) { return one.object.name < name; });
    if (shard == table.shards.end() || shard->object.name != object.name)
      return NamedError(object.name, absl::FailedPreconditionError("is not in it"));
    STOKER_RETURN_IF_ERROR(CheckUnchanged(shard->object, object, place));
    kept.push_back({object, std::move(shard->footer)});
  }
  table.shards = std::move(kept);
  if (NameOfFirstWithRows(table) != first) table.facts.clear();  // Another first row group may show something else.
  return absl::OkStatus();
}

std::string TablePath(const std::string& cache_dir, const std::string& store, const std::vector<ObjectInfo>& objects) {
  Fingerprint name("stoker.parquet_file.v1");
  const auto add_text = [&](std::string_view text) {
    name.AddNumber(text.size());
    name.AddBytes(text);
  };
  add_text(store);
  for (const ObjectInfo& object : objects) add_text(object.name);
  return absl::StrCat(cache_dir, "/parquet-", absl::BytesToHexString(name.Finish().substr(0, 16)), ".index");
}

absl::StatusOr<ParquetTable> LoadTable(const std::string& path, const std::string& store,
                                       const std::vector<ObjectInfo>& objects) {
  STOKER_ASSIGN_OR_RETURN(const PublishedIndex kept, LoadPublished(path));
  if (kept.source != kSource || kept.store != store || kept.names.size() != objects.size())
    return absl::FailedPreconditionError("it is of another source");
  STOKER_ASSIGN_OR_RETURN(ParquetTable table, ParseTable(kept.body));
  STOKER_RETURN_IF_ERROR(KeepShards(objects, {.is_same_store = true}, table));
  return table;
}

absl::Status StoreTable(const std::string& path, const std::string& store, const ParquetTable& table) {
  PublishedIndex kept{.source = kSource, .store = store, .body = SerializeTable(table)};
  for (const ObjectInfo& object : ObjectsOf(table)) kept.names.push_back(object.name);
  return WriteSealed(path, SerializePublished(kept));
}

}  // namespace stoker
