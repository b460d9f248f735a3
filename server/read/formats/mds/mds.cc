#include "server/read/formats/mds/mds.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

using Bytes = std::span<const uint8_t>;

absl::StatusOr<MdsIndex> ReadIndex(Store& store, const ObjectInfo& object) {
  if (object.size > kMostMdsIndexBytes)
    return absl::DataLossError(absl::StrCat("has ", object.size, " bytes, above ", kMostMdsIndexBytes));
  std::string text(object.size, '\0');
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&object, 0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}}));
  return ParseMdsIndex(text);
}

// Returns the objects of the shards of `index`, whose names begin with `folder`, in its order.
absl::StatusOr<std::vector<ObjectInfo>> DescribeShards(Store& store, const std::string& folder, const MdsIndex& index) {
  std::vector<std::string> names;
  for (const MdsIndex::Shard& shard : index.shards) names.push_back(folder + shard.name);
  auto objects = store.Describe(names);
  const auto compressed = std::find_if(index.shards.begin(), index.shards.end(),
                                       [](const MdsIndex::Shard& shard) { return !shard.compression.empty(); });
  if (absl::IsNotFound(objects.status()) && compressed != index.shards.end())
    return absl::UnimplementedError(absl::StrCat(
        ShortPrintableName(folder + compressed->name), ": is there only compressed (",
        ShortPrintableName(compressed->compression),
        "), and this build reads MDS shards that are not: decompress them beside index.json, or write them without"));
  STOKER_RETURN_IF_ERROR(objects.status());
  for (size_t i = 0; i < objects->size(); ++i)
    if ((*objects)[i].size != index.shards[i].bytes)
      return NamedError((*objects)[i].name,
                        absl::DataLossError(absl::StrCat("has ", (*objects)[i].size,
                                                         " bytes, where index.json tells of ", index.shards[i].bytes)));
  return objects;
}

// Fails where a column's size is not the one that its encoding has.
absl::Status CheckSizes(const std::vector<MdsColumn>& columns) {
  for (const MdsColumn& column : columns) {
    const MdsEncoding encoding = ParseMdsEncoding(column.encoding);
    const bool is_text = encoding.kind == MdsEncoding::Kind::kText;
    if (is_text || encoding.kind == MdsEncoding::Kind::kOther || FixedBytes(encoding) == column.bytes) continue;
    return absl::DataLossError(absl::StrCat("column_sizes: ", column.bytes, " of the column '",
                                            ShortPrintableName(column.name), "' is not that of ",
                                            ShortPrintableName(column.encoding)));
  }
  return absl::OkStatus();
}

// Returns the columns, as the first sample of `shard` shows them.
absl::StatusOr<std::vector<StoredColumn>> ReadColumns(Store& store, const ObjectInfo& shard, uint64_t samples,
                                                      const std::vector<MdsColumn>& columns) {
  STOKER_ASSIGN_OR_RETURN(const auto offsets, ReadMdsOffsets(store, shard, samples));
  std::vector<uint8_t> sample(offsets[1] - offsets[0]);
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&shard, offsets[0], sample}));
  const auto values = SplitMdsSample(columns, sample);
  if (!values.ok()) return NamedError(shard.name, values.status());
  std::vector<StoredColumn> stored;
  for (size_t i = 0; i < columns.size(); ++i) {
    const MdsEncoding encoding = ParseMdsEncoding(columns[i].encoding);
    stored.push_back({columns[i].name, FieldOf(encoding, (*values)[i]), RowsOf(encoding, (*values)[i])});
  }
  return stored;
}

}  // namespace

Mds::Mds(std::vector<MdsColumn> columns, Counts counts, FieldMapping mapping)
    : columns_(std::move(columns)),
      counts_(std::move(counts)),
      mapping_(std::move(mapping)),
      schema_(mapping_.schema()) {
  for (const MappedField& field : mapping_.fields) {
    const auto column =
        std::find_if(columns_.begin(), columns_.end(), [&](const MdsColumn& c) { return c.name == field.from; });
    taken_.push_back({static_cast<size_t>(column - columns_.begin()), ParseMdsEncoding(column->encoding)});
  }
}

absl::StatusOr<std::unique_ptr<Mds>> Mds::Create(const v1::Mds& config, Store& store,
                                                 const std::vector<ObjectInfo>& indexes,
                                                 std::vector<ObjectInfo>& shards) {
  std::vector<MdsColumn> columns;
  Counts counts;
  shards.clear();
  for (const ObjectInfo& object : indexes) {
    const auto index = ReadIndex(store, object);
    absl::Status status = index.status();
    if (status.ok()) status = CheckSizes(index->columns);
    if (status.ok() && &object != &indexes[0] && index->columns != columns)
      status = absl::DataLossError(absl::StrCat("has other columns than ", ShortPrintableName(indexes[0].name)));
    if (!status.ok()) return NamedError(object.name, status);
    columns = index->columns;
    const std::string folder = object.name.substr(0, object.name.rfind('/') + 1);
    STOKER_ASSIGN_OR_RETURN(const auto objects, DescribeShards(store, folder, *index));
    for (size_t i = 0; i < objects.size(); ++i) {
      if (!counts.emplace(objects[i].name, index->shards[i].samples).second)
        return NamedError(object.name, absl::DataLossError(
                                           absl::StrCat(ShortPrintableName(objects[i].name), " is in an index twice")));
      shards.push_back(objects[i]);
    }
  }
  const auto first = std::find_if(counts.begin(), counts.end(), [](const auto& count) { return count.second > 0; });
  if (first == counts.end()) return absl::InvalidArgumentError("there is no sample in any MDS shard");
  const auto shard = std::find_if(shards.begin(), shards.end(), [&](const auto& s) { return s.name == first->first; });
  STOKER_ASSIGN_OR_RETURN(const auto stored, ReadColumns(store, *shard, first->second, columns));
  STOKER_ASSIGN_OR_RETURN(FieldMapping mapping, MapFields(config.fields(), stored, "column"));
  return std::unique_ptr<Mds>(new Mds(std::move(columns), std::move(counts), std::move(mapping)));
}

std::string Mds::identity() const {
  std::string text = "mds.v1 columns";
  for (const auto& [name, encoding, bytes] : columns_)
    absl::StrAppend(&text, " ", name.size(), ":", name, " ", encoding.size(), ":", encoding, " ", bytes);
  return absl::StrCat(text, " fields", mapping_.identity());
}

absl::StatusOr<ShardIndex::Rows> Mds::Index(Store& store, const ObjectInfo& shard) const {
  STOKER_ASSIGN_OR_RETURN(const auto offsets, ReadMdsOffsets(store, shard, counts_.at(shard.name)));
  ShardIndex::Rows rows(parts());
  for (size_t i = 0; i + 1 < offsets.size(); ++i) rows.Add("", {offsets[i], offsets[i + 1] - offsets[i]}, {});
  return rows;
}

absl::Status Mds::Parse(Bytes stored, std::span<const StoredPart>, SampleBytes& sample) const {
  STOKER_ASSIGN_OR_RETURN(const auto values, SplitMdsSample(columns_, stored));
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (!sample.wanted.Has(i)) continue;
    const absl::Status read = DecodeMds(taken_[i].encoding, schema_[i], values[taken_[i].column], sample.fields[i]);
    if (!read.ok()) return NamedError("the column " + mapping_.fields[i].from, read);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint32_t>> ReadMdsOffsets(Store& store, const ObjectInfo& shard, uint64_t samples) {
  const auto wrong = [&](const auto&... what) {
    return NamedError(shard.name, absl::DataLossError(absl::StrCat(what...)));
  };
  constexpr uint64_t kEach = sizeof(uint32_t);
  if (shard.size / kEach < 2 || samples > shard.size / kEach - 2)
    return wrong("has ", shard.size, " bytes, too few for the ", samples, " samples that index.json tells of");
  std::vector<uint32_t> numbers(samples + 2);
  const uint64_t header_bytes = numbers.size() * kEach;
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&shard, 0, {reinterpret_cast<uint8_t*>(numbers.data()), header_bytes}}));
  if (numbers[0] != samples) return wrong("has ", numbers[0], " samples, where index.json tells of ", samples);
  numbers.erase(numbers.begin());
  if (numbers[0] < header_bytes) return wrong("its sample 0 begins at ", numbers[0], ", within the header");
  for (uint64_t i = 0; i < samples; ++i) {
    if (numbers[i + 1] < numbers[i])
      return wrong("its sample ", i, " ends at ", numbers[i + 1], ", before it begins at ", numbers[i]);
    if (numbers[i + 1] - numbers[i] > kMaxSampleBytes)
      return wrong("its sample ", i, " has more than ", kMaxSampleBytes, " bytes");
  }
  if (numbers.back() != shard.size)
    return wrong("its last sample ends at ", numbers.back(), ", where the shard has ", shard.size, " bytes");
  return numbers;
}

absl::StatusOr<std::vector<Bytes>> SplitMdsSample(const std::vector<MdsColumn>& columns, Bytes sample) {
  size_t variable = 0;
  for (const MdsColumn& column : columns) variable += column.bytes == 0;
  if (sample.size() / sizeof(uint32_t) < variable) return absl::DataLossError("the sample is shorter than its sizes");
  Bytes sizes = sample.first(variable * sizeof(uint32_t)), rest = sample.subspan(sizes.size());
  std::vector<Bytes> values;
  values.reserve(columns.size());
  for (const MdsColumn& column : columns) {
    auto bytes = static_cast<uint32_t>(column.bytes);
    if (column.bytes == 0) {
      std::memcpy(&bytes, sizes.data(), sizeof bytes);
      sizes = sizes.subspan(sizeof bytes);
    }
    if (bytes > rest.size())
      return absl::DataLossError(absl::StrCat("the column ", ShortPrintableName(column.name), " has ", bytes,
                                              " bytes, where the sample has ", rest.size(), " left"));
    values.push_back(rest.first(bytes));
    rest = rest.subspan(bytes);
  }
  if (rest.empty()) return values;
  return absl::DataLossError(absl::StrCat("the sample has ", rest.size(), " bytes beyond its columns"));
}

}  // namespace stoker
