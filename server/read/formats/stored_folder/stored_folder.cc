#include "server/read/formats/stored_folder/stored_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/config/yaml_proto.h"
#include "common/status_macros.h"
#include "server/read/formats/folder/prepared_folder.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr uint64_t kMostListBytes = uint64_t{1} << 30;
constexpr uint64_t kMostPreparedBytes = uint64_t{1} << 20;

// So many objects are compared with a listing that was kept.
constexpr uint64_t kCompared = 64;

// Reads a small object. `what` it is, is for the error.
absl::StatusOr<std::string> ReadText(Store& store, const ObjectInfo& object, uint64_t most, const char* what) {
  if (object.size > most)
    return NamedError(object.name,
                      absl::InvalidArgumentError(absl::StrCat(object.size, " bytes, which are too many for ", what)));
  std::string text(object.size, '\0');
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&object, 0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}}));
  return text;
}

absl::StatusOr<std::optional<v1::Prepared>> ReadPrepared(Store& store) {
  const auto described = store.Describe({kPreparedFile});
  // Some buckets forbid what is not there.
  if (absl::IsNotFound(described.status()) || absl::IsPermissionDenied(described.status())) return std::nullopt;
  STOKER_RETURN_IF_ERROR(described.status());
  STOKER_ASSIGN_OR_RETURN(const std::string text,
                          ReadText(store, described->front(), kMostPreparedBytes, "what `stokerd prepare` writes"));
  v1::Prepared prepared;
  STOKER_RETURN_IF_ERROR(ParseYaml(text, absl::StrCat(store.description(), "/", kPreparedFile), prepared));
  return prepared;
}

}  // namespace

StoredFolder::StoredFolder(std::shared_ptr<Store> store, const Options& options)
    : store_(std::move(store)), name_(options.name), cache_dir_(options.cache_dir), schema_(ImageAndLabel()) {}

absl::StatusOr<std::unique_ptr<StoredFolder>> StoredFolder::Open(std::shared_ptr<Store> store, const Options& options) {
  std::unique_ptr<StoredFolder> folder(new StoredFolder(std::move(store), options));
  const std::string root = folder->store_->description();
  STOKER_ASSIGN_OR_RETURN(const auto prepared, ReadPrepared(*folder->store_));
  if (prepared.has_value()) {
    const absl::Status servable = CheckServable(*prepared);
    if (!servable.ok()) return NamedError(root, servable);
  }
  STOKER_ASSIGN_OR_RETURN(folder->listing_, folder->Find(options));
  if (prepared.has_value()) {
    const absl::Status taken = TakeOver(*prepared, folder->schema_, folder->listing_.fingerprint);
    if (!taken.ok()) return NamedError(root, taken);
  }
  const FolderIndex& index = folder->listing_.index;
  for (const auto& one : index.classes) folder->class_names_.push_back(PrintableName(one.name));
  if (index.skipped_files > 0) folder->warnings_.push_back(index.SkippedNote());
  uint64_t bytes = 0;
  for (uint64_t id = 0; id < folder->size(); ++id) bytes += index.files.sizes[id];
  folder->reads_.emplace(folder->store_->is_remote() ? options.cache : nullptr, bytes);
  return folder;
}

absl::StatusOr<ObjectListing> StoredFolder::Find(const Options& options) {
  ListingKey key = {.store = store_->description(), .list = ""};
  const bool is_list = !options.list.empty();
  std::vector<ObjectInfo> list;
  if (is_list) {
    STOKER_ASSIGN_OR_RETURN(list, store_->Describe({options.list}));
    key.list = absl::StrCat(list[0].name, "\n", list[0].size, "\n", list[0].version);
  }
  const std::string path = cache_dir_.empty() ? "" : ListingPath(cache_dir_, key);
  if (!path.empty()) {
    auto kept = LoadListing(path, key);
    if (kept.ok()) {
      STOKER_ASSIGN_OR_RETURN(const bool current, IsCurrent(*kept, is_list));
      if (current) {
        kept_path_ = path;
        return kept;
      }
    } else if (!absl::IsNotFound(kept.status()) && !absl::IsFailedPrecondition(kept.status())) {
      warnings_.push_back(absl::StrCat("listed the folder anew; its index ", ShortPrintableName(path),
                                       " cannot be used: ", kept.status().message()));
    }
  }
  const ObjectListingOptions how = {std::max(options.threads, 1), options.progress};
  ObjectListing listing;
  if (is_list) {
    STOKER_ASSIGN_OR_RETURN(const std::string text, ReadText(*store_, list[0], kMostListBytes, "a list of files"));
    STOKER_ASSIGN_OR_RETURN(listing, DescribeClasses(*store_, text, how));
  } else {
    STOKER_ASSIGN_OR_RETURN(listing, ListClasses(*store_, how));
  }
  if (path.empty() || (!is_list && listing.index.files.size() <= options.listed_anew)) return listing;
  const absl::Status stored = StoreListing(path, key, listing);
  if (stored.ok()) {
    kept_path_ = path;
  } else {
    warnings_.push_back(absl::StrCat("the folder will be listed anew at the next start: ", stored.message()));
  }
  return listing;
}

absl::StatusOr<bool> StoredFolder::IsCurrent(const ObjectListing& listing, bool is_list) const {
  const auto folders = is_list ? absl::UnimplementedError("not needed") : store_->Folders();
  if (folders.ok()) {
    const auto& known = listing.index.classes;
    const bool same = std::equal(folders->begin(), folders->end(), known.begin(), known.end(),
                                 [](const std::string& a, const FolderIndex::ClassFolder& b) { return a == b.name; });
    if (!same) return false;
  } else if (!absl::IsUnimplemented(folders.status())) {
    return folders.status();
  }
  std::vector<ObjectInfo> known;
  std::vector<std::string> names;
  const uint64_t size = listing.index.files.size(), count = std::min(size, kCompared);
  for (uint64_t i = 0; i < count; ++i) {
    known.push_back(listing.Object(count == 1 ? 0 : i * (size - 1) / (count - 1)));
    names.push_back(known.back().name);
  }
  const auto now = store_->Describe(names);
  if (absl::IsNotFound(now.status())) return false;
  STOKER_RETURN_IF_ERROR(now.status());
  return std::equal(known.begin(), known.end(), now->begin(), now->end(), [](const ObjectInfo& a, const ObjectInfo& b) {
    return a.size == b.size && a.version == b.version;
  });
}

uint64_t StoredFolder::resident_bytes() const {
  uint64_t bytes = sizeof(*this) + listing_.index.resident_bytes() + listing_.versions.resident_bytes() +
                   class_names_.capacity() * sizeof(std::string);
  for (const std::string& name : class_names_) bytes += name.capacity();
  return bytes;
}

std::string StoredFolder::description() const {
  return absl::StrCat("image folder ", store_->description(), ", ", class_names_.size(), " classes");
}

std::string StoredFolder::SampleName(uint64_t id) const {
  STOKER_CHECK(id < size());
  return PrintableName(listing_.index.Path(id));
}

LabelRun StoredFolder::RunAt(uint64_t id) const {
  const int64_t label = listing_.index.Label(id);
  return {.label = label, .end = listing_.index.classes[label].end};
}

absl::Status StoredFolder::Read(uint64_t id, SampleBytes& sample) const {
  STOKER_CHECK(id < size());
  if (!sample.wanted.Has(kImage)) return Parse(id, {}, sample);
  const ObjectInfo object = listing_.Object(id);
  std::vector<uint8_t> stored = std::move(sample.stored);
  stored.resize(object.size);
  std::optional<SampleKey> to_keep;
  const absl::Status read = reads_->Read(*store_, {&object, 0, stored}, to_keep);
  const absl::Status status = read.ok() ? Parse(id, stored, sample) : ReadError(id, read);
  if (status.ok()) reads_->Keep(to_keep, stored);
  sample.stored = std::move(stored);
  return status;
}

absl::Status StoredFolder::Parse(uint64_t id, std::span<const uint8_t> stored, SampleBytes& sample) const {
  const int64_t label = listing_.index.Label(id);
  sample.fields.resize(2);
  sample.fields[kImage].assign(stored.begin(), stored.end());
  sample.fields[kLabel].resize(sizeof label);
  std::memcpy(sample.fields[kLabel].data(), &label, sizeof label);
  return absl::OkStatus();
}

absl::Status StoredFolder::ReadError(uint64_t id, const absl::Status& status) const {
  const std::string sample = absl::StrCat(name_, name_.empty() ? "" : ": ", ShortPrintableName(listing_.index.Path(id)),
                                          ": ", status.message());
  const bool changed = absl::IsFailedPrecondition(status) || absl::IsNotFound(status);
  // The index must not survive a restart. A few requests may not show again what this read has found.
  if (changed && !kept_path_.empty() && !kept_dropped_.exchange(true)) unlink(kept_path_.c_str());
  if (absl::IsNotFound(status)) return absl::NotFoundError(sample);
  if (absl::IsFailedPrecondition(status))
    return absl::UnavailableError(
        absl::StrCat(sample, "; restore the object, or restart the server to list the folder anew"));
  return absl::UnavailableError(sample);
}

}  // namespace stoker
