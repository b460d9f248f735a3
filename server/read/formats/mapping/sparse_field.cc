#include "server/read/formats/mapping/sparse_field.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/fields/companions.h"
#include "common/fields/schema.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

template <typename... Words>
absl::Status BadKey(const Words&... words) {
  return absl::InvalidArgumentError(absl::StrCat(words...));
}

absl::Status CheckKeys(const v1::FieldFrom& field) {
  if (field.kind() != v1::FIELD_KIND_SPARSE) {
    if (!field.dense_shape().empty()) return BadKey("dense_shape: is for the kind sparse; leave it out");
    if (!field.values().empty()) return BadKey("values: is for the kind sparse; leave it out");
    return absl::OkStatus();
  }
  if (field.values().empty() && field.dtype() != v1::DTYPE_UNSPECIFIED)
    return BadKey("dtype: is that of `values` in a JSON document, and there are none; leave it out");
  return absl::OkStatus();
}

v1::FieldFrom ValuesOf(const v1::FieldFrom& field) {
  v1::FieldFrom values;
  values.set_kind(v1::FIELD_KIND_RAGGED);
  if (field.json().empty()) {
    values.set_from(field.values());
    values.set_dtype(field.dtype());
  } else {
    values.set_from(field.from());
    values.set_json(field.values());
    values.set_dtype(field.dtype() == v1::DTYPE_UNSPECIFIED ? v1::DTYPE_FLOAT32 : field.dtype());
  }
  *values.mutable_dense_shape() = field.dense_shape();
  values.set_max_bytes(field.max_bytes());
  values.set_typical_bytes(field.typical_bytes());
  return values;
}

}  // namespace

absl::StatusOr<google::protobuf::Map<std::string, v1::FieldFrom>> WithValuesOfSparse(
    const google::protobuf::Map<std::string, v1::FieldFrom>& asked) {
  google::protobuf::Map<std::string, v1::FieldFrom> all = asked;
  for (const auto& [name, field] : asked) {
    if (IsCompanion(name))
      return BadKey("fields.", ShortPrintableName(name),
                    ": a name has up to 64 letters, digits and underscores, and begins with no digit");
    if (const absl::Status status = CheckKeys(field); !status.ok())
      return BadKey("fields.", ShortPrintableName(name), ".", status.message());
    if (field.values().empty()) continue;
    all[ValuesName(name)] = ValuesOf(field);
    all[name].clear_dtype();  // It is the values'.
  }
  return all;
}

absl::Status CheckIndices(const v1::FieldFrom& asked, const StoredRows& stored) {
  if (stored.are_bytes || !IsWholeNumber(stored.dtype))
    return BadKey("kind: the indices of sparse are whole numbers, and this is ",
                  stored.are_bytes ? "bytes" : DtypeName(stored.dtype));
  if (!asked.shape().empty() || !stored.shape.empty())
    return BadKey(
        "shape: an index of sparse is one number, a place in the flattened array; dense_shape says the array's");
  if (asked.dense_shape().empty())
    return BadKey("dense_shape: missing; say the shape of the array that a sample stands for, such as [50000]");
  if (DenseElements(asked.dense_shape()) == 0)
    return BadKey("dense_shape: [", absl::StrJoin(asked.dense_shape(), ", "), "] is empty or has more than ",
                  kMostDenseElements, " elements");
  return absl::OkStatus();
}

}  // namespace stoker
