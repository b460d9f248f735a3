#ifndef STOKER_COMMON_FIELDS_COMPANIONS_H_
#define STOKER_COMMON_FIELDS_COMPANIONS_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/repeated_field.h"
#include "stoker/v1/data_service.pb.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Some fields are two on the wire: the second one, the companion, stands right behind the field that it belongs to, and
// travels, is hashed and lands as any field does.
//
//   ragged_image  Its rows are the pixels of a sample's image, row after row, 3 uint8 each. The companion has height
//                 and width of each image, int32, and is called NAME.sizes.
//   sparse        Its rows are places in the flattened array of dense_shape, ascending and none twice: int32, or int64
//                 where the array has more than 2^31 elements. The companion is ragged, has a number for each place,
//                 and is called NAME.values. Without it each of these elements is 1.
//
// No field of a dataset can have such a name. All functions are pure.

// Returns the name of the heights and widths of images of native size.
std::string SizesName(const std::string& field);

// Returns the name of the numbers at the places of a sparse field.
std::string ValuesName(const std::string& field);

// Whether a field of this name belongs to another one.
bool IsCompanion(const std::string& name);

// The most elements of the array that a sparse sample stands for.
inline constexpr uint64_t kMostDenseElements = uint64_t{1} << 48;

// Returns the elements of an array of `shape`; 0 where it is empty, has no dimensions, or more than kMostDenseElements.
uint64_t DenseElements(const google::protobuf::RepeatedField<int64_t>& shape);

// Returns the type of the places in an array of `shape`; DTYPE_UNSPECIFIED where DenseElements is 0.
v1::Dtype IndexDtype(const google::protobuf::RepeatedField<int64_t>& shape);

// OK if each field that must have a companion has it, and companions are of the form above. InvalidArgument names the
// field. Requires that CheckKind of each field is OK.
absl::Status CheckCompanions(std::span<const v1::Field> fields);

// The samples of one field of a span.
struct FieldSamples {
  std::span<const uint8_t> bytes;  // of one sample after the other
  std::span<const uint8_t> sizes;  // as they are sent, where samples differ in size; else nothing
};

// Checks the samples of all fields of a span against their companions', one entry for each of `fields`. DataLoss says
// how two do not belong together: heights and widths that are not those of the pixels, another number of values than of
// places, places that CheckPlaces refuses. Requires that CheckCompanions and SpanLayout::CheckSizes are OK.
absl::Status CheckTogether(std::span<const v1::Field> fields, std::span<const FieldSamples> samples);

// Checks the places of one sample, int32 or int64 as `dtype` says. DataLoss names the first that does not lie in an
// array of `elements`, or is not above the one before it.
absl::Status CheckPlaces(std::span<const uint8_t> places, v1::Dtype dtype, uint64_t elements);

}  // namespace stoker

#endif  // STOKER_COMMON_FIELDS_COMPANIONS_H_
