#ifndef STOKER_COMMON_FIELDS_NUMBER_H_
#define STOKER_COMMON_FIELDS_NUMBER_H_

#include <bit>
#include <cstdint>

#include "common/fields/half_precision.h"

namespace stoker {

// How numbers of a field become others, element by element, by float32. Servers, CPUs and GPUs run these functions, so
// that all make the same bits; compilers must not fuse multiply and add (-ffp-contract=off, -fmad=false).

// The type of an element, for code that cannot include the messages of proto/.
enum class Number : uint8_t { kUint8, kInt16, kInt32, kInt64, kFloat16, kBfloat16, kFloat32, kFloat64 };

constexpr int64_t ByteSize(Number type) {
  switch (type) {
    case Number::kUint8: return 1;
    case Number::kInt16:
    case Number::kFloat16:
    case Number::kBfloat16: return 2;
    case Number::kInt32:
    case Number::kFloat32: return 4;
    case Number::kInt64:
    case Number::kFloat64: break;
  }
  return 8;
}

// Returns the float32 nearest to the little-endian element at `bytes`.
constexpr float LoadNumber(Number type, const uint8_t* bytes) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < ByteSize(type); ++i) bits |= uint64_t{bytes[i]} << 8 * i;
  switch (type) {
    case Number::kUint8: return static_cast<float>(bits);
    case Number::kInt16: return static_cast<float>(static_cast<int16_t>(bits));
    case Number::kInt32: return static_cast<float>(static_cast<int32_t>(bits));
    case Number::kInt64: return static_cast<float>(static_cast<int64_t>(bits));
    case Number::kFloat16: return FromFloat16(static_cast<uint16_t>(bits));
    case Number::kBfloat16: return FromBfloat16(static_cast<uint16_t>(bits));
    case Number::kFloat32: return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case Number::kFloat64: break;
  }
  return static_cast<float>(std::bit_cast<double>(bits));
}

// Writes the nearest float16, bfloat16 or float32, which `type` must be, to `bytes`, little-endian.
constexpr void StoreFloat(Number type, float x, uint8_t* bytes) {
  const uint32_t bits = type == Number::kFloat16    ? ToFloat16(x)
                        : type == Number::kBfloat16 ? ToBfloat16(x)
                                                    : std::bit_cast<uint32_t>(x);
  for (int64_t i = 0; i < ByteSize(type); ++i) bytes[i] = static_cast<uint8_t>(bits >> 8 * i);
}

}  // namespace stoker

#endif  // STOKER_COMMON_FIELDS_NUMBER_H_
