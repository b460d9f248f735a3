#include "server/read/registry/index_beside.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/fields/schema.h"
#include "common/status_macros.h"
#include "server/read/formats/files/file_list.h"
#include "server/read/index/index_file.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

// What a format may store around a sample, such as a record's framing.
constexpr uint64_t kMostFramingBytes = uint64_t{64} << 10;

// Checks what formats promise of their own indexes, and rely on.
absl::Status CheckSamples(const ShardIndex& index, const ShardFormat& format) {
  if (index.parts != format.parts())
    return absl::DataLossError(
        absl::StrCat("it has ", index.parts, " parts of each sample, where the format has ", format.parts()));
  const auto largest = std::max_element(index.sizes.begin(), index.sizes.end());
  if (largest == index.sizes.end() || *largest <= kMaxSampleBytes + kMostFramingBytes) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("it has a sample of ", *largest, " bytes"));
}

// Appends the samples of one of the shards of `all` to `index`.
void AppendShard(const ShardIndex& all, size_t shard, const ObjectInfo& object, ShardIndex& index) {
  const uint64_t begin = shard == 0 ? 0 : all.shards[shard - 1].end, end = all.shards[shard].end;
  index.offsets.insert(index.offsets.end(), all.offsets.begin() + begin, all.offsets.begin() + end);
  index.sizes.insert(index.sizes.end(), all.sizes.begin() + begin, all.sizes.begin() + end);
  index.stored_parts.insert(index.stored_parts.end(), all.stored_parts.begin() + begin * all.parts,
                            all.stored_parts.begin() + end * all.parts);
  if (!all.name_ends.empty() && end > begin) {
    const uint64_t first = begin == 0 ? 0 : all.name_ends[begin - 1], last = all.name_ends[end - 1];
    for (uint64_t id = begin; id < end; ++id) index.name_ends.push_back(index.names.size() + all.name_ends[id] - first);
    index.names.append(all.names, first, last - first);
  }
  index.shards.push_back({object, index.size()});
}

}  // namespace

IndexBeside IndexBeside::Find(const Source& source) {
  IndexBeside beside;
  absl::StatusOr<std::vector<ObjectInfo>> found = std::vector<ObjectInfo>();
  if (source.index.has_value()) {
    found->push_back(*source.index);
  } else if (!source.is_folder) {
    found = source.store->Describe({kPublishedIndex});
    // A store that hides what is not there says that it is forbidden.
    if (absl::IsNotFound(found.status()) || absl::IsPermissionDenied(found.status())) return beside;
  }
  if (found.ok() && found->empty()) return beside;
  beside.is_there_ = true;
  auto read = found.ok() ? ReadPublished(*source.store, (*found)[0]) : found.status();
  beside.status_ = read.status();
  if (!read.ok()) return beside;
  beside.index_ = *std::move(read);
  beside.place_ = {.is_same_store = beside.index_.store == source.store->identity(),
                   .is_local = !source.store->is_remote(),
                   .version = (*found)[0].version};
  return beside;
}

absl::Status IndexBeside::NameShards(Source& source) const {
  if (!source.is_unlisted) return absl::OkStatus();
  if (!is_there_) return source.listed;
  const auto named = [&](const absl::Status& status) {
    return NamedError(absl::StrCat(source.store->description(), "/", kPublishedIndex), status);
  };
  if (!status_.ok()) return named(status_);
  for (const std::string& name : index_.names)
    if (!StaysBelow(name) || name.find('\0') != name.npos || name == kPublishedIndex)
      return named(absl::DataLossError(absl::StrCat("names ", ShortPrintableName(name), ", which is no shard's name")));
  auto described = source.store->Describe(index_.names);
  if (!described.ok()) return named(described.status());
  source.objects = *std::move(described);
  std::sort(source.objects.begin(), source.objects.end(),
            [](const ObjectInfo& a, const ObjectInfo& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(source.objects.begin(), source.objects.end(),
                                        [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice != source.objects.end())
    return named(absl::DataLossError(absl::StrCat("names ", ShortPrintableName(twice->name), " twice")));
  return source.objects.empty() ? named(absl::DataLossError("names no shard")) : absl::OkStatus();
}

std::shared_ptr<ReplayingStore> IndexBeside::Replaying(std::shared_ptr<Store> store) {
  if (index_.first_reads.empty()) return nullptr;
  return std::make_shared<ReplayingStore>(std::move(store), std::move(index_.first_reads), place_);
}

absl::StatusOr<std::string> IndexBeside::TakeBody(const std::string& source) {
  STOKER_RETURN_IF_ERROR(status_);
  if (index_.source != source)
    return absl::FailedPreconditionError(
        absl::StrCat("it is of ", ShortPrintableName(index_.source), ", and the shards are opened as ", source));
  return std::move(index_.body);
}

absl::StatusOr<ShardIndex> IndexFromBody(const std::string& body, const IndexPlace& place, const ShardFormat& format,
                                         const std::vector<ObjectInfo>& objects) {
  STOKER_ASSIGN_OR_RETURN(KeptIndex kept, ParseAnyIndex(body));
  ShardIndex& all = kept.index;
  if (kept.key.format != format.identity())
    return absl::FailedPreconditionError(absl::StrCat("it is of other fields: ", ShortPrintableName(kept.key.format),
                                                      ", where the dataset has ",
                                                      ShortPrintableName(format.identity())));
  STOKER_RETURN_IF_ERROR(CheckSamples(all, format));
  std::vector<size_t> places;
  for (const ObjectInfo& object : objects) {
    const auto shard =
        std::lower_bound(all.shards.begin(), all.shards.end(), object.name,
                         [](const auto& one, const std::string& name) { return one.object.name < name; });
    if (shard == all.shards.end() || shard->object.name != object.name)
      return NamedError(object.name, absl::FailedPreconditionError("is not in it"));
    STOKER_RETURN_IF_ERROR(CheckUnchanged(shard->object, object, place));
    places.push_back(shard - all.shards.begin());
  }
  if (places.size() == all.shards.size()) {
    for (size_t i = 0; i < places.size(); ++i) all.shards[i].object = objects[i];
    return std::move(all);
  }
  ShardIndex some;
  some.parts = all.parts;
  for (size_t i = 0; i < places.size(); ++i) AppendShard(all, places[i], objects[i], some);
  return some;
}

}  // namespace stoker
