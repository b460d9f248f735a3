#ifndef STOKER_COMMON_FIELDS_SCHEMA_H_
#define STOKER_COMMON_FIELDS_SCHEMA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/fields/image_size.h"
#include "stoker/v1/data_service.pb.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// What a dataset yields for one sample before any op. Value types, no invariants.
struct SourceField {
  enum class Kind {
    kDense,         // `shape` elements of `dtype`, little-endian, row by row
    kEncodedImage,  // an image file of any size; dtype and shape say nothing
  };
  std::string name;
  Kind kind = Kind::kDense;
  v1::Dtype dtype = v1::DTYPE_UINT8;
  std::vector<int64_t> shape;  // Of one sample; empty for a scalar. Images are height, width, channels.

  // The server ops that an image has been through already, by `stokerd prepare`. A pipeline must begin with them.
  std::vector<v1::Op> prepared;
  v1::Pipeline prepared_settings;  // DecodeSettings of that.
};
using SourceSchema = std::vector<SourceField>;

// Bytes of one element; 0 for DTYPE_UNSPECIFIED.
int64_t ByteSize(v1::Dtype dtype);

// The name that YAML and people use: "uint8", "float32".
std::string DtypeName(v1::Dtype dtype);

// Of 16 or 32 bits: what devices make of images.
bool IsDeviceFloat(v1::Dtype dtype);

// True of signed and unsigned ones.
bool IsWholeNumber(v1::Dtype dtype);

// Element `i` of little-endian elements, anywhere in memory. Requires IsWholeNumber.
int64_t WholeNumberAt(const void* elements, v1::Dtype dtype, int64_t i);

// One sample of all its fields: what a span of one sample carries, well below a message's 2 GiB.
inline constexpr uint64_t kMaxSampleBytes = uint64_t{256} << 20;

// Bytes of one sample of `field`, or InvalidArgument where its shape is empty or too large.
absl::StatusOr<uint64_t> ByteSize(const v1::Field& field);

}  // namespace stoker

#endif  // STOKER_COMMON_FIELDS_SCHEMA_H_
