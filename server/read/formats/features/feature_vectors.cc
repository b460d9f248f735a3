#include "server/read/formats/features/feature_vectors.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

absl::StatusOr<NpyHeader> HeaderOf(Store& store, const ObjectInfo& object) {
  std::vector<uint8_t> begin(std::min(object.size, kNpyHeaderBytes));
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&object, 0, begin}));
  auto header = ParseNpyHeader({reinterpret_cast<const char*>(begin.data()), begin.size()});
  if (!header.ok()) return NamedError(object.name, header.status());
  return header;
}

SourceSchema SchemaOf(const NpyHeader& header, bool rows) {
  SourceField field = {.name = "features", .dtype = header.dtype, .shape = header.shape};
  if (rows) field.shape.erase(field.shape.begin());
  return {field};
}

// Returns the bytes of one sample, or one more than a sample may have.
uint64_t BytesOf(const SourceField& field) {
  uint64_t bytes = ByteSize(field.dtype);
  for (const int64_t dimension : field.shape) {
    if (static_cast<uint64_t>(dimension) > kMaxSampleBytes / bytes) return kMaxSampleBytes + 1;
    bytes *= dimension;
  }
  return bytes;
}

std::string WordsOf(const SourceField& field) {
  return absl::StrCat(DtypeName(field.dtype), " [", absl::StrJoin(field.shape, ", "), "]");
}

}  // namespace

FeatureVectors::FeatureVectors(const NpyHeader& first, bool rows)
    : rows_(rows), schema_(SchemaOf(first, rows)), sample_bytes_(BytesOf(schema_[0])) {}

absl::StatusOr<std::unique_ptr<FeatureVectors>> FeatureVectors::Create(const v1::FeatureVectors& config, Store& store,
                                                                       const std::vector<ObjectInfo>& objects) {
  STOKER_CHECK(!objects.empty());
  STOKER_ASSIGN_OR_RETURN(const NpyHeader first, HeaderOf(store, objects[0]));
  if (config.rows() && first.shape.empty())
    return NamedError(objects[0].name, absl::InvalidArgumentError("is a scalar: it has no rows"));
  std::unique_ptr<FeatureVectors> format(new FeatureVectors(first, config.rows()));
  if (format->sample_bytes_ <= kMaxSampleBytes) return format;
  return NamedError(objects[0].name, absl::InvalidArgumentError(
                                         absl::StrCat("a sample would have more than ", kMaxSampleBytes,
                                                      " bytes; are its rows the samples? Then set `rows: true`")));
}

std::string FeatureVectors::identity() const {
  return absl::StrCat("feature_vectors.v1 ", rows_ ? "rows of " : "files of ", WordsOf(schema_[0]));
}

absl::StatusOr<ShardIndex::Rows> FeatureVectors::Index(Store& store, const ObjectInfo& shard) const {
  STOKER_ASSIGN_OR_RETURN(const NpyHeader header, HeaderOf(store, shard));
  const bool has_rows = !rows_ || !header.shape.empty();
  const SourceSchema schema = has_rows ? SchemaOf(header, rows_) : schema_;
  if (!has_rows || schema[0].dtype != schema_[0].dtype || schema[0].shape != schema_[0].shape)
    return NamedError(shard.name,
                      absl::DataLossError(absl::StrCat("has samples of ", WordsOf(schema[0]),
                                                       ", where the first file has ", WordsOf(schema_[0]))));
  const uint64_t count = rows_ ? header.shape[0] : 1;
  // Divided rather than multiplied, which might overflow.
  if ((shard.size - header.bytes) / sample_bytes_ != count || (shard.size - header.bytes) % sample_bytes_ != 0)
    return NamedError(shard.name, absl::DataLossError(absl::StrCat("has ", shard.size - header.bytes,
                                                                   " bytes of elements, where its header tells of ",
                                                                   count, " samples of ", sample_bytes_)));
  ShardIndex::Rows rows(0);
  for (uint64_t i = 0; i < count; ++i)
    rows.Add(rows_ ? "" : shard.name, {header.bytes + i * sample_bytes_, static_cast<uint32_t>(sample_bytes_)}, {});
  return rows;
}

absl::Status FeatureVectors::Parse(std::span<const uint8_t> stored, std::span<const StoredPart>,
                                   SampleBytes& sample) const {
  if (stored.size() != sample_bytes_) return absl::DataLossError("has another size than its header told");
  sample.fields[0].assign(stored.begin(), stored.end());
  return absl::OkStatus();
}

}  // namespace stoker
