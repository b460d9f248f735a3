#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_FIELDS_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_FIELDS_H_

#include <cstdint>

#include "client/device/device.h"

namespace stoker {

// Makes field number `field` of a batch on the CPU, as its FieldProgram says, and writes it to `out`, which has room
// for the batch's rows of pipeline.fields()[field]. Requires a program other than kAsItCame and kImage. InvalidArgument
// names a value that has no class. A pure function, thread-safe.
absl::Status MakeField(const DevicePipeline& pipeline, const HostBatch& batch, int field, void* out);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_FIELDS_H_
