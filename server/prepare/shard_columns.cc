#include "server/prepare/shard_columns.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

bool IsImage(const SourceField& field) { return field.kind == SourceField::Kind::kEncodedImage; }

// Returns the type in the header of an .npy file; empty where NumPy has none.
std::string NpyType(v1::Dtype dtype) {
  switch (dtype) {
    case v1::DTYPE_UINT8: return "|u1";
    case v1::DTYPE_INT16: return "<i2";
    case v1::DTYPE_INT32: return "<i4";
    case v1::DTYPE_INT64: return "<i8";
    case v1::DTYPE_FLOAT16: return "<f2";
    case v1::DTYPE_FLOAT32: return "<f4";
    case v1::DTYPE_FLOAT64: return "<f8";
    default: return "";
  }
}

// Returns the header of version 1.0, whose length is a multiple of 64 as NumPy writes it.
std::string NpyHead(const std::string& type, const std::vector<int64_t>& shape) {
  constexpr size_t kBefore = 10, kMultiple = 64;
  std::string dictionary = absl::StrCat("{'descr': '", type, "', 'fortran_order': False, 'shape': (",
                                        absl::StrJoin(shape, ", "), shape.size() == 1 ? ",), }" : "), }");
  const size_t rest = (kBefore + dictionary.size() + 1) % kMultiple;
  dictionary.append(rest == 0 ? 0 : kMultiple - rest, ' ');
  dictionary += '\n';
  std::string head("\x93NUMPY\x01\x00", 8);
  head += static_cast<char>(dictionary.size() & 0xff);
  head += static_cast<char>(dictionary.size() >> 8);
  return head + dictionary;
}

absl::Status RefusedField(const SourceField& field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the field '", ShortPrintableName(field.name),
                                                 "' cannot be written to shards: ", what,
                                                 "; leave it out by `fields` of the dataset's configuration"));
}

// Whether `name` can stand between a key and an extension.
bool IsMemberName(const std::string& name) {
  const auto may_be = [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.'; };
  return !name.empty() && name.front() != '.' && name.back() != '.' && std::all_of(name.begin(), name.end(), may_be);
}

absl::Status SetArray(const SourceField& field, ShardColumn& column) {
  const std::string type = NpyType(field.dtype);
  if (type.empty()) return RefusedField(field, absl::StrCat("neither .npy nor MDS has ", DtypeName(field.dtype)));
  column.kind = ShardColumn::Kind::kArray;
  column.bytes = ByteSize(field.dtype);
  for (const int64_t extent : field.shape) column.bytes *= static_cast<uint64_t>(extent);
  column.extension = absl::AsciiStrToLower(field.name);
  if (!absl::EndsWith(column.extension, ".npy")) column.extension += ".npy";
  column.head = NpyHead(type, field.shape);
  column.encoding = DtypeName(field.dtype);
  if (!field.shape.empty())
    column.encoding = absl::StrCat("ndarray:", column.encoding, ":", absl::StrJoin(field.shape, ","));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ShardColumn>> ColumnsOf(const SourceSchema& schema, bool packed) {
  auto main = std::find_if(schema.begin(), schema.end(),
                           [](const SourceField& field) { return IsImage(field) && field.name == "image"; });
  if (main == schema.end()) main = std::find_if(schema.begin(), schema.end(), IsImage);
  std::vector<ShardColumn> columns;
  std::set<std::string> extensions;
  for (auto field = schema.begin(); field != schema.end(); ++field) {
    ShardColumn& column = columns.emplace_back();
    column.field = field->name;
    if (!IsMemberName(field->name))
      return RefusedField(*field, "its name has other characters than those of an extension");
    const bool is_label = field->name == "label" && field->dtype == v1::DTYPE_INT64 && field->shape.empty();
    if (IsImage(*field)) {
      column.extension = field == main ? "jpg" : absl::StrCat(absl::AsciiStrToLower(field->name), ".jpg");
      column.encoding = packed ? "bytes" : "jpeg";
    } else if (is_label) {
      column.kind = ShardColumn::Kind::kLabel;
      column.extension = "cls";
      column.encoding = "int";
      column.bytes = sizeof(int64_t);
    } else {
      STOKER_RETURN_IF_ERROR(SetArray(*field, column));
    }
    if (!extensions.insert(column.extension).second)
      return RefusedField(*field, "another field has the same name in lower case");
  }
  return columns;
}

}  // namespace stoker
