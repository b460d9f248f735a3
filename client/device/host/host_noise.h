#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_NOISE_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_NOISE_H_

#include "common/pipeline/device_pipeline.h"

namespace stoker {

// Paints the rectangle `erase` of an image of float32 in the program's layout with noise: each value is z · erase_scale
// + erase_value, where z is drawn by the key of `erase`. Value i of the image, counted row by row with interleaved
// channels, has the same z in either layout. A pure function, thread-safe.
void EraseWithNoise(const DevicePipeline::ImageProgram& program, const EraseDraw& erase, float* image);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_NOISE_H_
