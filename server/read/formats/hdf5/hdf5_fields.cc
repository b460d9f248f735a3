#include "server/read/formats/hdf5/hdf5_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

// Returns `asked` with each path as columns have it.
FieldMap WithPlainPaths(const FieldMap& asked) {
  FieldMap plain = asked;
  for (auto& [name, from] : plain) {
    if (from.from().size() > 1 && from.from()[0] == '/') from.set_from(from.from().substr(1));
    if (from.values().size() > 1 && from.values()[0] == '/') from.set_values(from.values().substr(1));
  }
  return plain;
}

// Returns "image" or "label" for a path whose last part is that or its plural, else nothing.
std::string UsualName(const std::string& path) {
  const std::string last = path.substr(path.rfind('/') + 1);
  for (const char* name : {"image", "label"})
    if (last == name || last == absl::StrCat(name, "s")) return name;
  return "";
}

// Returns what a column is called where nothing is asked for.
std::string DefaultName(const Hdf5Column& column, const std::vector<Hdf5Column>& columns) {
  const std::string name = UsualName(column.path);
  const auto others = std::count_if(columns.begin(), columns.end(),
                                    [&](const Hdf5Column& other) { return UsualName(other.path) == name; });
  return !name.empty() && others == 1 ? name : column.path;
}

}  // namespace

bool IsCandidate(const FieldMap& asked, const Hdf5Column& column) {
  if (column.type == ColumnType::kOther) return false;
  const FieldMap plain = WithPlainPaths(asked);
  return plain.empty() || std::any_of(plain.begin(), plain.end(), [&](const auto& field) {
           return (field.second.from().empty() ? field.first : field.second.from()) == column.path ||
                  field.second.values() == column.path;
         });
}

size_t PlaceOf(const std::vector<Hdf5Column>& columns, const std::string& path) {
  return std::find_if(columns.begin(), columns.end(), [&](const auto& column) { return column.path == path; }) -
         columns.begin();
}

std::optional<StoredRows> RowsOf(const Hdf5Column& column) {
  if (column.type != ColumnType::kBinary) return std::nullopt;
  return StoredRows{.are_bytes = true};
}

absl::StatusOr<FieldMapping> MapColumns(const FieldMap& asked, const std::vector<Hdf5Column>& columns,
                                        const std::vector<absl::StatusOr<SourceField>>& fields) {
  std::vector<StoredColumn> stored;
  for (size_t i = 0; i < columns.size(); ++i)
    stored.push_back(
        {asked.empty() ? DefaultName(columns[i], columns) : columns[i].path, fields[i], RowsOf(columns[i])});
  STOKER_ASSIGN_OR_RETURN(FieldMapping mapping, MapFields(WithPlainPaths(asked), stored, "dataset"));
  for (MappedField& field : mapping.fields) {
    const auto from = std::find_if(stored.begin(), stored.end(),
                                   [&](const StoredColumn& column) { return column.from == field.from; });
    field.from = columns[from - stored.begin()].path;
  }
  return mapping;
}

absl::Status CheckLengths(const FieldMapping& mapping, const std::vector<Hdf5Column>& columns) {
  const Hdf5Column& first = columns[PlaceOf(columns, mapping.fields[0].from)];
  for (const MappedField& field : mapping.fields) {
    const Hdf5Column& other = columns[PlaceOf(columns, field.from)];
    if (other.rows != first.rows)
      return absl::InvalidArgumentError(
          absl::StrCat("its datasets '", ShortPrintableName(first.path), "' and '", ShortPrintableName(other.path),
                       "' have ", first.rows, " and ", other.rows,
                       " rows, where the fields of a sample have one row of each: name in `fields` which belong "
                       "together"));
  }
  return absl::OkStatus();
}

}  // namespace stoker
