#include "server/read/staged/staged_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {

absl::StatusOr<std::vector<ObjectInfo>> StagedStore::Stage(const std::vector<ObjectInfo>& objects, bool by_beginning) {
  std::vector<Staging::Compressed> compressed;
  std::vector<ObjectInfo> plain;
  std::optional<Compression> all;
  if (by_beginning && !objects.empty()) {
    std::vector<uint8_t> begin(std::min<uint64_t>(objects[0].size, 4));
    STOKER_RETURN_IF_ERROR(ReadNow(below(), {&objects[0], 0, begin}));
    all = CompressionByBeginning(begin);
  }
  for (const ObjectInfo& object : objects) {
    const auto compression = CompressionOf(object.name);
    if (compression.has_value() || all.has_value()) {
      compressed.push_back({object, compression.has_value() ? *compression : *all});
    } else {
      plain.push_back(object);
    }
  }
  if (compressed.empty()) return objects;
  STOKER_ASSIGN_OR_RETURN(const auto staged, StageAll(compressed));
  plain.insert(plain.end(), staged.begin(), staged.end());
  std::sort(plain.begin(), plain.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(plain.begin(), plain.end(), [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice != plain.end())
    return NamedError(twice->name, absl::InvalidArgumentError(
                                       "is there twice, plain and compressed or compressed in two ways: name the ones "
                                       "that are meant (t-*.tar.gz)"));
  return plain;
}

absl::StatusOr<std::vector<ObjectInfo>> StagedStore::StageWhole(const std::vector<ObjectInfo>& objects) {
  if (!below().is_remote()) return Stage(objects, /*by_beginning=*/false);
  std::vector<Staging::Compressed> all;
  all.reserve(objects.size());
  for (const ObjectInfo& object : objects)
    all.push_back({object, CompressionOf(object.name).value_or(Compression::kNone)});
  return StageAll(all);
}

absl::StatusOr<std::vector<ObjectInfo>> StagedStore::StageAll(const std::vector<Staging::Compressed>& objects) {
  if (staging_ == nullptr) {
    uint64_t bytes = 0;
    for (const Staging::Compressed& one : objects) bytes += one.object.size;
    if (objects[0].compression == Compression::kNone)
      return NamedError(
          objects[0].object.name,
          absl::UnimplementedError(absl::StrCat(
              "is read by many small reads, for which it has to be local, as are ", objects.size(), " files of ", bytes,
              " bytes: say where to keep copies, by `raw_cache: {disk: {path: /nvme/stoker, size: ...}}`")));
    return NamedError(
        objects[0].object.name,
        absl::UnimplementedError(absl::StrCat(
            "is compressed as a whole, so that its samples cannot be read one by one, as are ", objects.size(),
            " shards of ", bytes,
            " bytes. Decompressed they need at least as many, in most cases up to three times: "
            "say where to keep them, by `raw_cache: {disk: {path: /nvme/stoker, size: ...}}`, or decompress them for "
            "good (gunzip, unzstd): images hardly shrink anyway")));
  }
  STOKER_ASSIGN_OR_RETURN(const auto files, staging_->Stage(below(), objects));
  std::vector<ObjectInfo> plain;
  absl::MutexLock lock(&mutex_);
  for (size_t i = 0; i < objects.size(); ++i) {
    const ObjectInfo& object = objects[i].object;
    plain.push_back({PlainName(object.name), files[i]->size(), absl::StrCat(object.size, " ", object.version)});
    staged_.insert_or_assign(plain.back().name, Entry{objects[i], plain.back(), files[i]});
  }
  return plain;
}

absl::StatusOr<std::vector<ObjectInfo>> StagedStore::StageNamed(std::vector<ObjectInfo> objects) {
  std::vector<Staging::Compressed> compressed;
  for (const ObjectInfo& object : objects)
    if (const auto compression = CompressionOf(object.name); compression.has_value())
      compressed.push_back({object, *compression});
  if (compressed.empty()) return objects;
  STOKER_ASSIGN_OR_RETURN(const auto staged, StageAll(compressed));
  auto next = staged.begin();
  for (ObjectInfo& object : objects)
    if (CompressionOf(object.name).has_value()) object = *next++;
  return objects;
}

bool StagedStore::has_staged() const {
  absl::MutexLock lock(&mutex_);
  return !staged_.empty();
}

bool StagedStore::is_remote() const { return !has_staged() && below().is_remote(); }

absl::StatusOr<std::vector<ObjectInfo>> StagedStore::Describe(const std::vector<std::string>& names) {
  auto plain = below().Describe(names);
  if (plain.ok()) return StageNamed(*std::move(plain));
  if (!absl::IsNotFound(plain.status())) return plain;
  for (const char* suffix : {".zstd", ".zst", ".gz"}) {
    std::vector<std::string> compressed;
    compressed.reserve(names.size());
    for (const std::string& name : names) compressed.push_back(name + suffix);
    const auto described = below().Describe(compressed);
    if (absl::IsNotFound(described.status()) || absl::IsPermissionDenied(described.status())) continue;
    STOKER_RETURN_IF_ERROR(described.status());
    std::vector<Staging::Compressed> objects;
    for (const ObjectInfo& object : *described) objects.push_back({object, *CompressionOf(object.name)});
    return StageAll(objects);
  }
  return plain;
}

void StagedStore::Read(const Range& range, Done done) {
  std::optional<Entry> entry;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = staged_.find(range.object->name);
    if (found != staged_.end()) entry = found->second;
  }
  if (!entry.has_value()) return below().Read(range, std::move(done));
  const absl::Status read = ReadStaged(*std::move(entry), range);
  done(read.ok() ? read : NamedError(range.object->name, read));
}

absl::Status StagedStore::ReadStaged(Entry entry, const Range& range) {
  const uint64_t size = entry.plain.size;
  if (size != range.object->size || (!range.object->version.empty() && range.object->version != entry.plain.version))
    return absl::FailedPreconditionError("changed since it was indexed: it was staged anew");
  const bool fits = range.offset <= size && range.into.size() <= size - range.offset;
  if (!fits) return absl::FailedPreconditionError("changed since it was indexed: it ends early");
  const absl::Status read = entry.file->Read(range.offset, range.into);
  if (read.ok()) return read;
  // Several threads may find the damage at once. One of them stages the object, for which the others wait.
  absl::MutexLock restaging(&restaging_);
  std::shared_ptr<const StagedFile> now;
  {
    absl::MutexLock lock(&mutex_);
    now = staged_.at(entry.plain.name).file;
  }
  if (now != entry.file) return now->Read(range.offset, range.into);
  auto anew = staging_->Restage(below(), entry.compressed);
  if (!anew.ok())
    return absl::UnavailableError(
        absl::StrCat("what was staged is damaged, and cannot be staged anew: ", anew.status().message()));
  if ((*anew)->size() != size) return absl::FailedPreconditionError("changed since it was indexed");
  STOKER_RETURN_IF_ERROR((*anew)->Read(range.offset, range.into));
  absl::MutexLock lock(&mutex_);
  staged_[entry.plain.name].file = *std::move(anew);
  return absl::OkStatus();
}

}  // namespace stoker
