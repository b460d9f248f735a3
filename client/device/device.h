#ifndef STOKER_CLIENT_DEVICE_DEVICE_H_
#define STOKER_CLIENT_DEVICE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/pipeline/device_pipeline.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// One field of a batch. Refers to memory that its batch owns.
struct Tensor {
  std::string name;
  v1::Dtype dtype = v1::DTYPE_UINT8;
  std::vector<int64_t> shape;  // Samples first. Row by row, without padding.
  const void* data = nullptr;  // On the device that made it.
  uint64_t bytes = 0;
};

// Host memory in which spans land, as the device wants it: aligned to 256 bytes, page-locked for a GPU.
class HostSlab {
 public:
  virtual ~HostSlab() = default;
  virtual std::span<uint8_t> bytes() = 0;
};

// A batch as the servers made it: field by field, each `rows` samples long.
struct HostBatch {
  uint64_t seed = 0;
  uint64_t epoch = 0;
  std::span<const uint64_t> positions;           // of each row
  std::vector<std::span<const uint8_t>> fields;  // in a span's order
  int64_t rows() const { return static_cast<int64_t>(positions.size()); }
};

// A batch as a device hands it out: what the tensors point to lives as long as this.
class DeviceBatch {
 public:
  virtual ~DeviceBatch() = default;
  virtual const std::vector<Tensor>& tensors() const = 0;
};

// Where batches go and where the pipeline's device ops run. Thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  // ResourceExhausted if there is no memory.
  virtual absl::StatusOr<std::unique_ptr<HostSlab>> AllocateSlab(uint64_t bytes) = 0;

  // Runs `pipeline` on a batch. The batch's bytes must stay until the result is destroyed, for it may refer to
  // them where nothing had to be done. Fields that are no image are handed out as they came.
  virtual absl::StatusOr<std::unique_ptr<DeviceBatch>> Submit(const DevicePipeline& pipeline,
                                                              const HostBatch& batch) = 0;
};

// The CPU.
std::shared_ptr<Device> HostDevice();

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_DEVICE_H_
