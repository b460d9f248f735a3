#include "client/device/cuda/runtime.h"

#include <cudaTypedefs.h>

#include <algorithm>
#include <cctype>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/device/cuda/kernels.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

absl::Status StatusOf(cudaError_t error) {
  if (error == cudaSuccess) return absl::OkStatus();
  const std::string text = absl::StrCat(cudaGetErrorName(error), ": ", cudaGetErrorString(error));
  cudaGetLastError();  // Clears the error, unless it is sticky, so that nobody else takes it for their own.
  if (error == cudaErrorMemoryAllocation) return absl::ResourceExhaustedError(text);
  return absl::InternalError(text);
}

// The driver's calls for a thread's context. The runtime's calls, cudaGetDevice and cudaSetDevice, cannot restore that
// a thread had no context: they would make one on GPU 0.
struct ContextCalls {
  PFN_cuCtxGetCurrent_v4000 get = nullptr;
  PFN_cuCtxSetCurrent_v4000 set = nullptr;
};

template <typename Function>
absl::Status FindInDriver(const char* name, Function* function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &found, 4000, cudaEnableDefault, &result);
  if (error != cudaSuccess) return StatusOf(error);
  if (result != cudaDriverEntryPointSuccess || found == nullptr)
    return absl::UnavailableError(absl::StrCat("the CUDA driver has no ", name));
  *function = reinterpret_cast<Function>(found);
  return absl::OkStatus();
}

absl::StatusOr<ContextCalls> FindContextCalls() {
  ContextCalls calls;
  STOKER_RETURN_IF_ERROR(FindInDriver("cuCtxGetCurrent", &calls.get));
  STOKER_RETURN_IF_ERROR(FindInDriver("cuCtxSetCurrent", &calls.set));
  return calls;
}

// Makes a GPU the thread's current one while it lives.
class CurrentDevice {
 public:
  CurrentDevice(const ContextCalls& calls, int ordinal) : calls_(calls) {
    // The driver's errors have the runtime's numbers.
    error_ = static_cast<cudaError_t>(calls_.get(&before_));
    if (error_ != cudaSuccess) return;
    known_ = true;
    error_ = cudaSetDevice(ordinal);
  }
  ~CurrentDevice() {
    if (known_) calls_.set(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

  cudaError_t error() const { return error_; }

 private:
  const ContextCalls& calls_;
  CUcontext before_ = nullptr;
  bool known_ = false;
  cudaError_t error_ = cudaSuccess;
};

cudaStream_t Native(Stream stream) { return reinterpret_cast<cudaStream_t>(stream); }
cudaEvent_t Native(CudaRuntime::Event event) { return reinterpret_cast<cudaEvent_t>(event); }

class Cudart : public CudaRuntime {
 public:
  Cudart(int ordinal, const ContextCalls& calls) : ordinal_(ordinal), calls_(calls) {}

  absl::Status CheckKernels() const {
    const CurrentDevice current(calls_, ordinal_);
    STOKER_RETURN_IF_ERROR(StatusOf(current.error()));
    const cudaError_t error = FindKernel();
    const absl::Status status = StatusOf(error);
    if (error != cudaErrorNoKernelImageForDevice && error != cudaErrorInvalidDeviceFunction &&
        error != cudaErrorUnsupportedPtxVersion && error != cudaErrorJitCompilationDisabled)
      return status;
    cudaDeviceProp gpu;
    STOKER_RETURN_IF_ERROR(StatusOf(cudaGetDeviceProperties(&gpu, ordinal_)));
    const auto name = [](std::string* out, int capability) {
      absl::StrAppend(out, capability / 100, ".", capability / 10 % 10);
    };
    return absl::FailedPreconditionError(
        absl::StrCat("cuda:", ordinal_, ", ", gpu.name, ", is of compute capability ", gpu.major, ".", gpu.minor,
                     ", but this build of Stoker has kernels for ", absl::StrJoin(KernelCapabilities(), ", ", name),
                     " (CMAKE_CUDA_ARCHITECTURES; ", status.message(), ")"));
  }

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
    STOKER_RETURN_IF_ERROR(
        Call([&] { return cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync); }));
    return reinterpret_cast<Event>(event);
  }
  absl::Status DestroyEvent(Event event) override {
    return Call([&] { return cudaEventDestroy(Native(event)); });
  }
  absl::Status Record(Event event, Stream stream) override {
    return Call([&] { return cudaEventRecord(Native(event), Native(stream)); });
  }
  absl::StatusOr<bool> IsDone(Event event) override {
    const CurrentDevice current(calls_, ordinal_);
    STOKER_RETURN_IF_ERROR(StatusOf(current.error()));
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
    const CurrentDevice current(calls_, ordinal_);
    STOKER_RETURN_IF_ERROR(StatusOf(current.error()));
    return StatusOf(function());
  }

  absl::Status Copy(uint8_t* to, const uint8_t* from, uint64_t bytes, cudaMemcpyKind kind, Stream stream) const {
    return Call([&] { return cudaMemcpyAsync(to, from, bytes, kind, Native(stream)); });
  }

  const int ordinal_;
  const ContextCalls calls_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<CudaRuntime>> OpenCudaRuntime(int ordinal) {
  int devices = 0;
  if (const absl::Status status = StatusOf(cudaGetDeviceCount(&devices)); !status.ok())
    return absl::FailedPreconditionError(absl::StrCat("no GPU can be used on this machine (", status.message(), ")"));
  if (ordinal >= devices)
    return absl::FailedPreconditionError(
        absl::StrCat("there is no GPU cuda:", ordinal, "; this machine has ", devices));
  STOKER_ASSIGN_OR_RETURN(const ContextCalls calls, FindContextCalls());
  auto gpu = std::make_shared<Cudart>(ordinal, calls);
  STOKER_RETURN_IF_ERROR(gpu->CheckKernels());
  return gpu;
}

}  // namespace stoker
