#ifndef STOKER_COMMON_FIELDS_CAST_H_
#define STOKER_COMMON_FIELDS_CAST_H_

#include <cstdint>
#include <span>

#include "common/fields/number.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Requires a type of elements.
Number NumberOf(v1::Dtype dtype);

// What becomes of each number x: x · scale + bias, in float32. Element i takes scale[i % scale.size()] and the bias at
// that place. Without any it stays x. Both have one size.
struct Scaling {
  std::span<const float> scale, bias;
};

// Returns what ToDtype's `scale` multiplies numbers of this type by: 0 to 255 become 0 to 1, and int16 −1 to 1, as
// audio is scaled.
inline float ScaleOf(v1::Dtype dtype) { return dtype == v1::DTYPE_INT16 ? 1 / 32768.0F : 1 / 255.0F; }

// Turns each element of `in`, of type `from`, into one of `to`, which is float32, float16 or bfloat16. `out` has as
// many elements. Float64 and int64 are rounded to float32 first, as torch's `to` rounds them. Thread-safe.
void CastNumbers(std::span<const uint8_t> in, v1::Dtype from, const Scaling& scaling, v1::Dtype to, uint8_t* out);

}  // namespace stoker

#endif  // STOKER_COMMON_FIELDS_CAST_H_
