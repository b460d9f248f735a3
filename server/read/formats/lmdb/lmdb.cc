#include "server/read/formats/lmdb/lmdb.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "server/read/formats/lmdb/tree.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

struct FirstSample {
  std::string shard, key;
  std::vector<uint8_t> value;
};

absl::Status TooLarge(const std::string& shard, std::string_view key) {
  return NamedError(shard, absl::DataLossError(absl::StrCat("the value of '", ShortPrintableName(key),
                                                            "' has more than ", kMaxSampleBytes, " bytes")));
}

absl::Status NoSample(const std::vector<std::string>& databases) {
  if (databases.empty()) return absl::InvalidArgumentError("there is no sample in any LMDB file");
  return absl::InvalidArgumentError(
      absl::StrCat("there are only named databases in it; set `database` to one of: ", absl::StrJoin(databases, ", ")));
}

// Returns the first sample of all shards, by what `layout` takes for one, or if it is not known by what is no metadata.
absl::StatusOr<FirstSample> FindFirst(Store& store, const std::vector<ObjectInfo>& shards, const std::string& database,
                                      std::optional<LmdbLayout> layout) {
  constexpr size_t kMostNamed = 20;
  std::vector<std::string> databases;
  for (const ObjectInfo& shard : shards) {
    STOKER_ASSIGN_OR_RETURN(const LmdbTree tree, LmdbTree::Open(store, shard, database));
    FirstSample first{.shard = shard.name};
    uint64_t offset = 0, size = 0;
    STOKER_RETURN_IF_ERROR(tree.Walk([&](const LmdbTree::Entry& entry) {
      if (entry.is_database && databases.size() < kMostNamed) databases.push_back(ShortPrintableName(entry.key));
      const bool is_sample = layout.has_value() ? IsLmdbSample(*layout, entry.key) : !IsLmdbMetadata(entry.key);
      if (entry.is_database || !is_sample) return true;
      first.key = entry.key;
      offset = entry.offset;
      size = entry.size;
      return false;
    }));
    if (first.key.empty()) continue;
    if (size > kMaxSampleBytes) return TooLarge(shard.name, first.key);
    first.value.resize(size);
    STOKER_RETURN_IF_ERROR(ReadNow(store, {&shard, offset, first.value}));
    return first;
  }
  return NoSample(databases);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Lmdb>> Lmdb::Create(const v1::Lmdb& config, Store& store,
                                                   const std::vector<ObjectInfo>& shards) {
  std::optional<LmdbLayout> layout;
  if (!config.layout().empty()) {
    STOKER_ASSIGN_OR_RETURN(layout, LmdbLayoutOf(config.layout()));
  }
  STOKER_ASSIGN_OR_RETURN(const FirstSample first, FindFirst(store, shards, config.database(), layout));
  const auto named = [&](const absl::Status& status) {
    return NamedError(first.shard, absl::InvalidArgumentError(absl::StrCat(
                                       "the value of '", ShortPrintableName(first.key), "' ", status.message())));
  };
  if (!layout.has_value()) layout = FindLmdbLayout(first.key, first.value);
  if (!layout.has_value())
    return named(
        absl::InvalidArgumentError("is no image file, and no pickled tuple, MessagePack array or Caffe Datum with one: "
                                   "no layout is known for it"));
  const auto value = ParseLmdbValue(*layout, first.value);
  if (!value.ok()) return named(value.status());
  STOKER_ASSIGN_OR_RETURN(FieldMapping mapping, MapFields(config.fields(), ColumnsOf(*value), "part"));
  return std::unique_ptr<Lmdb>(new Lmdb(*layout, config.database(), std::move(mapping)));
}

bool Lmdb::IsShardName(std::string_view name) {
  const std::string_view base = name.substr(name.rfind('/') + 1);
  return base != "lock.mdb" && (base.ends_with(".mdb") || base.ends_with(".lmdb"));
}

std::string Lmdb::description() const { return absl::StrCat("LMDB files (layout ", std::string(NameOf(layout_)), ")"); }

std::string Lmdb::identity() const {
  return absl::StrCat("lmdb.v1 ", std::string(NameOf(layout_)), " ", database_.size(), ":", database_,
                      mapping_.identity());
}

std::vector<std::string> Lmdb::warnings() const {
  std::vector<std::string> warnings = mapping_.warnings;
  if (layout_ == LmdbLayout::kNumbered)
    warnings.push_back("the labels of the keys label-… are left out: they are text, and a sample is its image alone");
  return warnings;
}

absl::StatusOr<ShardIndex::Rows> Lmdb::Index(Store& store, const ObjectInfo& shard) const {
  STOKER_ASSIGN_OR_RETURN(const LmdbTree tree, LmdbTree::Open(store, shard, database_));
  ShardIndex::Rows rows(parts());
  absl::Status status;
  STOKER_RETURN_IF_ERROR(tree.Walk([&](const LmdbTree::Entry& entry) {
    if (entry.is_database || !IsLmdbSample(layout_, entry.key)) return true;
    if (entry.size > kMaxSampleBytes) status = TooLarge(shard.name, entry.key);
    rows.Add(entry.key, {entry.offset, entry.size}, {});
    return status.ok();
  }));
  STOKER_RETURN_IF_ERROR(status);
  return rows;
}

absl::Status Lmdb::Parse(std::span<const uint8_t> stored, std::span<const StoredPart>, SampleBytes& sample) const {
  STOKER_ASSIGN_OR_RETURN(const LmdbValue value, ParseLmdbValue(layout_, stored));
  for (size_t i = 0; i < schema_.size(); ++i)
    if (sample.wanted.Has(i))
      STOKER_RETURN_IF_ERROR(TakeLmdbPart(value, mapping_.fields[i].from, schema_[i], sample.fields[i]));
  return absl::OkStatus();
}

}  // namespace stoker
