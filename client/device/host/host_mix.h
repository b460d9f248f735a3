#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_MIX_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_MIX_H_

#include <cstdint>
#include <span>

#include "common/pipeline/device_pipeline.h"

namespace stoker {

// These functions do what is left when an image has its layout: erase, mix, and round to the program's dtype. Images
// are float32, or uint8 if the program's dtype is uint8. Pure functions, thread-safe.

// Paints the rectangle `erase` of an image with the program's erase_value.
void EraseFloats(const DevicePipeline::ImageProgram& program, const EraseDraw& erase, float* image);

// Mixes `other` into `own`, as the row or the batch drew. T is float or uint8_t; kMixUp requires float.
template <typename T>
void MixImages(const DevicePipeline::ImageProgram& program, const BatchDraw& draw, const T* other, T* own);

// Rounds `values` to the nearest of `dtype`, which is float32, float16 or bfloat16, and writes those to `out`.
void RoundTo(v1::Dtype dtype, std::span<const float> values, void* out);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_MIX_H_
