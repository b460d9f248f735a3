#include "server/read/index/index_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/binary.h"
#include "server/read/index/sealed_file.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr SealedKind kShardIndex = {"STOKER SHARDS 1\n", "index"};

bool IsSame(const ObjectInfo& a, const ObjectInfo& b) {
  return a.name == b.name && a.size == b.size && a.version == b.version;
}

}  // namespace

std::string IndexPath(const std::string& cache_dir, const IndexKey& key, const std::vector<ObjectInfo>& objects) {
  Fingerprint name("stoker.index_file.v1");
  const auto add_text = [&](std::string_view text) {
    name.AddNumber(text.size());
    name.AddBytes(text);
  };
  add_text(key.store);
  add_text(key.format);
  for (const ObjectInfo& object : objects) add_text(object.name);
  return absl::StrCat(cache_dir, "/shards-", absl::BytesToHexString(name.Finish().substr(0, 16)), ".index");
}

std::string SerializeIndex(const IndexKey& key, const ShardIndex& index) {
  BinaryWriter writer = BeginSealed(kShardIndex);
  writer.PutBytes(key.store);
  writer.PutBytes(key.format);
  writer.Put<uint64_t>(index.shards.size());
  for (const ShardIndex::Shard& shard : index.shards) {
    writer.PutBytes(shard.object.name);
    writer.Put<uint64_t>(shard.object.size);
    writer.PutBytes(shard.object.version);
    writer.Put<uint64_t>(shard.end);
  }
  writer.Put<uint64_t>(index.parts);
  writer.Put<uint64_t>(index.size());
  writer.PutArray(index.offsets);
  writer.PutArray(index.sizes);
  writer.PutArray(index.stored_parts);
  writer.PutBytes(index.names);
  writer.Put<uint64_t>(index.name_ends.size());
  writer.PutArray(index.name_ends);
  return Seal(std::move(writer));
}

absl::StatusOr<KeptIndex> ParseAnyIndex(std::string_view bytes) {
  STOKER_ASSIGN_OR_RETURN(const std::string_view body, Unseal(kShardIndex, bytes));
  BinaryReader reader(body);
  KeptIndex kept;
  kept.key.store = reader.GetBytes();
  kept.key.format = reader.GetBytes();
  ShardIndex& index = kept.index;
  constexpr uint64_t kShardBytes = 4 * sizeof(uint64_t);
  const uint64_t shards = reader.GetCount(kShardBytes);
  for (uint64_t i = 0; i < shards; ++i) {
    ShardIndex::Shard& shard = index.shards.emplace_back();
    shard.object.name = reader.GetBytes();
    shard.object.size = reader.Get<uint64_t>();
    shard.object.version = reader.GetBytes();
    shard.end = reader.Get<uint64_t>();
  }
  const uint64_t parts = reader.Get<uint64_t>(), samples = reader.Get<uint64_t>();
  constexpr uint64_t kMostParts = 1 << 16;
  if (parts > kMostParts || samples > bytes.size()) return DamagedIndex("a number is too large");
  index.parts = static_cast<int>(parts);
  index.offsets = reader.GetArray<uint64_t>(samples);
  index.sizes = reader.GetArray<uint32_t>(samples);
  index.stored_parts = reader.GetArray<StoredPart>(samples * parts);
  index.names = reader.GetBytes();
  index.name_ends = reader.GetArray<uint64_t>(reader.Get<uint64_t>());
  if (!reader.done() || !index.IsConsistent()) return DamagedIndex("its numbers do not fit each other");
  return kept;
}

absl::StatusOr<ShardIndex> ParseIndex(std::string_view bytes, const IndexKey& key,
                                      const std::vector<ObjectInfo>& objects) {
  STOKER_ASSIGN_OR_RETURN(KeptIndex kept, ParseAnyIndex(bytes));
  if (kept.key.store != key.store || kept.key.format != key.format)
    return absl::FailedPreconditionError("it is of another source");
  if (kept.index.shards.size() != objects.size()) return absl::FailedPreconditionError("there are other shards now");
  for (size_t i = 0; i < objects.size(); ++i)
    if (!IsSame(kept.index.shards[i].object, objects[i]))
      return absl::FailedPreconditionError(absl::StrCat(ShortPrintableName(objects[i].name), " has changed"));
  return std::move(kept.index);
}

absl::StatusOr<ShardIndex> LoadIndex(const std::string& path, const IndexKey& key,
                                     const std::vector<ObjectInfo>& objects) {
  STOKER_ASSIGN_OR_RETURN(const std::string bytes, ReadSealed(path, kShardIndex));
  return ParseIndex(bytes, key, objects);
}

absl::Status StoreIndex(const std::string& path, const IndexKey& key, const ShardIndex& index) {
  return WriteSealed(path, SerializeIndex(key, index));
}

}  // namespace stoker
