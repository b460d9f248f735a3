#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_IMAGE_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_IMAGE_H_

#include <cstdint>
#include <vector>

#include "common/pipeline/device_pipeline.h"

namespace stoker {

// Runs the part of `program` that follows its steps on one image of program.out, H×W×C bytes, at `in`: flips it,
// computes x · scale + bias in float32 (rounded after each of the two; not for uint8) and changes the layout. What
// comes is float32, whichever floats the program ends in, or uint8. `out` has room for it, is aligned to one element,
// and does not overlap `in`. `scratch` is any vector, kept for speed. Thread-safe.
void TransformImage(const DevicePipeline::ImageProgram& program, Flips flips, const uint8_t* in, void* out,
                    std::vector<uint8_t>& scratch);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_IMAGE_H_
