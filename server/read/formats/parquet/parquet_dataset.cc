#include "server/read/formats/parquet/parquet_dataset.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/check.h"
#include "common/config/byte_size.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/formats/parquet/parquet_columns.h"
#include "server/read/printable_name.h"
#include "server/read/rows/row_fields.h"

namespace stoker {
namespace {

// Row groups that are loaded ahead at once. They wait for the store rather than the CPU.
constexpr int kLoaders = 8;

// Bytes that a row takes in each column beside its value.
constexpr uint64_t kRowBytes = sizeof(uint32_t) + sizeof(uint64_t);

// Bytes that a decoded row group takes beside its rows, and beside each of its columns' values, about.
constexpr uint64_t kGroupBytes = 512, kColumnBytes = 128;

// The most choices of fields that are told apart: clients name them.
constexpr size_t kMostChoices = 64;

// Returns the place of the column of that name, or nothing.
std::optional<uint32_t> ColumnOf(const std::vector<ParquetColumn>& columns, const std::string& name) {
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

// Adds what the column of a field takes. Values of fixed size may be encoded in few bytes; of others there are no more
// than the footer tells of, unless they are often the same.
bool AddColumn(const ParquetChunk& chunk, const SourceField& field, uint64_t rows, RowGroupCache::Size& size) {
  const bool is_dense = field.kind == SourceField::Kind::kDense;
  return Add(chunk.size, 1, size.loading) && Add(is_dense ? 0 : chunk.decoded, 1, size.loaded) &&
         Add(rows, kRowBytes + (is_dense ? DenseBytes(field) : 0), size.loaded) &&
         size.loaded + size.loading <= kMostRowGroupBytes;
}

absl::Status TooLarge(const ObjectInfo& shard, uint64_t group, uint64_t rows) {
  return NamedError(shard.name, absl::InvalidArgumentError(
                                    absl::StrCat("the wanted columns of its row group ", group, ", of ", rows,
                                                 " rows, take more than ", FormatByteSize(kMostRowGroupBytes),
                                                 " of memory: write it with smaller row groups, such as of 100 rows")));
}

int Children() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

using FilesProgress = std::function<void(uint64_t samples, uint64_t files)>;

FilesProgress CountSamples(const std::function<void(uint64_t samples)>& progress) {
  if (!progress) return nullptr;
  return [progress](uint64_t samples, uint64_t) { progress(samples); };
}

bool HasRows(const ParquetRowGroup& group) { return group.rows > 0; }

// Returns the first shard that has rows; the end where none has.
std::vector<ParquetTable::Shard>::const_iterator FirstWithRows(const ParquetTable& table) {
  return std::find_if(table.shards.begin(), table.shards.end(), [](const ParquetTable::Shard& shard) {
    return std::any_of(shard.footer.row_groups.begin(), shard.footer.row_groups.end(), HasRows);
  });
}

// Reads the footers of all shards, by threads of which each has one at a time.
absl::StatusOr<ParquetTable> ReadTable(ParquetReader& reader, Store& store, const std::vector<ObjectInfo>& shards,
                                       int threads, const FilesProgress& progress, const std::atomic<bool>* stop) {
  ParquetTable table;
  for (const ObjectInfo& shard : shards) table.shards.push_back({shard, {}});
  absl::Mutex mutex;
  absl::Status status;
  uint64_t rows = 0, files = 0;
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (size_t i; !failed && !(stop != nullptr && *stop) && (i = next++) < shards.size();) {
      auto footer = reader.ReadFooter(store, shards[i]);
      absl::MutexLock lock(&mutex);
      status.Update(footer.status());
      failed = !status.ok();
      if (!footer.ok()) return;
      for (const ParquetRowGroup& group : footer->row_groups) rows += group.rows;
      table.shards[i].footer = *std::move(footer);
      ++files;
      if (progress) progress(rows, files);
    }
  };
  std::vector<std::thread> workers;
  for (size_t i = 1; i < std::min<size_t>(std::max(threads, 1), shards.size()); ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  STOKER_RETURN_IF_ERROR(status);
  if (files < shards.size()) return absl::CancelledError("stopped");
  return table;
}

// Decodes the columns that the first row group with rows has for the wanted fields, unless the table tells of all.
absl::Status LearnFacts(const v1::Parquet& config, ParquetReader& reader, Store& store, ParquetTable& table) {
  const auto shard = FirstWithRows(table);
  if (shard == table.shards.end())
    return absl::InvalidArgumentError(absl::StrCat(store.description(), ": there is no row in its Parquet files"));
  const ParquetFooter& footer = shard->footer;
  table.facts.resize(footer.columns.size());
  const auto first = std::find_if(footer.row_groups.begin(), footer.row_groups.end(), HasRows);
  const auto number = static_cast<uint64_t>(first - footer.row_groups.begin());
  StoredRowGroup group{.shard = &shard->object, .rows = first->rows, .footer = first->footer};
  uint64_t bytes = 0;
  for (const uint32_t column : CandidateColumns(config.fields(), footer.columns)) {
    if (table.facts[column].is_known) continue;
    group.columns.push_back({.column = column});
    group.chunks.push_back(first->chunks[column]);
    if (!Add(first->chunks[column].decoded, 1, bytes) ||
        !Add(first->rows, footer.columns[column].width + kRowBytes, bytes))
      return TooLarge(shard->object, number, first->rows);
  }
  if (group.columns.empty()) return absl::OkStatus();
  STOKER_ASSIGN_OR_RETURN(const auto decoded, reader.Decode(store, group, number));
  for (size_t i = 0; i < group.columns.size(); ++i) {
    const uint32_t column = group.columns[i].column;
    table.facts[column] = FactsOf(footer.columns[column], *decoded, i);
  }
  return absl::OkStatus();
}

}  // namespace

// The row groups as those who read ahead see them: objects without bytes, called by their numbers. To read one is to
// load it into the cache. It always ends well, since whoever needs a sample then meets what went wrong.
class ParquetDataset::RowGroups final : public Store {
 public:
  explicit RowGroups(const ParquetDataset& dataset) : dataset_(dataset) {}

  std::string description() const override { return dataset_.store_->description(); }
  bool is_remote() const override { return true; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing&) override {
    return absl::UnimplementedError("row groups are not listed");
  }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>&) override {
    return absl::UnimplementedError("row groups are not described");
  }
  void Read(const Range& range, Done done) override {
    uint64_t number = 0;
    STOKER_CHECK(absl::SimpleAtoi(range.object->name, &number));
    dataset_.LoadAhead(dataset_.PartAt(number), [done = std::move(done)] { done(absl::OkStatus()); });
  }

 private:
  const ParquetDataset& dataset_;
};

ParquetDataset::ParquetDataset(std::shared_ptr<Store> store, std::vector<ObjectInfo> shards, const Options& options)
    : store_(std::move(store)),
      shards_(std::move(shards)),
      name_(options.name),
      reader_(std::make_unique<ParquetReader>(options.program, Children())),
      row_groups_(std::make_unique<RowGroups>(*this)),
      loader_(std::make_unique<RowGroupLoader>(kLoaders)) {}

ParquetDataset::~ParquetDataset() = default;

absl::StatusOr<std::unique_ptr<ParquetDataset>> ParquetDataset::Open(const v1::Parquet& config,
                                                                     std::shared_ptr<Store> store,
                                                                     std::vector<ObjectInfo> shards,
                                                                     const Options& options) {
  std::unique_ptr<ParquetDataset> dataset(new ParquetDataset(std::move(store), std::move(shards), options));
  STOKER_ASSIGN_OR_RETURN(const ParquetTable table, dataset->FindTable(config, options));
  STOKER_RETURN_IF_ERROR(dataset->TakeFields(config, table));
  STOKER_RETURN_IF_ERROR(dataset->TakeGroups(table));
  STOKER_RETURN_IF_ERROR(dataset->SizeCache(config.cache()));
  dataset->fingerprint_ = dataset->Fingerprint();
  return dataset;
}

absl::StatusOr<ParquetTable> ParquetDataset::FindTable(const v1::Parquet& config, const Options& options) {
  if (options.beside) {
    auto found = options.beside();
    absl::Status status = found.status();
    if (status.ok()) status = LearnFacts(config, *reader_, *store_, *found);
    if (status.ok()) return found;
    warnings_.push_back(absl::StrCat("the index beside the shards is not used: ", status.message(),
                                     "; `stokerd index` writes it anew"));
  }
  const std::string store = store_->description();
  const std::string path = options.cache_dir.empty() ? "" : TablePath(options.cache_dir, store, shards_);
  absl::StatusOr<ParquetTable> table = absl::NotFoundError("no index is kept");
  if (!path.empty()) table = LoadTable(path, store, shards_);
  const bool is_wrong = !table.ok() && !absl::IsNotFound(table.status()) && !absl::IsFailedPrecondition(table.status());
  if (is_wrong && !path.empty())
    warnings_.push_back(absl::StrCat("indexed the shards anew; their index ", ShortPrintableName(path),
                                     " cannot be used: ", table.status().message()));
  const bool was_kept = table.ok();
  if (!was_kept)
    table = ReadTable(*reader_, *store_, shards_, options.threads, CountSamples(options.progress), nullptr);
  STOKER_RETURN_IF_ERROR(table.status());
  const size_t known = table->facts.size();
  STOKER_RETURN_IF_ERROR(LearnFacts(config, *reader_, *store_, *table));
  if (path.empty() || (was_kept && known > 0)) return table;
  if (const absl::Status stored = StoreTable(path, store, *table); !stored.ok())
    warnings_.push_back(absl::StrCat("the shards will be indexed anew at the next start: ", stored.message()));
  return table;
}

absl::StatusOr<ParquetTable> ParquetDataset::MakeTable(
    const v1::Parquet& config, Store& store, const std::vector<ObjectInfo>& shards, const Options& options,
    const std::function<void(uint64_t samples, uint64_t files)>& files, const std::atomic<bool>* stop) {
  ParquetReader reader(options.program, Children());
  STOKER_ASSIGN_OR_RETURN(ParquetTable table, ReadTable(reader, store, shards, options.threads, files, stop));
  STOKER_RETURN_IF_ERROR(LearnFacts(config, reader, store, table));
  return table;
}

absl::Status ParquetDataset::TakeFields(const v1::Parquet& config, const ParquetTable& table) {
  const auto& columns = FirstWithRows(table)->footer.columns;
  std::vector<absl::StatusOr<SourceField>> fields;
  std::vector<std::optional<StoredRows>> rows;
  fields.reserve(columns.size());
  rows.reserve(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    fields.push_back(absl::InvalidArgumentError(columns[i].why));
    rows.push_back(RowsOf(columns[i], table.facts[i]));
  }
  for (const uint32_t column : CandidateColumns(config.fields(), columns))
    fields[column] = FieldOf(columns[column], table.facts[column], !config.fields().empty());
  STOKER_ASSIGN_OR_RETURN(mapping_, MapColumns(config.fields(), columns, fields, rows));
  schema_ = mapping_.schema();
  warnings_.insert(warnings_.begin(), mapping_.warnings.begin(), mapping_.warnings.end());
  for (const MappedField& field : mapping_.fields) {
    columns_.push_back(columns[*ColumnOf(columns, field.from)]);
    auto wanted = WantedOf(columns_.back(), field.field);
    if (!wanted.ok())
      return absl::InvalidArgumentError(absl::StrCat("fields.", field.field.name, ".", wanted.status().message()));
    wanted_.push_back(*std::move(wanted));
  }
  ChoiceOf(FieldSet::All());  // the first
  return absl::OkStatus();
}

absl::Status ParquetDataset::TakeGroups(const ParquetTable& table) {
  for (size_t i = 0; i < shards_.size(); ++i) {
    STOKER_ASSIGN_OR_RETURN(auto groups, GroupsOf(table.shards[i].footer, shards_[i]));
    for (Group& group : groups) {
      group.begin = groups_.empty() ? 0 : groups_.back().end;
      group.end = group.begin + group.stored.rows;
      groups_.push_back(std::move(group));
    }
  }
  return absl::OkStatus();
}

// Returns the row groups of a shard that have rows, without their ids.
absl::StatusOr<std::vector<ParquetDataset::Group>> ParquetDataset::GroupsOf(const ParquetFooter& footer,
                                                                            const ObjectInfo& shard) const {
  std::vector<uint32_t> places;
  for (const ParquetColumn& column : columns_) {
    const auto place = ColumnOf(footer.columns, column.name);
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
    Group group{.stored = {.shard = &shard, .rows = stored.rows, .footer = stored.footer},
                .number = i,
                .shard_row = shard_row,
                .size = {.loaded = kGroupBytes + kColumnBytes * places.size()}};
    for (size_t field = 0; field < places.size(); ++field) {
      const ParquetChunk& chunk = stored.chunks[places[field]];
      if (!AddColumn(chunk, schema_[field], stored.rows, group.size)) return TooLarge(shard, i, stored.rows);
      group.stored.columns.push_back(wanted_[field]);
      group.stored.columns.back().column = places[field];
      group.stored.chunks.push_back(chunk);
    }
    shard_row += stored.rows;
    groups.push_back(std::move(group));
  }
  return groups;
}

absl::Status ParquetDataset::SizeCache(const std::string& cache) {
  DecodedSizes sizes = {.count = groups_.size()};
  for (const Group& group : groups_) {
    sizes.all += group.size.loaded;
    sizes.largest = std::max(sizes.largest, group.size.loaded + group.size.loading);
    sizes.rows = std::max(sizes.rows, group.stored.rows);
  }
  const auto bytes = CacheBytes(cache, sizes, "row group", warnings_);
  if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("parquet.cache: ", bytes.status().message()));
  cache_bytes_ = *bytes;
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

const ParquetDataset::Choice& ParquetDataset::ChoiceOf(FieldSet wanted) const {
  absl::MutexLock lock(&mutex_);
  for (const Choice& choice : choices_)
    if (choice.wanted == wanted) return choice;
  if (choices_.size() == kMostChoices) return choices_.front();
  return choices_.emplace_back(Choice{.wanted = wanted, .number = choices_.size(), .fields = FieldsOf(wanted)});
}

std::vector<size_t> ParquetDataset::FieldsOf(FieldSet wanted) const {
  std::vector<size_t> fields;
  for (size_t field = 0; field < schema_.size(); ++field)
    if (wanted.Has(field)) fields.push_back(field);
  return fields;
}

uint64_t ParquetDataset::NumberOf(const Part& part) const {
  return part.choice.number * groups_.size() + static_cast<uint64_t>(&part.group - groups_.data());
}

ParquetDataset::Part ParquetDataset::PartAt(uint64_t number) const {
  absl::MutexLock lock(&mutex_);
  STOKER_CHECK(number / groups_.size() < choices_.size());
  return {groups_[number % groups_.size()], choices_[number / groups_.size()]};
}

RowGroupCache::Size ParquetDataset::SizeOf(const Part& part) const {
  if (part.choice.number == 0) return part.group.size;
  RowGroupCache::Size size = {.loaded = kGroupBytes + kColumnBytes * part.choice.fields.size()};
  for (const size_t field : part.choice.fields)
    STOKER_CHECK(AddColumn(part.group.stored.chunks[field], schema_[field], part.group.stored.rows, size));
  return size;
}

absl::StatusOr<std::unique_ptr<const RowGroup>> ParquetDataset::Decode(const Part& part) const {
  const StoredRowGroup& all = part.group.stored;
  if (part.choice.number == 0) return reader_->Decode(*store_, all, part.group.number);
  StoredRowGroup chosen = {.shard = all.shard, .rows = all.rows, .footer = all.footer};
  for (const size_t field : part.choice.fields) {
    chosen.columns.push_back(all.columns[field]);
    chosen.chunks.push_back(all.chunks[field]);
  }
  return reader_->Decode(*store_, chosen, part.group.number);
}

void ParquetDataset::LoadAhead(const Part& part, std::function<void()> done) const {
  const auto begin = [this, part] { loader_->Add([this, part] { cache_->EndAhead(NumberOf(part), Decode(part)); }); };
  cache_->LoadAhead(NumberOf(part), SizeOf(part), begin, std::move(done));
}

StoredSamples::Place ParquetDataset::PlaceOf(uint64_t id, FieldSet wanted) const {
  return {NumberOf({GroupOf(id), ChoiceOf(wanted)}), 0, 0};
}

Store& ParquetDataset::StoreOf(uint64_t) const { return *row_groups_; }

ObjectInfo ParquetDataset::ObjectAt(uint64_t object) const { return {.name = absl::StrCat(object)}; }

void ParquetDataset::EndRead(uint64_t object) const { cache_->LetGo(object); }

absl::Status ParquetDataset::Read(uint64_t id, SampleBytes& sample) const {
  const Part part = {GroupOf(id), ChoiceOf(sample.wanted)};
  sample.fields.resize(schema_.size());
  const auto named = [&](const absl::Status& status) { return RowError(name_, NameOf(id), status); };
  const auto take = [&](const RowGroup& rows, const std::vector<size_t>& fields) {
    for (size_t i = 0; i < fields.size(); ++i) {
      const size_t field = fields[i];
      if (!sample.wanted.Has(field)) continue;
      const auto taken = TakeRow(rows, i, id - part.group.begin, schema_[field], sample.fields[field]);
      if (!taken.ok()) return named(NamedError("the column " + columns_[field].name, taken));
    }
    return absl::OkStatus();
  };
  absl::Status status;
  {
    const auto decoded = cache_->Get(NumberOf(part), SizeOf(part), [&] { return Decode(part); });
    if (decoded.ok()) return take(**decoded, part.choice.fields);
    status = decoded.status();
  }
  if (!absl::IsDataLoss(status) || part.choice.wanted == sample.wanted) return named(status);
  // What is wrong may be with a column that is not wanted, of one choice too many.
  const Choice alone = {.wanted = sample.wanted, .number = kMostChoices, .fields = FieldsOf(sample.wanted)};
  const auto decoded = Decode({part.group, alone});
  return decoded.ok() ? take(**decoded, alone.fields) : named(decoded.status());
}

}  // namespace stoker
