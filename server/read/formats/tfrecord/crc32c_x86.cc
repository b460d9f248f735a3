#include <nmmintrin.h>

#include <cstring>

#include "server/read/formats/tfrecord/crc32c.h"

namespace stoker {
namespace {

__attribute__((target("sse4.2"))) uint32_t Extend(std::span<const uint8_t> bytes, uint64_t crc) {
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    uint64_t eight;
    std::memcpy(&eight, bytes.data(), sizeof eight);
    crc = _mm_crc32_u64(crc, eight);
  }
  for (const uint8_t byte : bytes) crc = _mm_crc32_u8(static_cast<uint32_t>(crc), byte);
  return static_cast<uint32_t>(crc);
}

}  // namespace

bool ExtendByInstruction(std::span<const uint8_t> bytes, uint32_t& crc) {
  static const bool has_it = __builtin_cpu_supports("sse4.2");
  if (has_it) crc = Extend(bytes, crc);
  return has_it;
}

}  // namespace stoker
