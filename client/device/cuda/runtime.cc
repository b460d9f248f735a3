#include "client/device/cuda/runtime.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/str_cat.h"
#include "client/device/cuda/kernels.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

absl::Status StatusOf(cudaError_t error) {
  if (error == cudaSuccess) return absl::OkStatus();
  const std::string text = absl::StrCat(cudaGetErrorName(error), ": ", cudaGetErrorString(error));
  cudaGetLastError();  // So that nobody else meets it, where it does not stay.
  if (error == cudaErrorMemoryAllocation) return absl::ResourceExhaustedError(text);
  return absl::InternalError(text);
}

// Makes a GPU the thread's current one for a while. The runtime counts what changes nothing as cheap.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal) {
    if (cudaGetDevice(&before_) != cudaSuccess) before_ = ordinal;
    if (before_ != ordinal) cudaSetDevice(ordinal);
    ordinal_ = ordinal;
  }
  ~CurrentDevice() {
    if (before_ != ordinal_) cudaSetDevice(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0, ordinal_ = 0;
};

cudaStream_t Native(Stream stream) { return reinterpret_cast<cudaStream_t>(stream); }
cudaEvent_t Native(CudaRuntime::Event event) { return reinterpret_cast<cudaEvent_t>(event); }

class Cudart : public CudaRuntime {
 public:
  explicit Cudart(int ordinal) : ordinal_(ordinal) {}

  int ordinal() const override { return ordinal_; }

  std::string PciId() const override {
    char id[32] = "";
    if (cudaDeviceGetPCIBusId(id, sizeof id, ordinal_) != cudaSuccess) return "";
    std::string text = id;
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  }

  absl::StatusOr<uint8_t*> AllocateDevice(uint64_t bytes) override {
    void* memory = nullptr;
    STOKER_RETURN_IF_ERROR(Call([&] { return cudaMalloc(&memory, bytes); }));
    return static_cast<uint8_t*>(memory);
  }
  absl::Status FreeDevice(uint8_t* memory) override {
    return Call([&] { return cudaFree(memory); });
  }
  absl::StatusOr<uint64_t> FreeDeviceBytes() override {
    size_t free = 0, all = 0;
    STOKER_RETURN_IF_ERROR(Call([&] { return cudaMemGetInfo(&free, &all); }));
    return free;
  }
  absl::StatusOr<uint8_t*> AllocatePinned(uint64_t bytes) override {
    void* memory = nullptr;
    STOKER_RETURN_IF_ERROR(Call([&] { return cudaHostAlloc(&memory, bytes, cudaHostAllocDefault); }));
    return static_cast<uint8_t*>(memory);
  }
  absl::Status FreePinned(uint8_t* memory) override {
    return Call([&] { return cudaFreeHost(memory); });
  }

  absl::StatusOr<Stream> CreateStream() override {
    cudaStream_t stream = nullptr;
    STOKER_RETURN_IF_ERROR(Call([&] { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }));
    return reinterpret_cast<Stream>(stream);
  }
  absl::Status DestroyStream(Stream stream) override {
    return Call([&] { return cudaStreamDestroy(Native(stream)); });
  }
  absl::Status Synchronize(Stream stream) override {
    return Call([&] { return cudaStreamSynchronize(Native(stream)); });
  }
  absl::Status WaitFor(Stream stream, Event event) override {
    return Call([&] { return cudaStreamWaitEvent(Native(stream), Native(event), cudaEventWaitDefault); });
  }

  absl::StatusOr<Event> CreateEvent() override {
    cudaEvent_t event = nullptr;
    STOKER_RETURN_IF_ERROR(Call([&] { return cudaEventCreateWithFlags(&event, cudaEventDisableTiming); }));
    return reinterpret_cast<Event>(event);
  }
  absl::Status DestroyEvent(Event event) override {
    return Call([&] { return cudaEventDestroy(Native(event)); });
  }
  absl::Status Record(Event event, Stream stream) override {
    return Call([&] { return cudaEventRecord(Native(event), Native(stream)); });
  }
  absl::StatusOr<bool> IsDone(Event event) override {
    const CurrentDevice current(ordinal_);
    const cudaError_t error = cudaEventQuery(Native(event));
    if (error == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    STOKER_RETURN_IF_ERROR(StatusOf(error));
    return true;
  }
  absl::Status Synchronize(Event event) override {
    return Call([&] { return cudaEventSynchronize(Native(event)); });
  }

  absl::Status CopyToDevice(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) override {
    return Copy(to, from, bytes, cudaMemcpyHostToDevice, stream);
  }
  absl::Status CopyOnDevice(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) override {
    return Copy(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
  }
  absl::Status CopyToHost(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) override {
    return Copy(to, from, bytes, cudaMemcpyDeviceToHost, stream);
  }
  absl::Status Fill(uint8_t* memory, uint8_t value, uint64_t bytes, Stream stream) override {
    return Call([&] { return cudaMemsetAsync(memory, value, bytes, Native(stream)); });
  }
  absl::Status Launch(const KernelCall& call, Stream stream) override {
    return Call([&] { return LaunchKernel(call, Native(stream)); });
  }

 private:
  template <typename Function>
  absl::Status Call(Function function) const {
    const CurrentDevice current(ordinal_);
    return StatusOf(function());
  }

  absl::Status Copy(uint8_t* to, const uint8_t* from, uint64_t bytes, cudaMemcpyKind kind, Stream stream) const {
    return Call([&] { return cudaMemcpyAsync(to, from, bytes, kind, Native(stream)); });
  }

  const int ordinal_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<CudaRuntime>> OpenCudaRuntime(int ordinal) {
  int devices = 0;
  if (const absl::Status status = StatusOf(cudaGetDeviceCount(&devices)); !status.ok())
    return absl::UnavailableError(absl::StrCat("no GPU can be used on this machine (", status.message(), ")"));
  if (ordinal >= devices)
    return absl::UnavailableError(absl::StrCat("there is no GPU cuda:", ordinal, "; this machine has ", devices));
  return std::make_shared<Cudart>(ordinal);
}

}  // namespace stoker
