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

// Says in which memory something lies: the host's, or that of GPU number `ordinal`.
struct DeviceId {
  enum class Kind { kCpu, kCuda };
  Kind kind = Kind::kCpu;
  int ordinal = 0;
  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

// A queue of a GPU's work: a cudaStream_t as an integer. 0 and 1 are CUDA's legacy default stream, 2 is the calling
// thread's default stream. The CPU has no streams and ignores the value.
using Stream = uintptr_t;

// Owns the memory behind a tensor. When the last owner drops it, the memory serves another batch, but only after the
// work that was queued by then on the streams given to UseOn. Thread-safe.
class TensorMemory {
 public:
  virtual ~TensorMemory() = default;

  // Call it once for each stream, before work on `stream` that touches the memory. It returns at once; `stream` waits
  // until the tensor is made, and the memory's next use waits for `stream`. Requires a stream of the tensor's GPU that
  // lives until the tensor is dropped, and that captures no CUDA graph at that time. An error is the device's own, with
  // the device's name for it.
  virtual absl::Status UseOn(Stream stream) = 0;

  // Waits until the tensor is made. Call it before reading the tensor from the host.
  virtual absl::Status Wait() = 0;
};

// One field of a batch. Elements lie row by row, without padding.
//
// A field whose samples differ in size has two tensors. The one of its own name has the rows of all samples, one after
// the other. The other, whose name OffsetsName gives, has one int64 more than there are samples: rows offsets[i] up to,
// but without, offsets[i + 1] are those of sample i. Images of native size have a pixel a row, and behind them stands a
// field of their heights and widths, whose name SizesName gives.
struct Tensor {
  std::string name;
  v1::Dtype dtype = v1::DTYPE_UINT8;
  std::vector<int64_t> shape;  // the number of samples, or of rows, then the shape of one
  const void* data = nullptr;  // an address in the memory of `device`
  uint64_t bytes = 0;          // size of `data`
  DeviceId device;
  std::shared_ptr<TensorMemory> memory;  // owns `data`
};

// Returns the name of the tensor of the offsets of a field; no field can have such a name.
inline std::string OffsetsName(const std::string& field) { return field + ".offsets"; }

// Host memory in which spans land, of the kind that the device wants: aligned to 256 bytes, and page-locked for a GPU.
class HostSlab {
 public:
  virtual ~HostSlab() = default;
  virtual std::span<uint8_t> bytes() = 0;
};

// A batch as the servers made it.
struct HostBatch {
  uint64_t seed = 0;
  uint64_t epoch = 0;

  // For each row the position whose draws it has. A substitute has those of the position that it was taken from.
  std::span<const uint64_t> positions;

  // Each field's bytes of all rows, in a span's order. Nothing for a field whose samples differ in size.
  std::vector<std::span<const uint8_t>> fields;

  // Owns what `fields` and `variable` point to. Null if that outlives all tensors made of this batch.
  std::shared_ptr<HostSlab> slab;

  // The position by which batch ops are drawn. Unset: that of the first row, positions[0].
  std::optional<uint64_t> first_position;

  // The samples of a field that differ in size.
  struct Rows {
    size_t field = 0;                             // its index
    std::vector<std::span<const uint8_t>> parts;  // the samples in order, some of them in each part
    std::vector<int64_t> offsets;                 // where each sample's rows begin, and where the last one's end
  };
  std::vector<Rows> variable;  // in the order of the fields

  int64_t rows() const { return static_cast<int64_t>(positions.size()); }

  // The position by which batch ops are drawn. Requires a batch with rows.
  uint64_t FirstPosition() const { return first_position.value_or(positions[0]); }
};

// Takes batches and runs the pipeline's device ops on them. Thread-safe. Slabs and tensors may outlive it.
class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceId id() const = 0;

  // Allocates host memory for spans. If the device has no more memory of the kind that it prefers, a slab that is
  // `needed`, since the caller cannot go on without it, may be of another kind; others are refused. ResourceExhausted
  // if it is refused or there is no memory at all.
  virtual absl::StatusOr<std::unique_ptr<HostSlab>> AllocateSlab(uint64_t bytes, bool needed) = 0;

  // Runs `pipeline` on a batch and returns the fields that it hands out, in order, and then the offsets of those whose
  // samples differ in size. An asynchronous device only queues
  // that, and keeps the batch's slab for as long as it reads it. Once a device's queue has failed, every later call
  // fails with the same error, under the device's own name for it.
  virtual absl::StatusOr<std::vector<Tensor>> Submit(const DevicePipeline& pipeline, const HostBatch& batch) = 0;

  // True if Submit returns before its work is done. Then batches should be submitted before they are asked for.
  virtual bool asynchronous() const { return false; }

  // Drops the slab that was submitted first, waiting until it is copied. Returns false if the device keeps no slab.
  virtual bool Reclaim() { return false; }

  // Tells what a user should know about this device and could mend, a sentence each: "page-locking failed: …".
  virtual std::vector<std::string> Warnings() const { return {}; }
};

// Returns a slab as the memory of tensors on the CPU that are parts of it. Such tensors are ready at once.
std::shared_ptr<TensorMemory> MemoryOf(std::shared_ptr<HostSlab> slab);

// Returns the CPU as a device.
std::shared_ptr<Device> HostDevice();

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_DEVICE_H_
