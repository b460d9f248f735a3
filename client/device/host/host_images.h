#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_IMAGES_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_IMAGES_H_

#include <cstdint>

#include "client/device/device.h"

namespace stoker {

// Runs all of pipeline.ImagesOf(field) on a batch's images at `in`, and writes the result to `out`, which has room for
// it and is aligned to 256 bytes. Thread-safe.
void TransformImages(const DevicePipeline& pipeline, int field, const HostBatch& batch, const uint8_t* in,
                     uint8_t* out);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_IMAGES_H_
