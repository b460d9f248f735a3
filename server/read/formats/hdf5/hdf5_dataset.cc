#include "server/read/formats/hdf5/hdf5_dataset.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/check.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/for_each.h"
#include "server/read/formats/hdf5/global_heap.h"
#include "server/read/formats/hdf5/hdf5_fields.h"
#include "server/read/formats/mapping/image_magic.h"
#include "server/read/formats/mapping/variable_field.h"
#include "server/read/printable_name.h"
#include "server/read/rows/row_fields.h"

namespace stoker {
namespace {

// So many rows show whether bytes are images.
constexpr uint64_t kShowing = 4;

uint64_t BlocksOf(uint64_t rows, uint64_t block_rows) { return rows / block_rows + (rows % block_rows > 0 ? 1 : 0); }

// Returns the bytes of a row as it is read, where all have the same.
uint64_t RowBytes(const Hdf5Column& column) {
  uint64_t bytes = column.width;
  for (const int64_t extent : column.shape) bytes *= static_cast<uint64_t>(extent);
  return bytes;
}

// Whether rows of the column may lie at these places.
bool AreOf(const Hdf5Places& places, const Hdf5Column& column) {
  if (places.runs.empty()) return false;
  if (places.are_references) return column.type == ColumnType::kBinary && column.width == 0;
  return places.row_bytes == RowBytes(column);
}

// Replaces `bytes` by a row's value. One without bytes is null in what was read, and no rows.
absl::Status TakeValue(const RowGroup& rows, size_t column, uint64_t row, const SourceField& field,
                       std::vector<uint8_t>& bytes) {
  if (field.kind != SourceField::Kind::kRows || rows.SizeOf(column, row) != kNullRow)
    return TakeRow(rows, column, row, field, bytes);
  bytes.clear();
  return absl::OkStatus();
}

absl::Status NoRow(const std::string& description) {
  return absl::InvalidArgumentError(absl::StrCat(description, ": there is no row in its files"));
}

}  // namespace

Hdf5Dataset::Hdf5Dataset(std::shared_ptr<Store> store, std::vector<ObjectInfo> shards, const Options& options)
    : store_(std::move(store)),
      shards_(std::move(shards)),
      name_(options.name),
      reader_(std::make_unique<Hdf5Reader>(store_, options.program,
                                           std::max(1, static_cast<int>(std::thread::hardware_concurrency())),
                                           options.cpu_time)) {}

absl::StatusOr<std::unique_ptr<Hdf5Dataset>> Hdf5Dataset::Open(const v1::Hdf5& config, std::shared_ptr<Store> store,
                                                               std::vector<ObjectInfo> shards, const Options& options) {
  std::unique_ptr<Hdf5Dataset> dataset(new Hdf5Dataset(std::move(store), std::move(shards), options));
  STOKER_RETURN_IF_ERROR(dataset->Learn(config));
  STOKER_RETURN_IF_ERROR(dataset->LookIntoFiles(options));
  STOKER_RETURN_IF_ERROR(dataset->SizeCache(config.cache()));
  dataset->fingerprint_ = dataset->Fingerprint();
  return dataset;
}

// Learns the fields from the first file that has rows.
absl::Status Hdf5Dataset::Learn(const v1::Hdf5& config) {
  for (size_t i = 0; i < shards_.size(); ++i) {
    const Hdf5Reader::File file = {i, &shards_[i]};
    STOKER_ASSIGN_OR_RETURN(const std::vector<Hdf5Column> columns, reader_->Describe(file));
    const bool has_rows = std::any_of(columns.begin(), columns.end(), [&](const Hdf5Column& column) {
      return IsCandidate(config.fields(), column) && column.rows > 0;
    });
    if (!has_rows && i + 1 < shards_.size()) continue;
    std::vector<absl::StatusOr<SourceField>> fields;
    fields.reserve(columns.size());
    for (const Hdf5Column& column : columns)
      fields.push_back(IsCandidate(config.fields(), column) ? LearnField(file, column)
                                                            : absl::InvalidArgumentError(column.why));
    auto mapping = MapColumns(config.fields(), columns, fields);
    if (!mapping.ok()) return NamedError(shards_[i].name, mapping.status());
    mapping_ = *std::move(mapping);
    if (const absl::Status lengths = CheckLengths(mapping_, columns); !lengths.ok())
      return NamedError(shards_[i].name, lengths);
    schema_ = mapping_.schema();
    warnings_ = mapping_.warnings;
    for (const MappedField& field : mapping_.fields) columns_.push_back(columns[PlaceOf(columns, field.from)]);
    return absl::OkStatus();
  }
  return NoRow(description());
}

// Returns the field that a column is. Whether bytes are images, the first rows show.
absl::StatusOr<SourceField> Hdf5Dataset::LearnField(const Hdf5Reader::File& file, const Hdf5Column& column) const {
  if (column.type != ColumnType::kBinary) return DenseField(column.type, column.shape);
  const auto rows = reader_->Read(file, {column.path}, 0, std::min(column.rows, kShowing));
  if (!rows.ok()) return absl::InvalidArgumentError(absl::StrCat("cannot be read: ", rows.status().message()));
  uint64_t row = 0;
  while (row < (*rows)->rows() && (*rows)->SizeOf(0, row) > kMostRowBytes) ++row;
  if (row == (*rows)->rows()) return absl::InvalidArgumentError("has no value in its first rows");
  return FieldOfBytes(BeginsAsImage((*rows)->ValueOf(0, row)), {}, column.width);
}

absl::Status Hdf5Dataset::LookIntoFiles(const Options& options) {
  files_.resize(shards_.size());
  absl::Mutex mutex;
  uint64_t rows = 0;
  STOKER_RETURN_IF_ERROR(ForEach(shards_.size(), std::max(options.threads, 1), [&](int, uint64_t i) -> absl::Status {
    STOKER_ASSIGN_OR_RETURN(const auto columns, reader_->Describe({i, &shards_[i]}));
    STOKER_ASSIGN_OR_RETURN(files_[i], FileOf(columns, shards_[i]));
    LearnPlaces(i);
    absl::MutexLock lock(&mutex);
    rows += files_[i].end;
    if (options.progress) options.progress(rows);
    return absl::OkStatus();
  }));
  uint64_t begin = 0, blocks = 0;
  for (File& file : files_) {
    const uint64_t file_rows = file.end;
    file.begin = begin;
    file.end = begin += file_rows;
    for (Blocks& field : file.blocks) {
      field.first = blocks;
      if (field.rows > 0) blocks += BlocksOf(file_rows, field.rows);
    }
  }
  return begin > 0 ? absl::OkStatus() : NoRow(description());
}

// Returns what a file has, as if it were the only one.
absl::StatusOr<Hdf5Dataset::File> Hdf5Dataset::FileOf(const std::vector<Hdf5Column>& columns,
                                                      const ObjectInfo& shard) const {
  File file;
  for (size_t field = 0; field < columns_.size(); ++field) {
    const size_t place = PlaceOf(columns, columns_[field].path);
    if (place == columns.size() || !columns[place].HasRowsOf(columns_[field])) {
      const bool has_why = place < columns.size() && columns[place].type == ColumnType::kOther;
      return NamedError(shard.name,
                        absl::DataLossError(absl::StrCat("has no dataset ", ShortPrintableName(columns_[field].path),
                                                         " of the type and shape that the others have",
                                                         has_why ? absl::StrCat(": it ", columns[place].why) : "")));
    }
    const uint64_t block_rows = columns[place].block_rows;
    if (block_rows > kMostRowGroupBytes / std::max<uint64_t>(DenseBytes(schema_[field]), 1))
      return NamedError(shard.name, absl::DataLossError("what it has cannot be"));
    file.end = columns[place].rows;
    file.blocks.push_back({.rows = block_rows});
  }
  const absl::Status lengths = CheckLengths(mapping_, columns);
  if (!lengths.ok()) return NamedError(shard.name, lengths);
  return file;
}

// Learns where rows lie that need not be decoded.
void Hdf5Dataset::LearnPlaces(size_t number) {
  File& file = files_[number];
  file.places.resize(columns_.size());
  std::vector<size_t> fields;
  std::vector<std::string> paths;
  for (size_t field = 0; field < columns_.size(); ++field) {
    if (file.blocks[field].rows > 0) continue;
    fields.push_back(field);
    paths.push_back(columns_[field].path);
  }
  if (fields.empty() || file.end == 0) return;
  // Where it is not told, rows are decoded, and what is wrong with the file is said then.
  auto places = reader_->Places({number, &shards_[number]}, paths, file.end);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (places.ok() && AreOf((*places)[i], columns_[fields[i]])) {
      file.places[fields[i]] = std::move((*places)[i]);
    } else {
      file.singles.push_back(fields[i]);
    }
  }
}

absl::Status Hdf5Dataset::SizeCache(const std::string& cache) {
  DecodedSizes sizes;
  for (const File& file : files_) {
    uint64_t of_sample = 0;
    for (size_t field = 0; field < file.blocks.size(); ++field) {
      const uint64_t rows = file.blocks[field].rows, row_bytes = DenseBytes(schema_[field]) + sizeof(uint64_t);
      if (rows == 0) continue;
      of_sample += rows * row_bytes;
      sizes.all += (file.end - file.begin) * row_bytes;
      sizes.count += BlocksOf(file.end - file.begin, rows);
      sizes.rows = std::max(sizes.rows, rows);
    }
    sizes.largest = std::max(sizes.largest, of_sample);
  }
  const auto bytes = CacheBytes(cache, sizes, "chunks", warnings_);
  if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("hdf5.cache: ", bytes.status().message()));
  cache_bytes_ = *bytes;
  cache_ = std::make_unique<RowGroupCache>(cache_bytes_);
  return absl::OkStatus();
}

std::string Hdf5Dataset::Fingerprint() const {
  stoker::Fingerprint fingerprint("stoker.hdf5.v1");
  const auto add_text = [&](std::string_view text) {
    fingerprint.AddNumber(text.size());
    fingerprint.AddBytes(text);
  };
  add_text(mapping_.identity());
  fingerprint.AddNumber(shards_.size());
  for (size_t i = 0; i < shards_.size(); ++i) {
    add_text(shards_[i].name);
    fingerprint.AddNumber(shards_[i].size);
    fingerprint.AddNumber(files_[i].end - files_[i].begin);
  }
  return fingerprint.Finish();
}

uint64_t Hdf5Dataset::resident_bytes() const {
  uint64_t bytes = sizeof(*this) + files_.capacity() * sizeof(File) + cache_bytes_;
  for (const File& file : files_) {
    for (const Hdf5Places& places : file.places) bytes += sizeof(places) + places.runs.capacity() * sizeof(uint64_t);
    bytes += file.blocks.capacity() * sizeof(Blocks) + file.singles.capacity() * sizeof(size_t);
  }
  for (const ObjectInfo& shard : shards_) bytes += sizeof(shard) + shard.name.capacity() + shard.version.capacity();
  return bytes;
}

std::string Hdf5Dataset::description() const {
  return absl::StrCat("HDF5 files at ", store_->description(), ", ", shards_.size(), " shards");
}

std::string Hdf5Dataset::SampleName(uint64_t id) const { return PrintableName(NameOf(id)); }

std::string Hdf5Dataset::NameOf(uint64_t id) const {
  const size_t file = FileWith(id);
  return absl::StrCat(shards_[file].name, ":", id - files_[file].begin);
}

size_t Hdf5Dataset::FileWith(uint64_t id) const {
  STOKER_CHECK(id < size());
  return std::upper_bound(files_.begin(), files_.end(), id, [](uint64_t i, const File& file) { return i < file.end; }) -
         files_.begin();
}

absl::Status Hdf5Dataset::Read(uint64_t id, SampleBytes& sample) const {
  const size_t number = FileWith(id);
  const File& file = files_[number];
  const uint64_t row = id - file.begin;
  sample.fields.resize(schema_.size());
  absl::Status read = ReadSingles(number, row, sample);
  for (size_t field = 0; read.ok() && field < schema_.size(); ++field) {
    if (!sample.wanted.Has(field)) continue;
    if (file.blocks[field].rows > 0) read = ReadBlock(number, field, row, sample.fields[field]);
    if (!file.places[field].runs.empty()) read = ReadPlace(number, field, row, sample.fields[field]);
  }
  return read.ok() ? read : RowError(name_, NameOf(id), read);
}

absl::Status Hdf5Dataset::ReadSingles(size_t number, uint64_t row, SampleBytes& sample) const {
  std::vector<size_t> fields;
  std::vector<std::string> paths;
  for (const size_t field : files_[number].singles) {
    if (!sample.wanted.Has(field)) continue;
    fields.push_back(field);
    paths.push_back(columns_[field].path);
  }
  if (fields.empty()) return absl::OkStatus();
  STOKER_ASSIGN_OR_RETURN(const auto rows, reader_->Read({number, &shards_[number]}, paths, row, 1));
  for (size_t i = 0; i < fields.size(); ++i) {
    const size_t field = fields[i];
    const absl::Status taken = TakeValue(*rows, i, 0, schema_[field], sample.fields[field]);
    if (!taken.ok()) return NamedError("the dataset " + columns_[field].path, taken);
  }
  return absl::OkStatus();
}

absl::Status Hdf5Dataset::ReadPlace(size_t number, size_t field, uint64_t row, std::vector<uint8_t>& bytes) const {
  const ObjectInfo& shard = shards_[number];
  const Hdf5Places& places = files_[number].places[field];
  const uint64_t offset = places.runs[row / places.run_rows] + row % places.run_rows * places.row_bytes;
  const std::string& path = columns_[field].path;
  std::array<uint8_t, kReferenceBytes> stored;
  if (places.are_references) {
    STOKER_RETURN_IF_ERROR(ReadNow(*store_, {&shard, offset, stored}));
    const HeapReference reference = ParseHeapReference(stored);
    const bool is_rows = schema_[field].kind == SourceField::Kind::kRows;
    bytes.clear();
    if (is_rows && reference.size == 0) return absl::OkStatus();
    absl::Status read = CheckRow(reference.size == 0 ? kNullRow : reference.size, schema_[field]);
    if (read.ok()) read = ReadHeapObject(*store_, shard, reference, bytes);
    if (read.ok()) read = CheckRows(schema_[field], bytes);
    return absl::IsDataLoss(read) ? NamedError("the dataset " + path, read) : read;
  }
  if (const absl::Status row_is = CheckRow(static_cast<uint32_t>(places.row_bytes), schema_[field]); !row_is.ok())
    return NamedError("the dataset " + path, row_is);
  bytes.resize(places.row_bytes);
  STOKER_RETURN_IF_ERROR(ReadNow(*store_, {&shard, offset, bytes}));
  const absl::Status rows = CheckRows(schema_[field], bytes);
  return rows.ok() ? rows : NamedError("the dataset " + path, rows);
}

// No other block is in use by this thread: the cache may wait until one is dropped.
absl::Status Hdf5Dataset::ReadBlock(size_t number, size_t field, uint64_t row, std::vector<uint8_t>& bytes) const {
  const File& file = files_[number];
  const Blocks& blocks = file.blocks[field];
  const uint64_t block = row / blocks.rows, begin = block * blocks.rows;
  const uint64_t rows = std::min(blocks.rows, file.end - file.begin - begin);
  const auto read =
      cache_->Get(blocks.first + block, {.loaded = rows * (DenseBytes(schema_[field]) + sizeof(uint64_t))}, [&] {
        return reader_->Read({number, &shards_[number]}, {columns_[field].path}, begin, rows);
      });
  if (!read.ok()) return read.status();
  const absl::Status taken = TakeRow(**read, 0, row - begin, schema_[field], bytes);
  return taken.ok() ? taken : NamedError("the dataset " + columns_[field].path, taken);
}

}  // namespace stoker
