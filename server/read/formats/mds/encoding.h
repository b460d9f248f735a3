#ifndef STOKER_SERVER_READ_FORMATS_MDS_ENCODING_H_
#define STOKER_SERVER_READ_FORMATS_MDS_ENCODING_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/fields/schema.h"
#include "server/read/formats/mapping/variable_field.h"

namespace stoker {

// The encodings of MDS columns, as mosaicml-streaming has them:
//
//   jpeg, png            an image file
//   bytes                any bytes: a field where the first sample's begin as an image
//   pil                  u32 width, u32 height, u32 length of the mode, the mode, then pixels: a field uint8
//                        [height, width, channels] where the mode is L, RGB, RGBA, CMYK or YCbCr
//   int                  int64
//   uint8 … int64        a number
//   float16 … float64    a number
//   str_int, str_float   a number's digits: int64, float64
//   str, json            text, no field of a fixed size
//   ndarray[:TYPE[:N,…]] numbers of a shape. Before them stand one byte for the type, and one byte for the number of
//                        dimensions (6 bits) and their size (log2 of it, 2 bits), and these, each unless given
//
// Fields have no unsigned types above 8 bits and no int8, so these become the next wider signed type; an uint64 above
// the largest int64 is an error. Other encodings cannot be fields. Of images and arrays whose shape is their own, the
// first sample's holds for all; where samples differ in size, the first dimension of an array counts a
// sample's rows, and may be 0.
struct MdsEncoding {
  // A type of numbers, as they are stored.
  enum class Number { kUint8, kInt8, kUint16, kInt16, kUint32, kInt32, kUint64, kInt64, kFloat16, kFloat32, kFloat64 };
  enum class Kind { kImage, kBytes, kPixels, kNumber, kIntText, kFloatText, kText, kArray, kOther };

  Kind kind = Kind::kOther;
  std::optional<Number> number;               // of kNumber; of kArray where it is given
  std::optional<std::vector<int64_t>> shape;  // of kArray where it is given
};

// Parses a column's encoding. What is not known is kOther.
MdsEncoding ParseMdsEncoding(const std::string& text);

// Returns the bytes of each value; 0 where each has its own size, or for kOther.
uint64_t FixedBytes(const MdsEncoding& encoding);

// Returns what field a column is whose first value is `value`, without a name. InvalidArgument says why it can be none,
// as a predicate: "is text".
absl::StatusOr<SourceField> FieldOf(const MdsEncoding& encoding, std::span<const uint8_t> value);

// Returns what a column is whose first value is `value`, where samples differ in size; nothing where it cannot be that.
std::optional<StoredRows> RowsOf(const MdsEncoding& encoding, std::span<const uint8_t> value);

// Replaces `bytes` by the field's, from `value`. DataLoss says, as a predicate, why it is none: another shape, another
// size. Any bytes are safe. Requires a field that FieldOf gave, or one of what RowsOf gave.
absl::Status DecodeMds(const MdsEncoding& encoding, const SourceField& field, std::span<const uint8_t> value,
                       std::vector<uint8_t>& bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_MDS_ENCODING_H_
