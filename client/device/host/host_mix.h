#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_MIX_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_MIX_H_

#include <cstdint>
#include <span>

#include "common/pipeline/device_pipeline.h"

namespace stoker {

// Whole images in the program's layout, as float32 (or uint8, where the program's dtype is that): what is left to do is
// to mix them and to round them to the program's dtype. Pure functions, thread-safe.

// Paints draw.erase over with the program's value.
void EraseFloats(const DevicePipeline::ImageProgram& program, const EraseDraw& erase, float* image);

// `own` becomes what the batch drew of itself and `other`. Elements are float or uint8_t; of kMixUp, float.
template <typename T>
void MixImages(const DevicePipeline::ImageProgram& program, const BatchDraw& draw, const T* other, T* own);

// To the nearest values of `dtype`, which is float32, float16 or bfloat16.
void RoundTo(v1::Dtype dtype, std::span<const float> values, void* out);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_MIX_H_
