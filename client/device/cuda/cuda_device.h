#ifndef STOKER_CLIENT_DEVICE_CUDA_CUDA_DEVICE_H_
#define STOKER_CLIENT_DEVICE_CUDA_CUDA_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/device/cuda/runtime.h"
#include "client/device/options.h"

namespace stoker {

// The GPU behind `runtime`. Batches are copied by one stream and made by another, each waiting for the other's and for
// consumers' events on the GPU: while a batch is made the next is copied, and no thread waits. (Of pageable slabs,
// Submit waits for the copy: CUDA copies them only so.) As soon as a CUDA call fails, for another reason than memory,
// all of Submit, UseOn and Wait return its error; but not one that a consumer's stream fails.
//
// Who submits batches must Reclaim() until that says false before it lets go of the device for good, if their slabs
// refer to it.
absl::StatusOr<std::shared_ptr<Device>> OpenCudaDevice(std::shared_ptr<CudaRuntime> runtime,
                                                       const DeviceOptions& options);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_CUDA_DEVICE_H_
