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

// The calls that the device stage makes to one GPU. Each does what the CUDA runtime's function of a similar name does;
// an interface, so that tests can simulate a GPU. Thread-safe. Every thread's current context stays as it was, also if
// there was none. Errors carry CUDA's name for them: "cudaErrorMemoryAllocation: out of memory".
class CudaRuntime {
 public:
  using Event = struct EventHandle*;

  virtual ~CudaRuntime() = default;

  virtual int ordinal() const = 0;

  // The GPU's name in /sys/bus/pci/devices; empty if unknown.
  virtual std::string PciId() const = 0;

  // Allocates memory on the GPU, aligned to 256 bytes. ResourceExhausted if there is none.
  virtual absl::StatusOr<uint8_t*> AllocateDevice(uint64_t bytes) = 0;

  // Frees memory on the GPU. It waits for all queued work.
  virtual absl::Status FreeDevice(uint8_t* memory) = 0;

  // The bytes of GPU memory that are free.
  virtual absl::StatusOr<uint64_t> FreeDeviceBytes() = 0;

  // Allocates page-locked host memory, aligned to 256 bytes. ResourceExhausted if there is none.
  virtual absl::StatusOr<uint8_t*> AllocatePinned(uint64_t bytes) = 0;
  virtual absl::Status FreePinned(uint8_t* memory) = 0;

  // Creates a stream that does not wait for the default stream.
  virtual absl::StatusOr<Stream> CreateStream() = 0;
  virtual absl::Status DestroyStream(Stream stream) = 0;

  // Waits until all work that is queued on `stream` is done.
  virtual absl::Status Synchronize(Stream stream) = 0;

  // Queues on `stream` that it waits for `event`. Returns at once.
  virtual absl::Status WaitFor(Stream stream, Event event) = 0;

  // Creates an event. A thread that waits for it sleeps.
  virtual absl::StatusOr<Event> CreateEvent() = 0;
  virtual absl::Status DestroyEvent(Event event) = 0;
  virtual absl::Status Record(Event event, Stream stream) = 0;
  virtual absl::StatusOr<bool> IsDone(Event event) = 0;
  virtual absl::Status Synchronize(Event event) = 0;

  // These queue a copy, a fill or a kernel on `stream`. Host memory must stay valid until the copy is done.
  virtual absl::Status CopyToDevice(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) = 0;
  virtual absl::Status CopyOnDevice(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) = 0;
  virtual absl::Status CopyToHost(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) = 0;
  virtual absl::Status Fill(uint8_t* memory, uint8_t value, uint64_t bytes, Stream stream) = 0;
  virtual absl::Status Launch(const KernelCall& call, Stream stream) = 0;
};

// Opens the machine's GPU number `ordinal`. FailedPrecondition if this build has no CUDA or no kernels for that GPU, or
// if there is no driver or no such GPU.
absl::StatusOr<std::shared_ptr<CudaRuntime>> OpenCudaRuntime(int ordinal);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_RUNTIME_H_
