#include "server/decode/jpeg_kernels.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/decode/jpeg_kernels.cc"
#include "hwy/foreach_target.h"
// highway.h must come after foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors have at most 32 bytes. What crosses lanes stays within blocks of 16 bytes, as AVX2 does it.
using D16 = hn::CappedTag<int16_t, 16>;
using D32 = hn::RepartitionToWide<D16>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
constexpr D16 d16;
constexpr D32 d32;
constexpr size_t kBlocks = hn::MaxLanes(d16) / 8;  // 16-byte blocks of a vector

// ---- inverse DCT ----

constexpr int kConstantBits = 13;
constexpr int kPassBits = 2;

// Fills each 32-bit lane with a pair of 16-bit factors, the first in the lower half.
HWY_INLINE V16 Pair(int first, int second) {
  return hn::BitCast(d16, hn::Set(d32, static_cast<int32_t>(static_cast<uint32_t>(second) << 16 |
                                                            (static_cast<uint32_t>(first) & 0xffff))));
}

// Returns a[2i] · b[2i] + a[2i+1] · b[2i+1] in lane i.
HWY_INLINE V32 MulPairs(V16 a, V16 b) {
  V32 odd = hn::Zero(d32);
  const V32 even = hn::ReorderWidenMulAccumulate(d32, a, b, hn::Zero(d32), odd);
  return hn::RearrangeToOddPlusEven(even, odd);
}

// Transforms one dimension in half of the lanes. Each input holds a pair of coefficients that are multiplied together:
// in04 holds numbers 0 and 4, and so on. Writes 8 outputs in order; Transform4 and Transform2 write 4 and 2.
template <int kShift>
HWY_INLINE void Transform8(V16 in04, V16 in26, V16 in71, V16 in53, V32* HWY_RESTRICT out, V32 rounding) {
  // The even part.
  const V32 sum = hn::Add(MulPairs(in04, Pair(8192, 8192)), rounding);
  const V32 difference = hn::Add(MulPairs(in04, Pair(8192, -8192)), rounding);
  const V32 rotated2 = MulPairs(in26, Pair(4433, 4433 - 15137));
  const V32 rotated3 = MulPairs(in26, Pair(4433 + 6270, 4433));
  const V32 even0 = hn::Add(sum, rotated3), even3 = hn::Sub(sum, rotated3);
  const V32 even1 = hn::Add(difference, rotated2), even2 = hn::Sub(difference, rotated2);
  // The odd part, with each sum of four products written out.
  const V32 odd0 =
      hn::Add(MulPairs(in71, Pair(2446 - 7373 - 16069 + 9633, 9633 - 7373)), MulPairs(in53, Pair(9633, 9633 - 16069)));
  const V32 odd1 =
      hn::Add(MulPairs(in71, Pair(9633, 9633 - 3196)), MulPairs(in53, Pair(16819 - 20995 + 9633 - 3196, 9633 - 20995)));
  const V32 odd2 = hn::Add(MulPairs(in71, Pair(9633 - 16069, 9633)),
                           MulPairs(in53, Pair(9633 - 20995, 25172 - 20995 + 9633 - 16069)));
  const V32 odd3 =
      hn::Add(MulPairs(in71, Pair(9633 - 7373, 12299 - 7373 + 9633 - 3196)), MulPairs(in53, Pair(9633 - 3196, 9633)));
  out[0] = hn::ShiftRight<kShift>(hn::Add(even0, odd3));
  out[7] = hn::ShiftRight<kShift>(hn::Sub(even0, odd3));
  out[1] = hn::ShiftRight<kShift>(hn::Add(even1, odd2));
  out[6] = hn::ShiftRight<kShift>(hn::Sub(even1, odd2));
  out[2] = hn::ShiftRight<kShift>(hn::Add(even2, odd1));
  out[5] = hn::ShiftRight<kShift>(hn::Sub(even2, odd1));
  out[3] = hn::ShiftRight<kShift>(hn::Add(even3, odd0));
  out[4] = hn::ShiftRight<kShift>(hn::Sub(even3, odd0));
}

template <int kShift>
HWY_INLINE void Transform4(V16 in04, V16 in26, V16 in71, V16 in53, V32* HWY_RESTRICT out, V32 rounding) {
  const V32 first = hn::Add(MulPairs(in04, Pair(16384, 0)), rounding), second = MulPairs(in26, Pair(15137, -6270));
  const V32 outer = hn::Add(first, second), inner = hn::Sub(first, second);
  const V32 odd_outer = hn::Add(MulPairs(in71, Pair(-4176, 20995)), MulPairs(in53, Pair(-4926, 7373)));
  const V32 odd_inner = hn::Add(MulPairs(in71, Pair(-1730, 8697)), MulPairs(in53, Pair(11893, -17799)));
  out[0] = hn::ShiftRight<kShift>(hn::Add(outer, odd_outer));
  out[3] = hn::ShiftRight<kShift>(hn::Sub(outer, odd_outer));
  out[1] = hn::ShiftRight<kShift>(hn::Add(inner, odd_inner));
  out[2] = hn::ShiftRight<kShift>(hn::Sub(inner, odd_inner));
}

template <int kShift>
HWY_INLINE void Transform2(V16 in04, V16 in71, V16 in53, V32* HWY_RESTRICT out, V32 rounding) {
  const V32 even = hn::Add(hn::ShiftLeft<1>(MulPairs(in04, Pair(16384, 0))), rounding);
  const V32 odd = hn::Add(MulPairs(in71, Pair(-5906, 29692)), MulPairs(in53, Pair(6967, -10426)));
  out[0] = hn::ShiftRight<kShift>(hn::Add(even, odd));
  out[1] = hn::ShiftRight<kShift>(hn::Sub(even, odd));
}

template <int kSize, int kShift>
HWY_INLINE void Transform(V16 in04, V16 in26, V16 in71, V16 in53, V32* HWY_RESTRICT out, V32 rounding) {
  if constexpr (kSize == 8) Transform8<kShift>(in04, in26, in71, in53, out, rounding);
  if constexpr (kSize == 4) Transform4<kShift>(in04, in26, in71, in53, out, rounding);
  if constexpr (kSize == 2) Transform2<kShift>(in04, in71, in53, out, rounding);
}

// Transforms one dimension: each lane of rows[0…7] becomes a lane of rows[0…kSize − 1]. `offset` is added to every
// output.
template <int kSize, int kShift>
HWY_INLINE void TransformRows(V16* HWY_RESTRICT rows, int32_t offset) {
  const V32 rounding = hn::Set(d32, (1 << (kShift - 1)) + offset * (1 << kShift));
  V32 lower[kSize], upper[kSize];
  Transform<kSize, kShift>(hn::InterleaveLower(d16, rows[0], rows[4]), hn::InterleaveLower(d16, rows[2], rows[6]),
                           hn::InterleaveLower(d16, rows[7], rows[1]), hn::InterleaveLower(d16, rows[5], rows[3]),
                           lower, rounding);
  Transform<kSize, kShift>(hn::InterleaveUpper(d16, rows[0], rows[4]), hn::InterleaveUpper(d16, rows[2], rows[6]),
                           hn::InterleaveUpper(d16, rows[7], rows[1]), hn::InterleaveUpper(d16, rows[5], rows[3]),
                           upper, rounding);
  for (int i = 0; i < kSize; ++i) rows[i] = hn::ReorderDemote2To(d16, lower[i], upper[i]);
}

template <typename T>
HWY_INLINE V16 LowerLanes(V16 a, V16 b) {
  const hn::Repartition<T, D16> d;
  return hn::BitCast(d16, hn::InterleaveLower(d, hn::BitCast(d, a), hn::BitCast(d, b)));
}
template <typename T>
HWY_INLINE V16 UpperLanes(V16 a, V16 b) {
  const hn::Repartition<T, D16> d;
  return hn::BitCast(d16, hn::InterleaveUpper(d, hn::BitCast(d, a), hn::BitCast(d, b)));
}

// Swaps the rows and columns of each 8×8 block.
HWY_INLINE void Transpose(V16* HWY_RESTRICT v) {
  V16 a[8], b[8];
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = LowerLanes<int16_t>(v[2 * i], v[2 * i + 1]);
    a[2 * i + 1] = UpperLanes<int16_t>(v[2 * i], v[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    b[4 * i] = LowerLanes<int32_t>(a[4 * i], a[4 * i + 2]);
    b[4 * i + 1] = UpperLanes<int32_t>(a[4 * i], a[4 * i + 2]);
    b[4 * i + 2] = LowerLanes<int32_t>(a[4 * i + 1], a[4 * i + 3]);
    b[4 * i + 3] = UpperLanes<int32_t>(a[4 * i + 1], a[4 * i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    v[2 * i] = LowerLanes<int64_t>(b[i], b[4 + i]);
    v[2 * i + 1] = UpperLanes<int64_t>(b[i], b[4 + i]);
  }
}

// Turns columns of 16-bit samples, one in each vector, into rows of bytes, clamped. Vector i of the result holds rows
// 2i and 2i + 1.
HWY_INLINE void PackColumns(const V16* HWY_RESTRICT columns, V16* HWY_RESTRICT rows) {
  const V16 zero = hn::Zero(d16), most = hn::Set(d16, 255);
  V16 pairs[4];
  for (int i = 0; i < 4; ++i) {
    const V16 left = hn::Min(hn::Max(columns[2 * i], zero), most);
    const V16 right = hn::Min(hn::Max(columns[2 * i + 1], zero), most);
    pairs[i] = hn::Or(left, hn::ShiftLeft<8>(right));
  }
  const V16 left_low = LowerLanes<int16_t>(pairs[0], pairs[1]), left_high = UpperLanes<int16_t>(pairs[0], pairs[1]);
  const V16 right_low = LowerLanes<int16_t>(pairs[2], pairs[3]), right_high = UpperLanes<int16_t>(pairs[2], pairs[3]);
  rows[0] = LowerLanes<int32_t>(left_low, right_low);
  rows[1] = UpperLanes<int32_t>(left_low, right_low);
  rows[2] = LowerLanes<int32_t>(left_high, right_high);
  rows[3] = UpperLanes<int32_t>(left_high, right_high);
}

// Loads 8 coefficients from `at` on of each block. It is a template so that only the branch that fits is compiled.
template <typename D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, int16_t* const* HWY_RESTRICT blocks, int at) {
  if constexpr (hn::MaxLanes(d) == 8) {
    return hn::Load(d, blocks[0] + at);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, hn::Load(half, blocks[1] + at), hn::Load(half, blocks[0] + at));
  }
}

// Transforms kBlocks blocks. Each output of a reduced size is the sum of 8 / kSize outputs, so each pass shifts by
// kSumBits more to make it their mean.
template <int kSize>
HWY_INLINE void TransformBlocks(int16_t* const* HWY_RESTRICT blocks, const BlockTarget* const* targets) {
  constexpr int kSumBits = kSize == 8 ? 0 : kSize == 4 ? 1 : 2;
  V16 v[8];
  for (int row = 0; row < 8; ++row) v[row] = LoadBlocks(d16, blocks, 8 * row);
  TransformRows<kSize, kConstantBits - kPassBits + kSumBits>(v, 0);
  Transpose(v);
  TransformRows<kSize, kConstantBits + kPassBits + 3 + kSumBits>(v, 128);
  V16 rows[4];
  PackColumns(v, rows);
  HWY_ALIGN uint64_t bytes[4][2 * kBlocks];
  for (int i = 0; i < 4; ++i) hn::Store(rows[i], d16, reinterpret_cast<int16_t*>(bytes[i]));
  for (size_t block = 0; block < kBlocks; ++block) {
    uint8_t* out = targets[block]->samples;
    for (int row = 0; row < kSize; ++row, out += targets[block]->stride)
      std::memcpy(out, &bytes[row / 2][2 * block + row % 2], kSize);
  }
}

template <int kSize>
HWY_INLINE void TransformAll(int16_t* blocks, std::span<const BlockTarget> targets) {
  for (size_t i = 0; i < targets.size(); i += kBlocks) {
    const size_t second = std::min(i + kBlocks - 1, targets.size() - 1);
    int16_t* const pair[2] = {blocks + 64 * i, blocks + 64 * second};
    const BlockTarget* const pair_targets[2] = {&targets[i], &targets[second]};
    TransformBlocks<kSize>(pair, pair_targets);
  }
}

void InverseDct(int16_t* blocks, int size, std::span<const BlockTarget> targets) {
  if (size == 8) TransformAll<8>(blocks, targets);
  if (size == 4) TransformAll<4>(blocks, targets);
  if (size == 2) TransformAll<2>(blocks, targets);
  std::memset(blocks, 0, targets.size() * 64 * sizeof *blocks);
}

// ---- YCbCr to RGB ----

using D8 = hn::Repartition<uint8_t, D16>;
using V8 = hn::Vec<D8>;
constexpr D8 d8;
constexpr int64_t kStep = hn::MaxLanes(d8);  // pixels

// The 16-bit values of kStep pixels. Of every 16 pixels `lower` has the first 8 and `upper` the others.
struct Values {
  V16 lower, upper;
};

HWY_INLINE Values Widen(V8 bytes) {
  const V8 zero = hn::Zero(d8);
  return {hn::BitCast(d16, hn::InterleaveLower(d8, bytes, zero)),
          hn::BitCast(d16, hn::InterleaveUpper(d8, bytes, zero))};
}

HWY_INLINE V16 LoadWide(const uint8_t* samples) {
  return hn::PromoteTo(d16, hn::LoadU(hn::Rebind<uint8_t, D16>(), samples));
}

HWY_INLINE V16 Triple(V16 v) { return hn::Add(v, hn::Add(v, v)); }

// Returns one chroma component of kStep pixels from `at` on.
template <ChromaHalving kHalving>
HWY_INLINE Values Upsample(const uint8_t* near, const uint8_t* far, int far_bias, int64_t at) {
  if constexpr (kHalving == ChromaHalving::kNone) {
    return Widen(hn::LoadU(d8, near + at));
  } else if constexpr (kHalving == ChromaHalving::kVertical) {
    const Values n = Widen(hn::LoadU(d8, near + at)), f = Widen(hn::LoadU(d8, far + at));
    const V16 bias = hn::Set(d16, static_cast<int16_t>(far_bias));
    return {hn::ShiftRight<2>(hn::Add(hn::Add(Triple(n.lower), f.lower), bias)),
            hn::ShiftRight<2>(hn::Add(hn::Add(Triple(n.upper), f.upper), bias))};
  } else {
    // The filter is applied down the columns at three neighboring places, then across these.
    const auto column = [&](int64_t x) HWY_ATTR {
      const V16 here = LoadWide(near + x);
      if constexpr (kHalving == ChromaHalving::kHorizontal) return here;
      return hn::Add(Triple(here), LoadWide(far + x));
    };
    constexpr bool kBoth = kHalving == ChromaHalving::kBoth;
    constexpr int kShift = kBoth ? 4 : 2;
    const V16 here = Triple(column(at / 2)), left = column(at / 2 - 1), right = column(at / 2 + 1);
    const V16 even_bias = hn::Set(d16, kBoth ? 8 : 1), odd_bias = hn::Set(d16, kBoth ? 7 : 2);
    const V16 even = hn::ShiftRight<kShift>(hn::Add(hn::Add(here, left), even_bias));
    const V16 odd = hn::ShiftRight<kShift>(hn::Add(hn::Add(here, right), odd_bias));
    return {hn::InterleaveLower(d16, even, odd), hn::InterleaveUpper(d16, even, odd)};
  }
}

HWY_INLINE V16 Clamp(V16 v) { return hn::Min(hn::Max(v, hn::Zero(d16)), hn::Set(d16, 255)); }

// Returns (x · factor + 2^15) >> 16. Requires |x| ≤ 128.
HWY_INLINE V16 MulRounded(V16 x, int16_t factor) {
  const V16 twice = hn::MulHigh(hn::Add(x, x), hn::Set(d16, factor));
  return hn::ShiftRight<1>(hn::Add(twice, hn::Set(d16, 1)));
}

// Returns y − 0.34414 · cb − 0.71414 · cr. In 16 fraction bits 0.71414 is 46802, which no int16 holds; since 46802 =
// 2^16 − 18734, a whole cr is subtracted and 18734 / 2^16 of it added.
HWY_INLINE V16 Green(V16 y, V16 cb, V16 cr) {
  const V16 factors = Pair(-22554, 18734);
  const V32 half = hn::Set(d32, 1 << 15);
  const V32 lower = hn::ShiftRight<16>(hn::Add(MulPairs(hn::InterleaveLower(d16, cb, cr), factors), half));
  const V32 upper = hn::ShiftRight<16>(hn::Add(MulPairs(hn::InterleaveUpper(d16, cb, cr), factors), half));
  return hn::Add(hn::Sub(y, cr), hn::ReorderDemote2To(d16, lower, upper));
}

// Writes the 4 pixels in each 16-byte block, those of the second block 64 bytes after those of the first.
template <typename D>
HWY_INLINE void StoreApart(D d, hn::Vec<D> pixels, uint8_t* HWY_RESTRICT out) {
  auto* const lanes = reinterpret_cast<int16_t*>(out);
  if constexpr (hn::MaxLanes(d) == 8) {
    hn::StoreU(pixels, d, lanes);
  } else {
    const hn::Half<D> half;
    hn::StoreU(hn::LowerHalf(half, pixels), half, lanes);
    hn::StoreU(hn::UpperHalf(half, pixels), half, lanes + 32);
  }
}

HWY_INLINE void StorePixels(V16 red, V16 green, V16 blue, uint8_t* HWY_RESTRICT out) {
  const V16 red_green = hn::Or(red, hn::ShiftLeft<8>(green));
  StoreApart(d16, LowerLanes<int16_t>(red_green, blue), out);
  StoreApart(d16, UpperLanes<int16_t>(red_green, blue), out + 16);
}

HWY_INLINE void StoreRgb(V16 y, V16 cb, V16 cr, uint8_t* HWY_RESTRICT out) {
  const V16 center = hn::Set(d16, 128);
  cb = hn::Sub(cb, center);
  cr = hn::Sub(cr, center);
  const V16 red = hn::Add(hn::Add(y, cr), MulRounded(cr, 26345));                 // y + 1.402 · cr
  const V16 blue = hn::Add(hn::Add(y, hn::Add(cb, cb)), MulRounded(cb, -14942));  // y + 1.772 · cb
  StorePixels(Clamp(red), Clamp(Green(y, cb, cr)), Clamp(blue), out);
}

template <ChromaHalving kHalving>
HWY_INLINE void ConvertRow(const YCbCrRow& row, int64_t width, uint8_t* HWY_RESTRICT out) {
  for (int64_t x = 0; x < width; x += kStep) {
    const Values y = Widen(hn::LoadU(d8, row.luma + x));
    const Values cb = Upsample<kHalving>(row.near[0], row.far[0], row.far_bias, x);
    const Values cr = Upsample<kHalving>(row.near[1], row.far[1], row.far_bias, x);
    StoreRgb(y.lower, cb.lower, cr.lower, out + 4 * x);
    StoreRgb(y.upper, cb.upper, cr.upper, out + 4 * x + 32);
  }
}

void YCbCrToRgbx(const YCbCrRow& row, ChromaHalving halving, int64_t width, uint8_t* out) {
  switch (halving) {
    case ChromaHalving::kNone: return ConvertRow<ChromaHalving::kNone>(row, width, out);
    case ChromaHalving::kHorizontal: return ConvertRow<ChromaHalving::kHorizontal>(row, width, out);
    case ChromaHalving::kVertical: return ConvertRow<ChromaHalving::kVertical>(row, width, out);
    case ChromaHalving::kBoth: return ConvertRow<ChromaHalving::kBoth>(row, width, out);
  }
}

void GrayToRgbx(const uint8_t* luma, int64_t width, uint8_t* out) {
  for (int64_t x = 0; x < width; x += kStep) {
    const Values y = Widen(hn::LoadU(d8, luma + x));
    StorePixels(y.lower, y.lower, y.lower, out + 4 * x);
    StorePixels(y.upper, y.upper, y.upper, out + 4 * x + 32);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(InverseDct);
HWY_EXPORT(YCbCrToRgbx);
HWY_EXPORT(GrayToRgbx);

void InverseDct(int16_t* blocks, int size, std::span<const BlockTarget> targets) {
  HWY_DYNAMIC_DISPATCH(InverseDct)(blocks, size, targets);
}

void FillBlock(int16_t dc, int size, const BlockTarget& target) {
  const int sample = std::clamp(128 + ((dc + 4) >> 3), 0, 255);
  uint8_t* out = target.samples;
  for (int y = 0; y < size; ++y, out += target.stride) std::memset(out, sample, size);
}

void YCbCrToRgbx(const YCbCrRow& row, ChromaHalving halving, int64_t width, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(YCbCrToRgbx)(row, halving, width, out);
}

void GrayToRgbx(const uint8_t* luma, int64_t width, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(GrayToRgbx)(luma, width, out);
}

}  // namespace stoker
#endif  // HWY_ONCE
