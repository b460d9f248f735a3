// Levels of 8 bits as float32 vectors. This file is included once for each Highway target.
#if defined(STOKER_SERVER_AUGMENT_COLOR_LEVELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_SERVER_AUGMENT_COLOR_LEVELS_INL_H_
#undef STOKER_SERVER_AUGMENT_COLOR_LEVELS_INL_H_
#else
#define STOKER_SERVER_AUGMENT_COLOR_LEVELS_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// In float32 each of + − × ÷ rounds alike on every CPU. MulAdd does not, since it fuses where a CPU can; do not use it.
using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;
using IntTag = hn::Rebind<int32_t, FloatTag>;
using ShortTag = hn::ScalableTag<int16_t>;
using Shorts = hn::Vec<ShortTag>;
using ByteTag = hn::Rebind<uint8_t, ShortTag>;  // as many bytes as a vector has shorts: half a vector

// As many levels as a vector has shorts, in two vectors. Which level is where is unspecified.
struct Levels {
  Floats a, b;
};

HWY_INLINE Shorts LoadShorts(const uint8_t* levels) { return hn::PromoteTo(ShortTag(), hn::LoadU(ByteTag(), levels)); }

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE Levels ToLevels(Shorts levels) {
  const Floats level = hn::ConvertTo(FloatTag(), hn::PromoteTo(IntTag(), levels));
  return {level, level};
}

HWY_INLINE void StoreLevels(const Levels& levels, uint8_t* out) {
  hn::StoreU(hn::DemoteTo(ByteTag(), hn::ConvertTo(IntTag(), levels.a)), ByteTag(), out);
}
#else
// Requires that no level is negative.
HWY_INLINE Levels ToLevels(Shorts levels) {
  const ShortTag d;
  const Shorts zero = hn::Zero(d);
  return {hn::ConvertTo(FloatTag(), hn::BitCast(IntTag(), hn::InterleaveLower(d, levels, zero))),
          hn::ConvertTo(FloatTag(), hn::BitCast(IntTag(), hn::InterleaveUpper(d, levels, zero)))};
}

// Truncates toward zero and clamps to 0…255.
HWY_INLINE void StoreLevels(const Levels& levels, uint8_t* out) {
  const auto shorts = hn::ReorderDemote2To(ShortTag(), hn::ConvertTo(IntTag(), levels.a),
                                           hn::ConvertTo(IntTag(), levels.b));  // This undoes ToLevels' interleaving.
  hn::StoreU(hn::DemoteTo(ByteTag(), shorts), ByteTag(), out);
}
#endif

HWY_INLINE Levels LoadLevels(const uint8_t* levels) { return ToLevels(LoadShorts(levels)); }

// Blends as PIL's Image.blend does before it truncates.
HWY_INLINE Floats Blend(Floats from, Floats to, Floats factor) {
  return hn::Add(from, hn::Mul(factor, hn::Sub(to, from)));
}

// Returns the luma of PIL's Image.convert("L"), which is ITU-R 601-2's: (19595 R + 38470 G + 7471 B + 2^15) / 2^16,
// rounded down.
//
// It is computed in 16 bits. The weights' upper and lower bytes are multiplied apart, and the sums of either stay below
// 2^16. A level times a byte is taken as the upper half of (level · 2^8) · (byte · 2^8): GCC leaves that as one
// instruction, where it turns a plain product with a constant into many.
HWY_INLINE Shorts Luma(Shorts red, Shorts green, Shorts blue) {
  const hn::RebindToUnsigned<ShortTag> d;
  const auto r = hn::ShiftLeft<8>(hn::BitCast(d, red)), g = hn::ShiftLeft<8>(hn::BitCast(d, green));
  const auto b = hn::ShiftLeft<8>(hn::BitCast(d, blue));
  const auto weighted = [&](int of_red, int of_green, int of_blue) HWY_ATTR {
    const auto weight = [d](int byte) HWY_ATTR { return hn::Set(d, static_cast<uint16_t>(byte << 8)); };
    return hn::Add(hn::Add(hn::MulHigh(r, weight(of_red)), hn::MulHigh(g, weight(of_green))),
                   hn::MulHigh(b, weight(of_blue)));
  };
  const auto upper = weighted(19595 >> 8, 38470 >> 8, 7471 >> 8);
  const auto lower = weighted(19595 & 255, 38470 & 255, 7471 & 255);
  const auto sum = hn::Add(hn::Add(upper, hn::ShiftRight<8>(lower)), hn::Set(d, 128));
  return hn::BitCast(ShortTag(), hn::ShiftRight<8>(sum));
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif  // STOKER_SERVER_AUGMENT_COLOR_LEVELS_INL_H_
