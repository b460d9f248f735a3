#ifndef STOKER_CLIENT_DEVICE_HALF_PRECISION_H_
#define STOKER_CLIENT_DEVICE_HALF_PRECISION_H_

#include <bit>
#include <cstdint>

namespace stoker {

// The bits of the 16-bit floats nearest to a float32, halves to even, as CPUs and GPUs round. NaN stays NaN.

// bfloat16: float32's upper half.
constexpr uint16_t ToBfloat16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);  // A carry goes on into the exponent.
}

// IEEE 754's binary16.
constexpr uint16_t ToFloat16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // 65520 and above: infinity.
  if (magnitude < 0x33000000) return static_cast<uint16_t>(sign);            // Below half of the smallest: 0.
  uint32_t significand = magnitude, shift = 13;
  if (magnitude < 0x38800000) {  // Subnormal: the leading bit is written out, and shifted to its place.
    significand = (magnitude & 0x7fffff) | 0x800000;
    shift = 126 - (magnitude >> 23);
  } else {
    significand -= 112u << 23;  // The exponent's other bias.
  }
  const uint32_t rounded = significand + (uint32_t{1} << (shift - 1)) - 1 + (significand >> shift & 1);
  return static_cast<uint16_t>(sign | rounded >> shift);
}

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HALF_PRECISION_H_
