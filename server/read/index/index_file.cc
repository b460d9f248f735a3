#include "server/read/index/index_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/binary.h"
#include "server/read/printable_name.h"
#include "server/read/stores/local/file.h"
#include "xxhash.h"

namespace stoker {
namespace {

constexpr std::string_view kMagic = "STOKER SHARDS 1\n";
constexpr size_t kHeaderBytes = 24;  // the magic and the file's size

absl::Status Damaged(absl::string_view what) { return absl::DataLossError(absl::StrCat("it is damaged: ", what)); }

bool IsSame(const ObjectInfo& a, const ObjectInfo& b) {
  return a.name == b.name && a.size == b.size && a.version == b.version;
}

uint64_t ChecksumAt(std::string_view bytes) {
  uint64_t checksum;
  std::memcpy(&checksum, bytes.data() + bytes.size() - sizeof checksum, sizeof checksum);
  return checksum;
}

// Whether a file of `file_bytes` bytes that begins with `header` can be an index.
bool IsHeader(std::string_view header, uint64_t file_bytes) {
  if (header.size() < kHeaderBytes || header.substr(0, kMagic.size()) != kMagic) return false;
  uint64_t size;
  std::memcpy(&size, header.data() + kMagic.size(), sizeof size);
  return size == file_bytes;
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
  BinaryWriter writer;
  writer.bytes += kMagic;
  writer.Put<uint64_t>(0);  // The file's size, which is known at the end.
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
  const uint64_t size = writer.bytes.size() + sizeof(uint64_t);
  std::memcpy(writer.bytes.data() + kMagic.size(), &size, sizeof size);
  writer.Put<uint64_t>(XXH3_64bits(writer.bytes.data(), writer.bytes.size()));
  return std::move(writer.bytes);
}

absl::StatusOr<ShardIndex> ParseIndex(std::string_view bytes, const IndexKey& key,
                                      const std::vector<ObjectInfo>& objects) {
  if (!IsHeader(bytes.substr(0, kHeaderBytes), bytes.size()) || bytes.size() < kHeaderBytes + sizeof(uint64_t))
    return Damaged("it is no index, or was not written to its end");
  const std::string_view checked = bytes.substr(0, bytes.size() - sizeof(uint64_t));
  if (XXH3_64bits(checked.data(), checked.size()) != ChecksumAt(bytes)) return Damaged("its checksum is wrong");
  BinaryReader reader(checked.substr(kHeaderBytes));
  if (reader.GetBytes() != key.store || reader.GetBytes() != key.format)
    return absl::FailedPreconditionError("it is of another source");
  ShardIndex index;
  if (reader.Get<uint64_t>() != objects.size()) return absl::FailedPreconditionError("there are other shards now");
  for (const ObjectInfo& object : objects) {
    ShardIndex::Shard shard;
    shard.object.name = reader.GetBytes();
    shard.object.size = reader.Get<uint64_t>();
    shard.object.version = reader.GetBytes();
    shard.end = reader.Get<uint64_t>();
    if (!IsSame(shard.object, object))
      return absl::FailedPreconditionError(absl::StrCat(ShortPrintableName(object.name), " has changed"));
    index.shards.push_back(std::move(shard));
  }
  const uint64_t parts = reader.Get<uint64_t>(), samples = reader.Get<uint64_t>();
  constexpr uint64_t kMostParts = 1 << 16;
  if (parts > kMostParts || samples > bytes.size()) return Damaged("a number is too large");
  index.parts = static_cast<int>(parts);
  index.offsets = reader.GetArray<uint64_t>(samples);
  index.sizes = reader.GetArray<uint32_t>(samples);
  index.stored_parts = reader.GetArray<StoredPart>(samples * parts);
  index.names = reader.GetBytes();
  index.name_ends = reader.GetArray<uint64_t>(reader.Get<uint64_t>());
  if (!reader.done() || !index.IsConsistent()) return Damaged("its numbers do not fit each other");
  return index;
}

absl::StatusOr<ShardIndex> LoadIndex(const std::string& path, const IndexKey& key,
                                     const std::vector<ObjectInfo>& objects) {
  STOKER_ASSIGN_OR_RETURN(const Descriptor file, OpenOwn(path));
  struct stat status;
  if (fstat(file.number(), &status) != 0) return absl::UnavailableError("cannot stat");
  // The header is read first, so that a huge file that is no index is not read into memory.
  std::string bytes(kHeaderBytes, '\0');
  STOKER_ASSIGN_OR_RETURN(uint64_t got, ReadUpTo(file.number(), bytes.size(), bytes.data()));
  if (!IsHeader(std::string_view(bytes).substr(0, got), status.st_size)) return Damaged("it is no index");
  bytes.resize(status.st_size);
  STOKER_ASSIGN_OR_RETURN(got, ReadUpTo(file.number(), bytes.size(), bytes.data()));
  return ParseIndex(std::string_view(bytes).substr(0, got), key, objects);
}

absl::Status StoreIndex(const std::string& path, const IndexKey& key, const ShardIndex& index) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  absl::Status written = error ? absl::UnavailableError(error.message()) : absl::OkStatus();
  if (written.ok()) written = WriteFileAtomically(path, SerializeIndex(key, index));
  if (written.ok()) return written;
  return absl::UnavailableError(absl::StrCat("cannot write ", ShortPrintableName(path), ": ", written.message()));
}

}  // namespace stoker
