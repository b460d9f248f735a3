#include "client/device/cuda/runtime.h"

namespace stoker {

absl::StatusOr<std::shared_ptr<CudaRuntime>> OpenCudaRuntime(int) {
  return absl::FailedPreconditionError(
      "this build of Stoker is without CUDA: it was configured without nvcc, or with STOKER_CUDA=OFF");
}

}  // namespace stoker
