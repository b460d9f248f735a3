#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_LABELS_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_LABELS_H_

#include <cstdint>
#include <span>

#include "client/device/device.h"

namespace stoker {

// Makes labels on the CPU: field number `field` of a batch with at least one row, whose draws are `draws`, one a row.
// `out` has room for the batch's rows of pipeline.fields()[field]. Pure functions, thread-safe.

// Requires a program that is kOneHot, and numbers below its classes.
void MakeOneHot(const DevicePipeline& pipeline, const HostBatch& batch, int field, std::span<const BatchDraw> draws,
                void* out);

// Requires a program that is kScale and mixes.
void MixNumbers(const DevicePipeline& pipeline, const HostBatch& batch, int field, std::span<const BatchDraw> draws,
                uint8_t* out);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_LABELS_H_
