#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_FIELDS_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_FIELDS_H_

#include <cstdint>

#include "client/device/device.h"

namespace stoker {

// Fields other than the image, on the CPU. Pure functions, thread-safe.

// Makes field `field` of a batch as the pipeline says, which is neither kAsItCame nor kImage, at `out`: rows × what
// pipeline.fields() has. InvalidArgument names a value that has no class.
absl::Status MakeField(const DevicePipeline& pipeline, const HostBatch& batch, int field, void* out);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_FIELDS_H_
