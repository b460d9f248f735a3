#include "client/device/cuda/runtime.h"

namespace stoker {

absl::StatusOr<std::shared_ptr<CudaRuntime>> OpenCudaRuntime(int) {
  return absl::FailedPreconditionError("this build of Stoker is without CUDA: nvcc was not found when it was made");
}

}  // namespace stoker
