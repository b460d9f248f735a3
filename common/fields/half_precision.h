#ifndef STOKER_COMMON_FIELDS_HALF_PRECISION_H_
#define STOKER_COMMON_FIELDS_HALF_PRECISION_H_

#include <bit>
#include <cstdint>

namespace stoker {

// Turn float32 into the bits of the nearest 16-bit float, and such bits into the float32 that they mean. Ties go to
// even, as CPUs and GPUs round. NaN stays NaN. The layouts, highest bit first:
//
//   float32   sign 1 │ exponent 8 (bias 127) │ significand 23
//   bfloat16  sign 1 │ exponent 8 (bias 127) │ significand 7
//   float16   sign 1 │ exponent 5 (bias 15)  │ significand 10

// bfloat16 is the upper half of a float32.
constexpr uint16_t ToBfloat16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);  // A carry rightly raises the exponent.
}

// float16 is IEEE 754's binary16.
constexpr uint16_t ToFloat16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // 65520 and above become infinity.
  if (magnitude < 0x33000000) return static_cast<uint16_t>(sign);  // Less than half of the smallest number becomes 0.
  uint32_t significand = magnitude, shift = 13;
  if (magnitude < 0x38800000) {  // A subnormal result has its leading bit written out, and shifted to its place.
    significand = (magnitude & 0x7fffff) | 0x800000;
    shift = 126 - (magnitude >> 23);
  } else {
    significand -= 112u << 23;  // The exponent's bias changes from 127 to 15.
  }
  const uint32_t rounded = significand + (uint32_t{1} << (shift - 1)) - 1 + (significand >> shift & 1);
  return static_cast<uint16_t>(sign | rounded >> shift);
}

constexpr float FromBfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

constexpr float FromFloat16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // 0, or a subnormal number, which float32 has.
  return sign != 0 ? -magnitude : magnitude;
}

}  // namespace stoker

#endif  // STOKER_COMMON_FIELDS_HALF_PRECISION_H_
