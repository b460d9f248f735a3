#include "server/read/formats/tfrecord/tfrecord.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/formats/mapping/image_magic.h"
#include "server/read/formats/tfrecord/example.h"
#include "server/read/formats/tfrecord/foreign_index.h"
#include "server/read/formats/tfrecord/record.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

// Returns the data of the first record.
absl::StatusOr<std::vector<uint8_t>> FirstRecord(Store& store, const std::vector<ObjectInfo>& shards) {
  const auto shard = std::find_if(shards.begin(), shards.end(), [](const ObjectInfo& s) { return s.size > 0; });
  if (shard == shards.end()) return absl::InvalidArgumentError("there is no record in any TFRecord file");
  // Walking over a file that is cut to the header's own bytes would tell of its end, hence this one's own reading.
  std::vector<uint8_t> record(std::min(shard->size, kRecordHeaderBytes));
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&*shard, 0, record}));
  ShardIndex::Rows rows(0);
  const bool is_header = record.size() == kRecordHeaderBytes && ParseRecordHeader(record).ok();
  const uint64_t length = is_header ? *ParseRecordHeader(record) : 0;
  if (!is_header || shard->size < kRecordFramingBytes || length > kMaxSampleBytes ||
      length > shard->size - kRecordFramingBytes) {
    STOKER_RETURN_IF_ERROR(WalkRecords(store, *shard, rows));  // It says what is wrong.
    return NamedError(shard->name, absl::DataLossError("changed while it was read"));
  }
  record.resize(length + kRecordFramingBytes);
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&*shard, 0, record}));
  const auto data = ParseRecord(record);
  if (!data.ok()) return NamedError(shard->name, data.status());
  return std::vector<uint8_t>(data->begin(), data->end());
}

// Returns what fields of a feature can be, or why it cannot.
absl::StatusOr<SourceField> FieldOf(const Feature& feature) {
  STOKER_ASSIGN_OR_RETURN(const uint64_t count, CountValues(feature));
  if (count == 0) return absl::InvalidArgumentError("has no value in the first record");
  SourceField field;
  if (feature.kind == Feature::Kind::kBytes) {
    STOKER_ASSIGN_OR_RETURN(const auto values, BytesValues(feature));
    if (values.size() > 1) return absl::InvalidArgumentError("has several values of bytes");
    if (!BeginsAsImage(values[0])) return absl::InvalidArgumentError("is bytes of no fixed size, and no image");
    field.kind = SourceField::Kind::kEncodedImage;
    return field;
  }
  field.dtype = feature.kind == Feature::Kind::kInts ? v1::DTYPE_INT64 : v1::DTYPE_FLOAT32;
  if (count > 1) field.shape = {static_cast<int64_t>(count)};
  if (DenseBytes(field) > kMaxSampleBytes) return absl::InvalidArgumentError("is too large");
  return field;
}

// Returns what a feature is where records have any number of values. A list without values may not tell its type.
std::optional<StoredRows> RowsOf(const Feature& feature) {
  switch (feature.kind) {
    case Feature::Kind::kBytes: return StoredRows{.are_bytes = true};
    case Feature::Kind::kFloats: return StoredRows{.dtype = v1::DTYPE_FLOAT32};
    case Feature::Kind::kInts: return StoredRows{.dtype = v1::DTYPE_INT64};
    case Feature::Kind::kNone: break;
  }
  return std::nullopt;
}

// Returns the features by their names.
absl::StatusOr<std::vector<StoredColumn>> ColumnsOf(std::span<const uint8_t> example) {
  std::map<std::string, StoredColumn> features;
  STOKER_RETURN_IF_ERROR(VisitFeatures(example, [&](const Feature& feature) {
    const std::string name(feature.name);
    features.insert_or_assign(name, StoredColumn{name, FieldOf(feature), RowsOf(feature)});
    return absl::OkStatus();
  }));
  std::vector<StoredColumn> columns;
  columns.reserve(features.size());
  for (auto& [name, column] : features) columns.push_back(std::move(column));
  return columns;
}

// Returns the usual mapping that `columns` have: none where they have no usual names.
FieldMap UsualFields(const std::vector<StoredColumn>& columns) {
  const auto is = [&](const std::string& name, SourceField::Kind kind) {
    return std::any_of(columns.begin(), columns.end(), [&](const StoredColumn& column) {
      return column.from == name && column.field.ok() && column.field->kind == kind;
    });
  };
  static const std::pair<const char*, const char*> kUsual[] = {{"image/encoded", "image/class/label"},
                                                               {"image", "label"}};
  FieldMap fields;
  for (const auto& [image, label] : kUsual) {
    if (!is(image, SourceField::Kind::kEncodedImage) || !is(label, SourceField::Kind::kDense)) continue;
    fields["image"].set_from(image);
    fields["label"].set_from(label);
    break;
  }
  return fields;
}

// Replaces `bytes` by the one value of a feature, or by nothing where it `may_be_empty` and has none.
absl::Status ReadBytes(const Feature& feature, bool may_be_empty, std::vector<uint8_t>& bytes) {
  STOKER_ASSIGN_OR_RETURN(const auto values, BytesValues(feature));
  bytes.clear();
  if (values.empty() && may_be_empty) return absl::OkStatus();
  if (values.size() != 1)
    return absl::DataLossError(
        absl::StrCat("has ", values.size(), " values, where ", may_be_empty ? "one is" : "an image is"));
  bytes.assign(values[0].begin(), values[0].end());
  return absl::OkStatus();
}

// Replaces `bytes` by all values of a feature, of which there may be none. Those of uint8 are bytes: no list has such
// numbers.
absl::Status ReadRows(const Feature& feature, v1::Dtype dtype, std::vector<uint8_t>& bytes) {
  bytes.clear();
  if (feature.kind == Feature::Kind::kNone) return absl::OkStatus();
  if (dtype == v1::DTYPE_UINT8) return ReadBytes(feature, /*may_be_empty=*/true, bytes);
  STOKER_ASSIGN_OR_RETURN(const uint64_t count, CountValues(feature));
  if (count > kMaxSampleBytes / ByteSize(dtype))
    return absl::DataLossError(absl::StrCat("has ", count, " values, more than a sample can have"));
  return dtype == v1::DTYPE_INT64 ? IntValues(feature, count, bytes) : FloatValues(feature, count, bytes);
}

absl::Status ReadField(const Feature& feature, const SourceField& field, std::vector<uint8_t>& bytes) {
  if (field.kind == SourceField::Kind::kRows) return ReadRows(feature, field.dtype, bytes);
  const uint64_t count = field.shape.empty() ? 1 : field.shape[0];
  if (field.kind == SourceField::Kind::kDense)
    return field.dtype == v1::DTYPE_INT64 ? IntValues(feature, count, bytes) : FloatValues(feature, count, bytes);
  return ReadBytes(feature, /*may_be_empty=*/false, bytes);
}

bool ConsumeEnd(std::string_view end, std::string_view& text) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

// Removes the digits at the end of `text`, if they are at least five, as in "-00017-of-01024".
bool ConsumeNumberEnd(std::string_view& text) {
  const size_t digits = text.size() - (text.find_last_not_of("0123456789") + 1);
  text.remove_suffix(digits);
  return digits >= 5;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TfRecord>> TfRecord::Create(const v1::TfRecord& config, Store& store,
                                                           const std::vector<ObjectInfo>& shards, Indexes indexes) {
  STOKER_ASSIGN_OR_RETURN(const auto example, FirstRecord(store, shards));
  STOKER_ASSIGN_OR_RETURN(const auto columns, ColumnsOf(example));
  const FieldMap asked = config.fields().empty() ? UsualFields(columns) : config.fields();
  STOKER_ASSIGN_OR_RETURN(FieldMapping mapping, MapFields(asked, columns, "feature"));
  return std::unique_ptr<TfRecord>(new TfRecord(std::move(mapping), std::move(indexes)));
}

bool TfRecord::IsShardName(std::string_view name) {
  std::string_view base = name.substr(name.rfind('/') + 1);
  if (IsForeignIndexName(base)) return false;
  if (base.find(".tfrec") != base.npos) return true;
  return ConsumeNumberEnd(base) && ConsumeEnd("-of-", base) && ConsumeNumberEnd(base) && base.ends_with('-');
}

absl::StatusOr<ObjectInfo> TfRecord::IndexOf(Store& store, const ObjectInfo& shard) const {
  for (const std::string& name : ForeignIndexNames(shard.name)) {
    if (const auto found = indexes_.found.find(name); found != indexes_.found.end()) return found->second;
    if (indexes_.all_found) continue;
    auto described = store.Describe({name});
    if (described.ok()) return std::move((*described)[0]);
    // Whoever may not read all names of a bucket is not told which ones there are.
    if (!absl::IsNotFound(described.status()) && !absl::IsPermissionDenied(described.status()))
      return described.status();
  }
  return ObjectInfo();
}

absl::StatusOr<ShardIndex::Rows> TfRecord::Index(Store& store, const ObjectInfo& shard) const {
  ShardIndex::Rows rows(parts());
  STOKER_ASSIGN_OR_RETURN(const ObjectInfo index, IndexOf(store, shard));
  if (index.name.empty()) {
    STOKER_RETURN_IF_ERROR(WalkRecords(store, shard, rows));
    return rows;
  }
  // A line has at most two numbers of 20 digits, and a record 16 bytes.
  if (index.size / 42 > shard.size / kRecordFramingBytes)
    return NamedError(index.name, absl::DataLossError("is too large for an index of its shard: remove it"));
  std::string text(index.size, '\0');
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&index, 0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}}));
  const absl::Status parsed = ParseForeignIndex(text, shard.size, rows);
  if (parsed.ok()) return rows;
  return NamedError(index.name, absl::DataLossError(absl::StrCat("does not fit ", ShortPrintableName(shard.name), ": ",
                                                                 parsed.message(), "; make it anew, or remove it")));
}

absl::Status TfRecord::Parse(std::span<const uint8_t> stored, std::span<const StoredPart>, SampleBytes& sample) const {
  STOKER_ASSIGN_OR_RETURN(const auto example, ParseRecord(stored));
  // Where several features have one name the last one counts, as in any map.
  std::vector<std::optional<Feature>> features(schema_.size());
  STOKER_RETURN_IF_ERROR(VisitFeatures(example, [&](const Feature& feature) {
    for (size_t i = 0; i < features.size(); ++i)
      if (mapping_.fields[i].from == feature.name) features[i] = feature;
    return absl::OkStatus();
  }));
  for (size_t i = 0; i < features.size(); ++i) {
    if (!sample.wanted.Has(i)) continue;
    const std::string& name = mapping_.fields[i].from;
    if (!features[i].has_value())
      return absl::DataLossError(absl::StrCat("there is no feature ", ShortPrintableName(name)));
    const absl::Status read = ReadField(*features[i], schema_[i], sample.fields[i]);
    if (!read.ok()) return NamedError("the feature " + name, read);
  }
  return absl::OkStatus();
}

}  // namespace stoker
