#ifndef STOKER_COMMON_FIELDS_SCHEMA_H_
#define STOKER_COMMON_FIELDS_SCHEMA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/fields/image_size.h"
#include "stoker/v1/data_service.pb.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// One field that a dataset yields for each sample, before any op. A plain value.
struct SourceField {
  enum class Kind {
    kDense,         // elements of `dtype` in `shape`, little-endian, the last dimension contiguous
    kEncodedImage,  // an image file of any size; `dtype` and `shape` mean nothing
    kRows,          // rows of `dtype` in `shape`, as kDense; each sample has any number of them, also none
  };
  std::string name;
  Kind kind = Kind::kDense;
  v1::Dtype dtype = v1::DTYPE_UINT8;
  std::vector<int64_t> shape;  // one sample's; empty for a scalar; height, width, channels for an image

  // LABEL_MAP and BINARY_MAP lie on the sample's image. Those that are dense have uint8 or int16 of height, width;
  // those that are encoded have the values of `dtype` in a PNG of one channel. Rows have one of the kinds whose samples
  // differ in size; boxes and keypoints may be of any type, and are sent as float32.
  v1::FieldKind meaning = v1::FIELD_KIND_UNSPECIFIED;

  // These mean what they do in v1::Field, for rows alone. Datasets need not hold samples to max_bytes: who sends them
  // does.
  uint64_t max_bytes = 0, typical_bytes = 0;
  v1::BoxFormat box_format = v1::BOX_FORMAT_UNSPECIFIED;
  std::vector<int64_t> dense_shape;

  // What audio is sent as. Its rows are the bytes of audio files, and its sizes above are those of decoded audio.
  struct Audio {
    v1::Dtype dtype = v1::DTYPE_INT16;  // or float16
    int64_t channels = 1;               // one is mixed of all that a file has; of more, a file must have as many
    uint32_t sample_rate = 0;           // of every file, in samples a second; 0: of any
    friend bool operator==(const Audio&, const Audio&) = default;
  };
  Audio audio;

  // The server ops that `stokerd prepare` applied to this image already. A pipeline must begin with them.
  std::vector<v1::Op> prepared;

  // The DecodeSettings of the pipeline with which the image was prepared.
  v1::Pipeline prepared_settings;
};
using SourceSchema = std::vector<SourceField>;

// True of label maps and binary maps, which lie on a sample's image.
inline bool IsMap(v1::FieldKind kind) { return kind == v1::FIELD_KIND_LABEL_MAP || kind == v1::FIELD_KIND_BINARY_MAP; }

// True of the kinds whose samples differ in size.
inline bool IsVariable(v1::FieldKind kind) {
  return kind >= v1::FIELD_KIND_RAGGED && kind <= v1::FIELD_KIND_RAGGED_IMAGE;
}

// True of boxes and keypoints, which lie on a sample's image and move with it.
inline bool HasPoints(v1::FieldKind kind) { return kind == v1::FIELD_KIND_BOXES || kind == v1::FIELD_KIND_KEYPOINTS; }

// Returns the name that YAML and people use: "label_map"; nothing for FIELD_KIND_UNSPECIFIED.
std::string KindName(v1::FieldKind kind);

// Returns the name that YAML and people use: "xyxy", also for BOX_FORMAT_UNSPECIFIED.
std::string BoxFormatName(v1::BoxFormat format);

// Returns the bytes of one element; 0 for DTYPE_UNSPECIFIED.
int64_t ByteSize(v1::Dtype dtype);

// Returns the name that YAML and people use: "uint8", "float32".
std::string DtypeName(v1::Dtype dtype);

// True of float32, float16 and bfloat16, the floating point types that a device can make of an image.
bool IsDeviceFloat(v1::Dtype dtype);

// True of the integer types, signed and unsigned.
bool IsWholeNumber(v1::Dtype dtype);

// Returns element `i` of little-endian elements, which need not be aligned. Requires IsWholeNumber(dtype).
int64_t WholeNumberAt(const void* elements, v1::Dtype dtype, int64_t i);

// The largest sample, in bytes of all its fields. A span of one such sample is far below a message's limit of 2 GiB.
inline constexpr uint64_t kMaxSampleBytes = uint64_t{256} << 20;

// OK if a field of its kind can have its type, shape and sizes, or has no kind. InvalidArgument names it.
absl::Status CheckKind(const v1::Field& field);

// Returns the number of elements of one sample of `field`, or of one row if samples differ in size. InvalidArgument if
// its shape is empty or larger than kMaxSampleBytes.
absl::StatusOr<uint64_t> ElementCount(const v1::Field& field);

// Returns the most bytes of one sample of `field`, as it is sent. InvalidArgument as above.
absl::StatusOr<uint64_t> ByteSize(const v1::Field& field);

// What the size of a sample takes in a span, where samples differ in size.
inline constexpr uint64_t kLengthBytes = sizeof(uint32_t);

// Returns the bytes of a dense field, or of a stored row; above kMaxSampleBytes where it has more than that.
uint64_t DenseBytes(const SourceField& field);

// The functions below require that ByteSize(field) and CheckKind(field) are OK.

// Returns the bytes of one sample of `field` as it is sent: of a usual one, where samples differ in size.
uint64_t TypicalBytes(const v1::Field& field);

// Returns the bytes of one row of a field whose samples differ in size.
uint64_t RowBytes(const v1::Field& field);

}  // namespace stoker

#endif  // STOKER_COMMON_FIELDS_SCHEMA_H_
