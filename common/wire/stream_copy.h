#ifndef STOKER_COMMON_WIRE_STREAM_COPY_H_
#define STOKER_COMMON_WIRE_STREAM_COPY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace stoker {

// Copies like memcpy but past the caches, if the CPU can. Use it for bytes that this CPU will not read soon. It saves
// loading the destination's old content, a third of the memory traffic. Call EndStreamCopies before another thread or
// device may read the copy.
inline void StreamCopy(uint8_t* to, const void* from, size_t bytes) {
  const auto* source = static_cast<const uint8_t*>(from);
#ifdef __SSE2__
  constexpr size_t kVector = sizeof(__m128i), kLine = 64;
  const size_t unaligned = std::min(bytes, -reinterpret_cast<uintptr_t>(to) % kLine);
  std::memcpy(to, source, unaligned);
  to += unaligned, source += unaligned, bytes -= unaligned;
  for (; bytes >= kLine; to += kLine, source += kLine, bytes -= kLine) {
    __m128i vectors[kLine / kVector];
    std::memcpy(vectors, source, kLine);
    for (size_t i = 0; i < std::size(vectors); ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, vectors[i]);
  }
#endif
  std::memcpy(to, source, bytes);
}

// Makes all earlier StreamCopy calls of this thread visible before whatever it writes next.
inline void EndStreamCopies() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace stoker

#endif  // STOKER_COMMON_WIRE_STREAM_COPY_H_
