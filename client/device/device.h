#ifndef STOKER_CLIENT_DEVICE_DEVICE_H_
#define STOKER_CLIENT_DEVICE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/pipeline/device_pipeline.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Where memory is.
struct DeviceId {
  enum class Kind { kCpu, kCuda };
  Kind kind = Kind::kCpu;
  int ordinal = 0;
  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

// A queue of a GPU's work: a cudaStream_t as an integer, of which 0 and 1 are CUDA's legacy default stream and 2 the
// calling thread's. The CPU has none, and takes any.
using Stream = uintptr_t;

// The memory behind a tensor. When its last owner lets go it serves another batch, but not before the work that was
// then queued on the streams it was used on is done. Thread-safe.
class TensorMemory {
 public:
  virtual ~TensorMemory() = default;

  // Must come before work on `stream` that touches the memory, once for each stream: the stream waits until the tensor
  // is made, and the memory's next use for the stream. Does not wait itself. The
  // stream is one of the tensor's GPU, lives until the tensor is let go and captures no CUDA graph then. An error is
  // the device's own, by its name.
  virtual absl::Status UseOn(Stream stream) = 0;

  // Waits until the tensor is made, for whoever reads it from the host.
  virtual absl::Status Wait() = 0;
};

// One field of a batch.
struct Tensor {
  std::string name;
  v1::Dtype dtype = v1::DTYPE_UINT8;
  std::vector<int64_t> shape;  // Samples first. Row by row, without padding.
  const void* data = nullptr;  // On `device`.
  uint64_t bytes = 0;
  DeviceId device;
  std::shared_ptr<TensorMemory> memory;  // Owns `data`.
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
  std::span<const uint64_t> positions;           // By which each row is drawn: a substitute's by its own.
  std::vector<std::span<const uint8_t>> fields;  // in a span's order
  std::shared_ptr<HostSlab> slab;                // What `fields` lie in; null if they outlive all that is made of them.
  std::optional<uint64_t> first_position;        // By which batches are mixed, if the first row is drawn by another's.
  int64_t rows() const { return static_cast<int64_t>(positions.size()); }
  uint64_t FirstPosition() const { return first_position.value_or(positions[0]); }  // Of a batch with rows.
};

// Where batches go and where the pipeline's device ops run. Thread-safe. What it made may outlive it.
class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceId id() const = 0;

  // ResourceExhausted if there is no memory, or no more of the kind that the device prefers: of any kind, if the caller
  // cannot go on without (`needed`).
  virtual absl::StatusOr<std::unique_ptr<HostSlab>> AllocateSlab(uint64_t bytes, bool needed) = 0;

  // Runs `pipeline` on a batch and gives its fields as handed out, in order. An asynchronous device only queues that,
  // and keeps the batch's slab for as long as it reads it. Errors of a device's queue are sticky, and named as it names
  // them.
  virtual absl::StatusOr<std::vector<Tensor>> Submit(const DevicePipeline& pipeline, const HostBatch& batch) = 0;

  // Whether Submit returns before it is done: then it is worth submitting a batch before it is asked for.
  virtual bool asynchronous() const { return false; }

  // Lets go of the slabs that Submit is done with; of none, it waits for the first. False if it keeps none.
  virtual bool Reclaim() { return false; }

  // What a user should know about this device and could mend, a sentence each: "page-locking failed: …".
  virtual std::vector<std::string> Warnings() const { return {}; }
};

// A slab as the memory of tensors that are parts of it; made from the start, on the CPU.
std::shared_ptr<TensorMemory> MemoryOf(std::shared_ptr<HostSlab> slab);

// The CPU.
std::shared_ptr<Device> HostDevice();

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_DEVICE_H_
