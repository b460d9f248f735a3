#ifndef STOKER_CLIENT_DEVICE_CUDA_CUDA_DEVICE_H_
#define STOKER_CLIENT_DEVICE_CUDA_CUDA_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/device/cuda/runtime.h"
#include "client/device/options.h"

namespace stoker {

// Opens the GPU behind `runtime` as a device. One stream copies batches, another makes tensors of them. They wait for
// each other and for consumers by events on the GPU, so the next batch is copied while one is made, and no thread
// waits. Only for pageable slabs does Submit wait for the copy, since CUDA cannot copy them otherwise.
//
// Once a CUDA call has failed, for another reason than a lack of memory, Submit, UseOn and Wait all return its error.
// Failures of a consumer's own stream do not count.
//
// If slabs refer to the device, their owner must call Reclaim() until it returns false before dropping the device.
absl::StatusOr<std::shared_ptr<Device>> OpenCudaDevice(std::shared_ptr<CudaRuntime> runtime,
                                                       const DeviceOptions& options);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_CUDA_DEVICE_H_
