#ifndef STOKER_SERVER_READ_FORMATS_MAPPING_VARIABLE_FIELD_H_
#define STOKER_SERVER_READ_FORMATS_MAPPING_VARIABLE_FIELD_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/fields/schema.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Fields whose samples differ in size: rows, as SourceField::Kind::kRows has them. All functions are pure.

// What a stored part is, taken as rows. A plain value.
struct StoredRows {
  bool are_bytes = false;             // it is a text or other bytes; else it is numbers
  v1::Dtype dtype = v1::DTYPE_UINT8;  // of a number
  std::vector<int64_t> shape;         // of a row, where the format knows it; else nothing
};

// Makes `field` rows of the kind that `asked` says, which is one of IsVariable. InvalidArgument, such as
// "max_bytes: …", names the key that is wrong.
absl::Status SetRows(const v1::FieldFrom& asked, const StoredRows& stored, SourceField& field);

// InvalidArgument where `asked` has a key that only means something for the kinds of IsVariable.
absl::Status RefuseRowKeys(const v1::FieldFrom& asked);

// Returns the shape of a row behind the first dimension of an array; nothing for an array without dimensions.
std::vector<int64_t> RowShapeOf(const std::vector<int64_t>& array);

// Whether an array of this shape is rows of `field`: it has their shape behind its first dimension, or is one list of
// their numbers. CheckRows tells if such a list ends within a row.
bool IsArrayOfRows(const std::vector<int64_t>& array, const SourceField& field);

// OK where `bytes`, which a format took from a sample, are rows of `field`, or where it is of another kind. DataLoss
// says as a predicate why they are none: they end within a row, are a text that is not UTF-8, or more than
// kMaxSampleBytes.
absl::Status CheckRows(const SourceField& field, std::span<const uint8_t> bytes);

// Returns in words what samples of a field depend on: "boxes xywh int64 [4] up to 4096 bytes". Requires rows.
std::string RowWords(const SourceField& field);

// Returns what a configuration can say to take a part whose samples differ in size: "{kind: ragged, max_bytes: …}".
std::string RowsHint(const StoredRows& stored);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_MAPPING_VARIABLE_FIELD_H_
