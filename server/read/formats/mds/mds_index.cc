#include "server/read/formats/mds/mds_index.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/status_macros.h"
#include "nlohmann/json.hpp"
#include "server/read/formats/files/file_list.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostColumns = 4096;

absl::Status Wrong(absl::string_view key, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(key, ": ", what));
}

// Returns the value of `key`; null where there is none.
const Json& At(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return !object.is_object() || found == object.end() ? none : *found;
}

absl::StatusOr<uint64_t> NumberAt(const Json& object, const char* key) {
  const Json& value = At(object, key);
  if (!value.is_number_unsigned()) return Wrong(key, "is no whole number");
  return value.get<uint64_t>();
}

absl::StatusOr<std::string> TextAt(const Json& object, const char* key) {
  const Json& value = At(object, key);
  if (!value.is_string()) return Wrong(key, "is no text");
  return value.get<std::string>();
}

absl::StatusOr<std::vector<MdsColumn>> ColumnsOf(const Json& shard) {
  const Json &names = At(shard, "column_names"), &encodings = At(shard, "column_encodings"),
             &sizes = At(shard, "column_sizes");
  if (!names.is_array() || !encodings.is_array() || !sizes.is_array() || names.size() != encodings.size() ||
      names.size() != sizes.size())
    return Wrong("column_names, column_encodings, column_sizes", "are no lists of equal length");
  if (names.empty() || names.size() > kMostColumns) return Wrong("column_names", "are none or too many");
  std::vector<MdsColumn> columns;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].is_string() || !encodings[i].is_string()) return Wrong("column_names", "have one that is no text");
    if (!sizes[i].is_null() && !sizes[i].is_number_unsigned())
      return Wrong("column_sizes", "have one that is no whole number");
    columns.push_back({names[i], encodings[i], sizes[i].is_null() ? 0 : sizes[i].get<uint64_t>()});
    if (columns.back().bytes > UINT32_MAX) return Wrong("column_sizes", "have one that is too large");
  }
  return columns;
}

absl::StatusOr<MdsIndex::Shard> ShardOf(const Json& object) {
  STOKER_ASSIGN_OR_RETURN(const uint64_t version, NumberAt(object, "version"));
  if (version != 2) return Wrong("version", absl::StrCat("is ", version, ", where only 2 can be read"));
  STOKER_ASSIGN_OR_RETURN(const std::string format, TextAt(object, "format"));
  if (format != "mds") return Wrong("format", absl::StrCat("is '", ShortPrintableName(format), "' rather than mds"));
  MdsIndex::Shard shard;
  STOKER_ASSIGN_OR_RETURN(shard.samples, NumberAt(object, "samples"));
  const Json& raw = At(object, "raw_data");
  STOKER_ASSIGN_OR_RETURN(shard.bytes, NumberAt(raw, "bytes"));
  STOKER_ASSIGN_OR_RETURN(shard.name, TextAt(raw, "basename"));
  if (!StaysBelow(shard.name) || shard.name.find('\0') != shard.name.npos)
    return Wrong("basename", absl::StrCat("'", ShortPrintableName(shard.name), "' does not stay below the folder"));
  if (const Json& compression = At(object, "compression"); !compression.is_null()) {
    STOKER_ASSIGN_OR_RETURN(shard.compression, TextAt(object, "compression"));
  }
  return shard;
}

// Parses without exceptions and without deep nesting, which an index has none of.
absl::StatusOr<Json> Document(std::string_view text) {
  constexpr int kMostLevels = 16;
  bool too_deep = false;
  auto document = Json::parse(
      text,
      [&](int depth, Json::parse_event_t, Json&) {
        too_deep = too_deep || depth > kMostLevels;
        return !too_deep;
      },
      /*allow_exceptions=*/false);
  if (too_deep) return absl::DataLossError("it is nested too deeply");
  if (document.is_discarded()) return absl::DataLossError("it is not JSON");
  return document;
}

}  // namespace

absl::StatusOr<MdsIndex> ParseMdsIndex(std::string_view text) {
  STOKER_ASSIGN_OR_RETURN(const Json document, Document(text));
  STOKER_ASSIGN_OR_RETURN(const uint64_t version, NumberAt(document, "version"));
  if (version != 2) return Wrong("version", absl::StrCat("is ", version, ", where only 2 can be read"));
  const Json& shards = At(document, "shards");
  if (!shards.is_array() || shards.empty()) return Wrong("shards", "is no list, or an empty one");
  MdsIndex index;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string place = absl::StrCat("shards[", i, "]");
    auto shard = ShardOf(shards[i]);
    if (!shard.ok()) return Wrong(place, shard.status().message());
    auto columns = ColumnsOf(shards[i]);
    if (!columns.ok()) return Wrong(place, columns.status().message());
    if (i == 0) index.columns = *columns;
    if (*columns != index.columns) return Wrong(place, "has other columns than the first shard");
    index.shards.push_back(*std::move(shard));
  }
  return index;
}

}  // namespace stoker
