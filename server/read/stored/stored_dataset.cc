#include "server/read/stored/stored_dataset.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/formats/mapping/variable_field.h"
#include "server/read/index/index_file.h"
#include "server/read/printable_name.h"
#include "server/read/stored/build_index.h"

namespace stoker {

absl::StatusOr<std::unique_ptr<StoredDataset>> StoredDataset::Open(std::shared_ptr<Store> store,
                                                                   std::vector<ObjectInfo> objects,
                                                                   std::unique_ptr<ShardFormat> format,
                                                                   const Options& options) {
  std::unique_ptr<StoredDataset> dataset(new StoredDataset(std::move(store), std::move(format), options.name));
  dataset->warnings_ = dataset->format_->warnings();
  dataset->schema_ = dataset->format_->schema();
  STOKER_ASSIGN_OR_RETURN(dataset->index_, dataset->FindIndex(std::move(objects), options));
  if (dataset->index_.size() == 0)
    return absl::InvalidArgumentError(absl::StrCat(dataset->description(), ": there is no sample in its shards"));
  dataset->fingerprint_ = dataset->index_.Fingerprint(dataset->format_->identity());
  const auto& sizes = dataset->index_.sizes;
  dataset->reads_.emplace(dataset->store_->is_remote() ? options.cache : nullptr,
                          std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}));
  if (options.prepared.has_value()) dataset->TakeOver(*options.prepared);
  return dataset;
}

void StoredDataset::TakeOver(const PreparedImages& prepared) {
  for (SourceField& field : schema_) {
    if (field.kind != SourceField::Kind::kEncodedImage) continue;
    field.prepared = prepared.ops;
    field.prepared_settings = prepared.settings;
  }
  Fingerprint fingerprint("stoker.prepared_shards.v1");
  fingerprint.AddBytes(fingerprint_);
  fingerprint.AddBytes(prepared.identity);
  fingerprint_ = fingerprint.Finish();
}

absl::StatusOr<ShardIndex> StoredDataset::FindIndex(std::vector<ObjectInfo> objects, const Options& options) {
  std::sort(objects.begin(), objects.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  if (options.beside) {
    auto found = options.beside(*format_, objects);
    if (found.ok()) return found;
    warnings_.push_back(absl::StrCat("the index beside the shards is not used: ", found.status().message(),
                                     "; `stokerd index` writes it anew"));
  }
  const IndexKey key = {store_->description(), format_->identity()};
  const std::string path = options.cache_dir.empty() ? "" : IndexPath(options.cache_dir, key, objects);
  if (!path.empty()) {
    auto kept = LoadIndex(path, key, objects);
    if (kept.ok()) return kept;
    if (!absl::IsNotFound(kept.status()) && !absl::IsFailedPrecondition(kept.status()))
      warnings_.push_back(absl::StrCat("indexed the shards anew; their index ", ShortPrintableName(path),
                                       " cannot be used: ", kept.status().message()));
  }
  STOKER_ASSIGN_OR_RETURN(ShardIndex index,
                          BuildIndex(*store_, *format_, std::move(objects), options.threads, options.progress));
  const absl::Status stored = path.empty() ? absl::OkStatus() : StoreIndex(path, key, index);
  if (!stored.ok())
    warnings_.push_back(absl::StrCat("the shards will be indexed anew at the next start: ", stored.message()));
  return index;
}

std::string StoredDataset::description() const {
  return absl::StrCat(format_->description(), " at ", store_->description(), ", ", index_.shards.size(), " shards");
}

std::string StoredDataset::SampleName(uint64_t id) const { return PrintableName(index_.NameOf(id)); }

absl::Status StoredDataset::Read(uint64_t id, SampleBytes& sample) const {
  const Place place = PlaceOf(id, sample.wanted);
  // The buffer moves out, since Parse writes to `sample`.
  std::vector<uint8_t> stored = std::move(sample.stored);
  stored.resize(place.size);
  const ObjectInfo& object = index_.shards[place.object].object;
  std::optional<SampleKey> to_keep;
  const absl::Status read = reads_->Read(*store_, {&object, place.offset, stored}, to_keep);
  const absl::Status status = read.ok() ? Parse(id, stored, sample) : ReadError(id, read);
  if (status.ok()) reads_->Keep(to_keep, stored);
  sample.stored = std::move(stored);
  return status;
}

StoredSamples::Place StoredDataset::PlaceOf(uint64_t id, FieldSet wanted) const {
  const StoredPart needed = NeededOf(id, wanted);
  return {index_.ShardOf(id), index_.RangeOf(id).offset + needed.offset, needed.size};
}

StoredPart StoredDataset::NeededOf(uint64_t id, FieldSet wanted) const {
  const StoredPart all = {0, index_.RangeOf(id).size};
  if (wanted == FieldSet::All() || index_.parts == 0 || reads_->keeps()) return all;  // Whole samples are kept.
  uint32_t begin = all.size, end = 0;
  for (size_t field = 0; field < schema_.size(); ++field) {
    if (!wanted.Has(field)) continue;
    const StoredPart part = index_.PartOf(id, format_->PartOf(field));
    if (part.size == 0 && part.offset == 0) continue;         // It is missing.
    begin = std::min(begin, part.offset - (part.size == 0));  // An empty one has a place after 0.
    end = std::max(end, part.offset + part.size);
  }
  return begin < end ? StoredPart{begin, end - begin} : all;
}

absl::Status StoredDataset::Parse(uint64_t id, std::span<const uint8_t> stored, SampleBytes& sample) const {
  const std::span<const StoredPart> all = std::span(index_.stored_parts).subspan(id * index_.parts, index_.parts);
  std::vector<StoredPart> parts(all.begin(), all.end());
  const StoredPart needed = NeededOf(id, sample.wanted);
  for (StoredPart& part : parts)
    if (part.offset >= needed.offset) part.offset -= needed.offset;
  sample.fields.resize(schema().size());
  absl::Status parsed = format_->Parse(stored, parts, sample);
  for (size_t i = 0; parsed.ok() && i < sample.fields.size(); ++i) {
    if (!sample.wanted.Has(i)) continue;
    const absl::Status rows = CheckRows(schema_[i], sample.fields[i]);
    if (!rows.ok()) parsed = NamedError(absl::StrCat("its field ", schema_[i].name), rows);
  }
  if (parsed.ok()) return parsed;
  return absl::DataLossError(
      absl::StrCat(name_, name_.empty() ? "" : ": ", ShortPrintableName(index_.NameOf(id)), ": ", parsed.message()));
}

absl::Status StoredDataset::ReadError(uint64_t id, const absl::Status& status) const {
  const std::string sample =
      absl::StrCat(name_, name_.empty() ? "" : ": ", ShortPrintableName(index_.NameOf(id)), ": ", status.message());
  if (absl::IsNotFound(status)) return absl::NotFoundError(sample);
  if (absl::IsFailedPrecondition(status))
    return absl::UnavailableError(
        absl::StrCat(sample, "; restore the object, or restart the server to index its shards anew"));
  return absl::UnavailableError(sample);
}

}  // namespace stoker
