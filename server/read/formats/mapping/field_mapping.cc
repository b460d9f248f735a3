#include "server/read/formats/mapping/field_mapping.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/fields/companions.h"
#include "common/status_macros.h"
#include "server/read/formats/mapping/sparse_field.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr size_t kMostFields = 64, kMostNameBytes = 64;

// Also of a field that belongs to another.
bool IsFieldName(const std::string& name) {
  if (IsCompanion(name)) return IsFieldName(name.substr(0, name.rfind('.')));
  return !name.empty() && name.size() <= kMostNameBytes && !absl::ascii_isdigit(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

// Returns a name for the field of the column `from`.
std::string FieldNameOf(const std::string& from) {
  std::string name = from.substr(0, kMostNameBytes);
  for (char& c : name)
    if (!absl::ascii_isalnum(c)) c = '_';
  if (name.empty() || absl::ascii_isdigit(name[0])) name = absl::StrCat("_", name.substr(0, kMostNameBytes - 1));
  return name;
}

// Names the columns for an error, the first of them where there are many.
std::string NamesOf(const std::vector<StoredColumn>& columns) {
  constexpr size_t kMost = 20;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(columns.size(), kMost); ++i) names.push_back(ShortPrintableName(columns[i].from));
  if (columns.size() > kMost) names.push_back("…");
  return absl::StrJoin(names, ", ");
}

// Says how a configuration takes a column that is no field of a fixed size, if it can be taken.
std::string HintOf(const StoredColumn& column) {
  return column.rows.has_value() ? absl::StrCat("; `fields` takes it by ", RowsHint(*column.rows)) : "";
}

// Returns the field that is asked for of a column, without a name. Errors go on behind the field's name.
absl::StatusOr<SourceField> FieldOfColumn(const v1::FieldFrom& asked, const StoredColumn& column,
                                          const std::string& word) {
  const bool is_variable = IsVariable(asked.kind());
  const std::string named = absl::StrCat(": the ", word, " '", ShortPrintableName(column.from), "' ");
  if (is_variable && !column.rows.has_value())
    return absl::InvalidArgumentError(absl::StrCat(
        named, "cannot be ", KindName(asked.kind()), ": it ",
        column.field.ok() ? absl::StrCat("is ", FieldWords(*column.field)) : column.field.status().message()));
  if (!is_variable && !column.field.ok())
    return absl::InvalidArgumentError(absl::StrCat(named, column.field.status().message(), HintOf(column)));
  SourceField field = is_variable ? SourceField() : *column.field;
  const absl::Status status = is_variable ? SetRows(asked, *column.rows, field) : SetMeaning(asked, field);
  if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat(".", status.message()));
  return field;
}

absl::StatusOr<MappedField> MapField(const std::string& name, const v1::FieldFrom& asked,
                                     const std::vector<StoredColumn>& columns, const std::string& word) {
  const auto wrong = [&](const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat("fields.", ShortPrintableName(name), ": ", what...));
  };
  if (!IsFieldName(name)) return wrong("a name has up to 64 letters, digits and underscores, and begins with no digit");
  if (!asked.json().empty()) return wrong("json: a ", word, " cannot be taken from a document here");
  const std::string from = asked.from().empty() ? name : asked.from();
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.from == from; });
  if (found == columns.end())
    return wrong("there is no ", word, " '", ShortPrintableName(from), "'; the first sample has: ", NamesOf(columns));
  auto field = FieldOfColumn(asked, *found, word);
  if (!field.ok()) return absl::InvalidArgumentError(absl::StrCat("fields.", name, field.status().message()));
  field->name = name;
  return MappedField{from, *std::move(field)};
}

FieldMapping MapAll(const std::vector<StoredColumn>& columns, const std::string& word) {
  std::map<std::string, MappedField> fields;  // by name
  FieldMapping mapping;
  for (const StoredColumn& column : columns) {
    const std::string name = FieldNameOf(column.from);
    std::string why = column.field.ok() ? "" : absl::StrCat(column.field.status().message(), HintOf(column));
    if (why.empty() && fields.contains(name)) why = "would have another one's name";
    if (why.empty() && fields.size() == kMostFields) why = absl::StrCat("is one of more than ", kMostFields);
    if (!why.empty()) {
      mapping.warnings.push_back(
          absl::StrCat("the ", word, " '", ShortPrintableName(column.from), "' is left out: it ", why));
      continue;
    }
    MappedField mapped{column.from, *column.field};
    mapped.field.name = name;
    fields.emplace(name, std::move(mapped));
  }
  for (auto& [name, field] : fields) mapping.fields.push_back(std::move(field));
  return mapping;
}

}  // namespace

SourceSchema FieldMapping::schema() const {
  SourceSchema schema;
  for (const MappedField& mapped : fields) schema.push_back(mapped.field);
  return schema;
}

std::string FieldMapping::identity() const {
  std::string text;
  for (const auto& [from, field] : fields)
    absl::StrAppend(&text, " ", field.name, "=", from.size(), ":", from, " ", FieldWords(field));
  return text;
}

absl::StatusOr<FieldMapping> MapFields(const FieldMap& asked, const std::vector<StoredColumn>& columns,
                                       const std::string& word) {
  FieldMapping mapping;
  if (asked.empty()) {
    mapping = MapAll(columns, word);
  } else {
    STOKER_ASSIGN_OR_RETURN(const FieldMap all, WithValuesOfSparse(asked));
    if (all.size() > kMostFields) return absl::InvalidArgumentError(absl::StrCat("fields: above ", kMostFields));
    for (const auto& [name, from] : std::map<std::string, v1::FieldFrom>(all.begin(), all.end())) {
      STOKER_ASSIGN_OR_RETURN(MappedField mapped, MapField(name, from, columns, word));
      mapping.fields.push_back(std::move(mapped));
    }
  }
  if (!mapping.fields.empty()) return mapping;
  return absl::InvalidArgumentError(
      columns.empty() ? absl::StrCat("the first sample has no ", word)
                      : absl::StrCat("no ", word, " can be a field: ", absl::StrJoin(mapping.warnings, "; ")));
}

absl::Status SetMeaning(const v1::FieldFrom& asked, SourceField& field) {
  const bool is_encoded = field.kind == SourceField::Kind::kEncodedImage;
  if (!v1::FieldKind_IsValid(asked.kind()))
    return absl::InvalidArgumentError(absl::StrCat("kind: unknown value ", asked.kind()));
  STOKER_RETURN_IF_ERROR(RefuseRowKeys(asked));
  if (asked.dtype() != v1::DTYPE_UNSPECIFIED && (!is_encoded || asked.kind() != v1::FIELD_KIND_LABEL_MAP))
    return absl::InvalidArgumentError("dtype: is for a label_map that is stored as a PNG; leave it out");
  if (asked.kind() == v1::FIELD_KIND_UNSPECIFIED) return absl::OkStatus();
  if (is_encoded) {
    field.dtype = asked.dtype() == v1::DTYPE_UNSPECIFIED ? v1::DTYPE_UINT8 : asked.dtype();
  } else if (field.shape.size() != 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kind: ", KindName(asked.kind()), " is an array of height × width or a PNG, and this is ", FieldWords(field)));
  }
  if (field.dtype != v1::DTYPE_UINT8 && field.dtype != v1::DTYPE_INT16)
    return absl::InvalidArgumentError(absl::StrCat(is_encoded ? "dtype: " : "kind: ", KindName(asked.kind()),
                                                   " is of uint8 or int16, not ", DtypeName(field.dtype)));
  field.meaning = asked.kind();
  return absl::OkStatus();
}

std::string FieldWords(const SourceField& field) {
  if (field.kind == SourceField::Kind::kRows) return RowWords(field);
  const bool is_encoded = field.kind == SourceField::Kind::kEncodedImage;
  if (IsMap(field.meaning)) {
    SourceField values = field;
    values.meaning = v1::FIELD_KIND_UNSPECIFIED;
    return absl::StrCat(KindName(field.meaning), " ", is_encoded ? DtypeName(field.dtype) : FieldWords(values));
  }
  if (is_encoded) return "image";
  if (field.shape.empty()) return DtypeName(field.dtype);
  return absl::StrCat(DtypeName(field.dtype), " [", absl::StrJoin(field.shape, ", "), "]");
}

}  // namespace stoker
