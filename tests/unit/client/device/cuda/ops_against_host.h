#ifndef STOKER_TESTS_UNIT_CLIENT_DEVICE_CUDA_OPS_AGAINST_HOST_H_
#define STOKER_TESTS_UNIT_CLIENT_DEVICE_CUDA_OPS_AGAINST_HOST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/device/cuda/runtime.h"
#include "client/device/device.h"

namespace stoker {

// Pipelines of device ops, for a field "image" of any size from 12×12 on, "label" below 11 and "bits" of 3 bytes.
struct OpPipelines {
  std::string name;
  std::vector<std::string> texts;  // text format
};
std::vector<OpPipelines> AllOpPipelines();

// Expects of `device`, which is `runtime`'s, the host device's bytes for a random batch of images of at least 12×12 and
// at most `most` by `most` pixels.
void ExpectTheHosts(CudaRuntime& runtime, Device& device, const std::string& pipeline, int64_t most, uint64_t seed);

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_CLIENT_DEVICE_CUDA_OPS_AGAINST_HOST_H_
