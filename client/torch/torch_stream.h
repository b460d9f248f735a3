#ifndef STOKER_CLIENT_TORCH_TORCH_STREAM_H_
#define STOKER_CLIENT_TORCH_TORCH_STREAM_H_

// Finds the CUDA handle of a torch stream, whatever torch this is compiled against. A current torch tells it through
// c10 itself, so no CUDA header is needed. An older torch tells it through c10/cuda; this needs a torch that was built
// with CUDA (only then is there a cuda_cmake_macros.h) and CUDA's headers. A torch for CPUs has no streams.

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstdint>
#include <stdexcept>

#if __has_include(<c10/cuda/impl/cuda_cmake_macros.h>) && __has_include(<cuda_runtime_api.h>)
#include <c10/cuda/CUDAStream.h>
namespace stoker::torch_stream {
inline uintptr_t CudaHandle(const c10::Stream& stream) {
  return reinterpret_cast<uintptr_t>(c10::cuda::CUDAStream(stream).stream());
}
}  // namespace stoker::torch_stream
#else
namespace stoker::torch_stream {
inline uintptr_t CudaHandle(const c10::Stream&) {
  throw std::runtime_error("compiled without CUDA's headers, which this version of torch needs for a GPU's streams");
}
}  // namespace stoker::torch_stream
#endif

namespace stoker::torch_stream {

template <typename Guard>
auto Handle(const Guard& guard, const c10::Stream& stream, int)
    -> decltype(reinterpret_cast<uintptr_t>(guard.getStreamNativeHandle(stream))) {
  return reinterpret_cast<uintptr_t>(guard.getStreamNativeHandle(stream));
}

template <typename Guard>
uintptr_t Handle(const Guard&, const c10::Stream& stream, long) {
  return CudaHandle(stream);
}

}  // namespace stoker::torch_stream

namespace stoker {

// Returns the cudaStream_t of `stream` as an integer; 0 on the CPU.
inline uintptr_t StreamHandle(const c10::Stream& stream) {
  if (stream.device_type() != c10::DeviceType::CUDA) return 0;
  return torch_stream::Handle(c10::impl::VirtualGuardImpl(stream.device_type()), stream, 0);
}

// Returns the calling thread's current stream on `device`.
inline c10::Stream CurrentStream(const c10::Device& device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

}  // namespace stoker

#endif  // STOKER_CLIENT_TORCH_TORCH_STREAM_H_
