#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_MAPS_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_MAPS_H_

#include "client/device/device.h"

namespace stoker {

// Makes field number `field` of a batch, which is a kMovedMap, on the CPU, and writes it to `out`, which has room for
// it. A pure function, thread-safe.
void MoveMaps(const DevicePipeline& pipeline, const HostBatch& batch, int field, void* out);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_MAPS_H_
