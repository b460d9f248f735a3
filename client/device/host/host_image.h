#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_IMAGE_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_IMAGE_H_

#include <cstdint>
#include <vector>

#include "common/pipeline/device_pipeline.h"

namespace stoker {

// Runs the part of `program` that follows its steps on one image of H×W×C bytes at `in`, whose size is program.out. It
// flips the image, computes x · scale + bias in float32, rounding after each of the two, and changes the layout. The
// result is float32 if the program's dtype is any float; for uint8 there is no arithmetic.
//
// `out` has room for the result, is aligned to one element, and does not overlap `in`. `scratch` may hold anything; the
// caller keeps it for speed. Thread-safe.
void TransformImage(const DevicePipeline::ImageProgram& program, Flips flips, const uint8_t* in, void* out,
                    std::vector<uint8_t>& scratch);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_IMAGE_H_
