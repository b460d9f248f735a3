#ifndef STOKER_CLIENT_DEVICE_CUDA_RUNTIME_H_
#define STOKER_CLIENT_DEVICE_CUDA_RUNTIME_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/device/cuda/kernel_arguments.h"
#include "client/device/device.h"

namespace stoker {

// The calls to one GPU that the stage makes, each as the CUDA runtime documents it. Thread-safe; leaves every thread's
// current context as it was, and none where there was none. Errors carry CUDA's name for them:
// "cudaErrorMemoryAllocation: out of memory".
class CudaRuntime {
 public:
  using Event = struct EventHandle*;

  virtual ~CudaRuntime() = default;

  virtual int ordinal() const = 0;
  virtual std::string PciId() const = 0;  // As in /sys/bus/pci/devices; empty if unknown.

  // ResourceExhausted if there is no memory. Aligned to 256 bytes.
  virtual absl::StatusOr<uint8_t*> AllocateDevice(uint64_t bytes) = 0;
  virtual absl::Status FreeDevice(uint8_t* memory) = 0;    // Waits for all queued work.
  virtual absl::StatusOr<uint64_t> FreeDeviceBytes() = 0;  // That nobody has.
  virtual absl::StatusOr<uint8_t*> AllocatePinned(uint64_t bytes) = 0;
  virtual absl::Status FreePinned(uint8_t* memory) = 0;

  // A stream that does not wait for the default stream.
  virtual absl::StatusOr<Stream> CreateStream() = 0;
  virtual absl::Status DestroyStream(Stream stream) = 0;
  virtual absl::Status Synchronize(Stream stream) = 0;
  virtual absl::Status WaitFor(Stream stream, Event event) = 0;  // Queues that.

  // Who waits for an event sleeps.
  virtual absl::StatusOr<Event> CreateEvent() = 0;
  virtual absl::Status DestroyEvent(Event event) = 0;
  virtual absl::Status Record(Event event, Stream stream) = 0;
  virtual absl::StatusOr<bool> IsDone(Event event) = 0;
  virtual absl::Status Synchronize(Event event) = 0;

  // Queue these. Host memory stays until then.
  virtual absl::Status CopyToDevice(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) = 0;
  virtual absl::Status CopyOnDevice(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) = 0;
  virtual absl::Status CopyToHost(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) = 0;
  virtual absl::Status Fill(uint8_t* memory, uint8_t value, uint64_t bytes, Stream stream) = 0;
  virtual absl::Status Launch(const KernelCall& call, Stream stream) = 0;
};

// The machine's GPU of that number. FailedPrecondition where this build is without CUDA or without kernels for that
// GPU, or where there is no driver or no such GPU.
absl::StatusOr<std::shared_ptr<CudaRuntime>> OpenCudaRuntime(int ordinal);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_RUNTIME_H_
