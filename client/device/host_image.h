#ifndef STOKER_CLIENT_DEVICE_HOST_IMAGE_H_
#define STOKER_CLIENT_DEVICE_HOST_IMAGE_H_

#include <cstdint>
#include <vector>

#include "common/pipeline/device_pipeline.h"

namespace stoker {

// Runs `program` on one image of height × width × 3 bytes at `in`: flips it, casts to the program's dtype, computes
// x · scale + bias (rounded after each of the two; not for uint8) and changes the layout. `out` has room for
// height × width × 3 elements, is aligned to one, and does not overlap `in`. `scratch` is any vector, kept for speed.
// Thread-safe.
void TransformImage(const DevicePipeline::ImageProgram& program, Flips flips, const uint8_t* in, void* out,
                    std::vector<uint8_t>& scratch);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_IMAGE_H_
