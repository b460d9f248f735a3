#include "server/read/formats/parquet/parquet_dataset.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/check.h"
#include "common/config/byte_size.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/formats/parquet/parquet_columns.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr uint64_t kDefaultCacheBytes = uint64_t{256} << 20;

// Bytes that a row takes in each column beside its value.
constexpr uint64_t kRowBytes = sizeof(uint32_t) + sizeof(uint64_t);

// Returns the place of the column of that name, or nothing.
std::optional<uint32_t> PlaceOf(const std::vector<ParquetColumn>& columns, const std::string& name) {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
  if (found == columns.end()) return std::nullopt;
  return static_cast<uint32_t>(found - columns.begin());
}

// Adds what `each` of `count` takes, and returns false where that is more than a row group may take.
bool Add(uint64_t count, uint64_t each, uint64_t& bytes) {
  if (each > 0 && count > kMostRowGroupBytes / each) return false;
  bytes += count * each;
  return bytes <= kMostRowGroupBytes;
}

absl::Status TooLarge(const ObjectInfo& shard, uint64_t group, uint64_t rows) {
  return NamedError(shard.name, absl::InvalidArgumentError(
                                    absl::StrCat("the wanted columns of its row group ", group, ", of ", rows,
                                                 " rows, take more than ", FormatByteSize(kMostRowGroupBytes),
                                                 " of memory: write it with smaller row groups, such as of 100 rows")));
}

}  // namespace

ParquetDataset::ParquetDataset(std::shared_ptr<Store> store, std::vector<ObjectInfo> shards, const Options& options)
    : store_(std::move(store)),
      shards_(std::move(shards)),
      name_(options.name),
      reader_(std::make_unique<ParquetReader>(options.program,
                                              std::max(1, static_cast<int>(std::thread::hardware_concurrency())))) {}

absl::StatusOr<std::unique_ptr<ParquetDataset>> ParquetDataset::Open(const v1::Parquet& config,
                                                                     std::shared_ptr<Store> store,
                                                                     std::vector<ObjectInfo> shards,
                                                                     const Options& options) {
  std::unique_ptr<ParquetDataset> dataset(new ParquetDataset(std::move(store), std::move(shards), options));
  STOKER_RETURN_IF_ERROR(dataset->Learn(config));
  STOKER_RETURN_IF_ERROR(dataset->ReadFooters(options));
  STOKER_RETURN_IF_ERROR(dataset->SizeCache(config.cache()));
  dataset->fingerprint_ = dataset->Fingerprint();
  return dataset;
}

// Learns the fields from the first row group that has rows.
absl::Status ParquetDataset::Learn(const v1::Parquet& config) {
  for (const ObjectInfo& shard : shards_) {
    STOKER_ASSIGN_OR_RETURN(const ParquetFooter footer, reader_->ReadFooter(*store_, shard));
    const auto first = std::find_if(footer.row_groups.begin(), footer.row_groups.end(),
                                    [](const ParquetRowGroup& group) { return group.rows > 0; });
    if (first == footer.row_groups.end()) continue;
    const auto number = static_cast<uint64_t>(first - footer.row_groups.begin());
    StoredRowGroup group{.shard = &shard, .rows = first->rows, .footer = first->footer};
    const std::vector<uint32_t> candidates = CandidateColumns(config.fields(), footer.columns);
    uint64_t bytes = 0;
    for (const uint32_t column : candidates) {
      group.columns.push_back({.column = column});
      group.chunks.push_back(first->chunks[column]);
      if (!Add(first->chunks[column].decoded, 1, bytes) ||
          !Add(first->rows, footer.columns[column].width + kRowBytes, bytes))
        return TooLarge(shard, number, first->rows);
    }
    std::vector<absl::StatusOr<SourceField>> fields;
    for (const ParquetColumn& column : footer.columns) fields.push_back(absl::InvalidArgumentError(column.why));
    if (!candidates.empty()) {
      STOKER_ASSIGN_OR_RETURN(const auto decoded, reader_->Decode(*store_, group, number));
      for (size_t i = 0; i < candidates.size(); ++i)
        fields[candidates[i]] = FieldOf(footer.columns[candidates[i]], *decoded, i, !config.fields().empty());
    }
    STOKER_ASSIGN_OR_RETURN(mapping_, MapColumns(config.fields(), footer.columns, fields));
    schema_ = mapping_.schema();
    warnings_ = mapping_.warnings;
    for (const MappedField& field : mapping_.fields)
      columns_.push_back(footer.columns[*PlaceOf(footer.columns, field.from)]);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(description(), ": there is no row in its files"));
}

absl::Status ParquetDataset::ReadFooters(const Options& options) {
  std::vector<std::vector<Group>> found(shards_.size());
  absl::Mutex mutex;
  absl::Status status;
  uint64_t rows = 0;
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (size_t i; !failed && (i = next++) < shards_.size();) {
      const auto footer = reader_->ReadFooter(*store_, shards_[i]);
      auto groups = footer.ok() ? GroupsOf(*footer, shards_[i]) : footer.status();
      absl::MutexLock lock(&mutex);
      status.Update(groups.status());
      failed = !status.ok();
      if (!groups.ok()) return;
      found[i] = *std::move(groups);
      for (const Group& group : found[i]) rows += group.stored.rows;
      if (options.progress) options.progress(rows);
    }
  };
  std::vector<std::thread> workers;
  for (size_t i = 1; i < std::min<size_t>(std::max(options.threads, 1), shards_.size()); ++i)
    workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  STOKER_RETURN_IF_ERROR(status);
  for (auto& groups : found)
    for (Group& group : groups) {
      group.begin = groups_.empty() ? 0 : groups_.back().end;
      group.end = group.begin + group.stored.rows;
      groups_.push_back(std::move(group));
    }
  if (groups_.empty()) return absl::InvalidArgumentError(absl::StrCat(description(), ": there is no row in its files"));
  return absl::OkStatus();
}

// Returns the row groups of a shard that have rows, without their ids.
absl::StatusOr<std::vector<ParquetDataset::Group>> ParquetDataset::GroupsOf(const ParquetFooter& footer,
                                                                            const ObjectInfo& shard) const {
  std::vector<uint32_t> places;
  for (const ParquetColumn& column : columns_) {
    const auto place = PlaceOf(footer.columns, column.name);
    if (!place.has_value() || footer.columns[*place] != column)
      return NamedError(shard.name,
                        absl::DataLossError(absl::StrCat("has no column ", ShortPrintableName(column.name),
                                                         " of the type that the dataset's first file has")));
    places.push_back(*place);
  }
  std::vector<Group> groups;
  uint64_t shard_row = 0;
  for (size_t i = 0; i < footer.row_groups.size(); ++i) {
    const ParquetRowGroup& stored = footer.row_groups[i];
    if (stored.rows == 0) continue;
    Group group{
        .stored = {.shard = &shard, .rows = stored.rows, .footer = stored.footer}, .number = i, .shard_row = shard_row};
    for (size_t field = 0; field < places.size(); ++field) {
      const ParquetChunk& chunk = stored.chunks[places[field]];
      const bool is_image = schema_[field].kind == SourceField::Kind::kEncodedImage;
      // Values of fixed size may be encoded in few bytes; of others there are no more than the footer tells of, unless
      // they are often the same.
      if (!Add(chunk.size, 1, group.bytes) || !Add(is_image ? chunk.decoded : 0, 1, group.bytes) ||
          !Add(stored.rows, kRowBytes + (is_image ? 0 : DenseBytes(schema_[field])), group.bytes))
        return TooLarge(shard, i, stored.rows);
      group.stored.columns.push_back({places[field], columns_[field].lists > 0, {}});
      if (columns_[field].lists > 0)
        group.stored.columns.back().shape.assign(schema_[field].shape.begin(),
                                                 schema_[field].shape.begin() + columns_[field].lists);
      group.stored.chunks.push_back(chunk);
    }
    shard_row += stored.rows;
    groups.push_back(std::move(group));
  }
  return groups;
}

absl::Status ParquetDataset::SizeCache(const std::string& cache) {
  cache_bytes_ = kDefaultCacheBytes;
  if (!cache.empty()) {
    const auto bytes = ParseByteSize(cache);
    if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("parquet.cache: ", bytes.status().message()));
    cache_bytes_ = *bytes;
  }
  uint64_t all = 0, largest = 0, rows = 0;
  for (const Group& group : groups_) {
    all += group.bytes;
    largest = std::max(largest, group.bytes);
    rows = std::max(rows, group.stored.rows);
  }
  if (all > cache_bytes_) {
    const uint64_t kept = std::max<uint64_t>(cache_bytes_ / largest, 1);
    warnings_.push_back(absl::StrCat(
        "reading a sample decodes its row group, of up to ", rows, " rows and ", FormatByteSize(largest), "; of ",
        groups_.size(), " with ", FormatByteSize(all), ", `cache` keeps ", FormatByteSize(cache_bytes_),
        ". Under a full shuffle most are decoded again for each sample. Let jobs ask for shuffle {mode: block, "
        "block_samples: ",
        rows, ", window_blocks: ", std::max<uint64_t>(kept / 2, 1), "}, or raise `cache`"));
  }
  cache_bytes_ = std::max(std::min(cache_bytes_, all), largest);
  cache_ = std::make_unique<RowGroupCache>(cache_bytes_);
  return absl::OkStatus();
}

std::string ParquetDataset::Fingerprint() const {
  stoker::Fingerprint fingerprint("stoker.parquet.v1");
  const auto add_text = [&](std::string_view text) {
    fingerprint.AddNumber(text.size());
    fingerprint.AddBytes(text);
  };
  add_text(mapping_.identity());
  fingerprint.AddNumber(shards_.size());
  auto group = groups_.begin();
  for (const ObjectInfo& shard : shards_) {
    add_text(shard.name);
    fingerprint.AddNumber(shard.size);
    const auto end =
        std::find_if(group, groups_.end(), [&](const Group& other) { return other.stored.shard != &shard; });
    fingerprint.AddNumber(end - group);
    for (; group != end; ++group) fingerprint.AddNumber(group->stored.rows);
  }
  return fingerprint.Finish();
}

uint64_t ParquetDataset::resident_bytes() const {
  uint64_t bytes = sizeof(*this) + groups_.capacity() * sizeof(Group) + cache_bytes_;
  for (const Group& group : groups_) {
    bytes += group.stored.footer.capacity() + group.stored.chunks.capacity() * sizeof(ParquetChunk) +
             group.stored.columns.capacity() * sizeof(DecodeRequest::Wanted);
    for (const auto& column : group.stored.columns) bytes += column.shape.capacity() * sizeof(int64_t);
  }
  for (const ObjectInfo& shard : shards_) bytes += sizeof(shard) + shard.name.capacity() + shard.version.capacity();
  return bytes;
}

std::string ParquetDataset::description() const {
  return absl::StrCat("Parquet files at ", store_->description(), ", ", shards_.size(), " shards");
}

std::string ParquetDataset::SampleName(uint64_t id) const { return PrintableName(NameOf(id)); }

std::string ParquetDataset::NameOf(uint64_t id) const {
  const Group& group = GroupOf(id);
  return absl::StrCat(group.stored.shard->name, ":", group.shard_row + id - group.begin);
}

const ParquetDataset::Group& ParquetDataset::GroupOf(uint64_t id) const {
  STOKER_CHECK(id < size());
  return *std::upper_bound(groups_.begin(), groups_.end(), id,
                           [](uint64_t i, const Group& group) { return i < group.end; });
}

absl::Status ParquetDataset::Read(uint64_t id, SampleBytes& sample) const {
  const Group& group = GroupOf(id);
  sample.fields.resize(schema_.size());
  const auto named = [&](const absl::Status& status) {
    const std::string text =
        absl::StrCat(name_, name_.empty() ? "" : ": ", ShortPrintableName(NameOf(id)), ": ", status.message());
    if (absl::IsFailedPrecondition(status))
      return absl::UnavailableError(
          absl::StrCat(text, "; restore the object, or restart the server to index its shards anew"));
    if (absl::IsDataLoss(status) || absl::IsNotFound(status)) return absl::Status(status.code(), text);
    return absl::UnavailableError(text);
  };
  const auto decoded =
      cache_->Get(group.begin, group.bytes, [&] { return reader_->Decode(*store_, group.stored, group.number); });
  if (!decoded.ok()) return named(decoded.status());
  for (size_t field = 0; field < schema_.size(); ++field)
    if (const auto taken = TakeField(**decoded, field, id - group.begin, sample.fields[field]); !taken.ok())
      return named(NamedError("the column " + columns_[field].name, taken));
  return absl::OkStatus();
}

absl::Status ParquetDataset::TakeField(const RowGroup& group, size_t field, uint64_t row,
                                       std::vector<uint8_t>& bytes) const {
  const uint32_t size = group.SizeOf(field, row);
  const bool is_image = schema_[field].kind == SourceField::Kind::kEncodedImage;
  if (size == kNullRow) return absl::DataLossError("is null, or a list of nothing or with a null in it");
  if (size == kTooLargeRow) return absl::DataLossError("is above what int64 holds");
  if (size == kOtherShapeRow || (!is_image && size != DenseBytes(schema_[field])))
    return absl::DataLossError(absl::StrCat("is of another shape than ", FieldWords(schema_[field])));
  if (size > kMaxSampleBytes) return absl::DataLossError(absl::StrCat("has more than ", kMaxSampleBytes, " bytes"));
  const auto value = group.ValueOf(field, row);
  bytes.assign(value.begin(), value.end());
  return absl::OkStatus();
}

}  // namespace stoker
