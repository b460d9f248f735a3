#include "server/augment/resize/convolve.h"

#include <algorithm>
#include <cstring>

#include "server/augment/resize/portable_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/augment/resize/convolve.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE

void SumRows(const ConvolveRowsTask& task) { PortableConvolveRows(task); }
void SumColumns(const ConvolveColumnsTask& task) { PortableConvolveColumns(task); }

#else

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kStep = 4;  // output pixels of a block at a time
constexpr int kHighBits = PairWeights::kFractionBits - PairWeights::kLowBits;

// Vectors have one or two blocks of 16 bytes.
constexpr hn::CappedTag<uint8_t, 32> d8;
constexpr hn::Repartition<int16_t, decltype(d8)> d16;
constexpr hn::Repartition<int32_t, decltype(d8)> d32;
constexpr hn::Repartition<uint32_t, decltype(d8)> du32;
using V8 = hn::Vec<decltype(d8)>;
using V16 = hn::Vec<decltype(d16)>;
using V32 = hn::Vec<decltype(d32)>;
constexpr int64_t kBlocks = hn::MaxLanes(d8) / 16;

// The weighted sums of the four channels of one pixel in each block. The products with the upper and the lower parts of
// the weights are added up apart.
struct Sums {
  V32 high, low;

  HWY_INLINE Sums() : high(hn::Set(d32, 1 << (kHighBits - 1))), low(hn::Zero(d32)) {}

  // Adds two taps of each channel.
  HWY_INLINE void Add(V16 values, const PairWeights::Pair& weights) {
    high = hn::Add(high, SumOfProducts(values, hn::BitCast(d16, hn::Set(du32, weights.high))));
    low = hn::Add(low, SumOfProducts(values, hn::BitCast(d16, hn::Set(du32, weights.low))));
  }

  HWY_INLINE V32 Pixel() const {
    return hn::ShiftRight<kHighBits>(hn::Add(high, hn::ShiftRight<PairWeights::kLowBits>(low)));
  }

 private:
  static HWY_INLINE V32 SumOfProducts(V16 a, V16 b) {
    V32 odd = hn::Zero(d32);
    const V32 even = hn::ReorderWidenMulAccumulate(d32, a, b, hn::Zero(d32), odd);
    return hn::RearrangeToOddPlusEven(even, odd);
  }
};

// The orders that ClampedPixels can give the bytes of four pixels: each entry is a byte's place in a block before that.
alignas(16) constexpr uint8_t kRgbx[16] = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
alignas(16) constexpr uint8_t kRgb[16] = {0, 2, 4, 8, 10, 12, 1, 3, 5, 9, 11, 13, 0, 0, 0, 0};

HWY_INLINE V8 ClampedPixels(const V32 (&pixels)[kStep], const uint8_t (&order)[16]) {
  const V16 zero = hn::Zero(d16), most = hn::Set(d16, 255);
  const V16 even = hn::Min(hn::Max(hn::ReorderDemote2To(d16, pixels[0], pixels[1]), zero), most);
  const V16 odd = hn::Min(hn::Max(hn::ReorderDemote2To(d16, pixels[2], pixels[3]), zero), most);
  const V8 bytes = hn::BitCast(d8, hn::Or(even, hn::ShiftLeft<8>(odd)));
  return hn::TableLookupBytes(bytes, hn::LoadDup128(d8, order));
}

// Stores the blocks of `vector` at `first` and, where there are two, `second`.
HWY_INLINE void StoreBlocks(V8 vector, uint8_t* first, uint8_t* second) {
  if constexpr (kBlocks == 1) {
    hn::StoreU(vector, d8, first);
  } else {
    constexpr hn::Half<decltype(d8)> block;
    hn::StoreU(hn::LowerHalf(vector), block, first);
    hn::StoreU(hn::UpperHalf(block, vector), block, second);
  }
}

constexpr int64_t kRows = ConvolveRowsTask::kRows, kPairValues = ConvolveRowsTask::kPairValues;

// Lays out four pixels as two pairs of the form [r0 r1 g0 g1 b0 b1 x0 x1], kPairValues apart.
HWY_INLINE void SpreadPixels(const uint8_t* in, int16_t* out) {
  constexpr hn::Full128<uint8_t> block;
  constexpr hn::Full128<int16_t> values;
  alignas(16) static constexpr uint8_t kPairs[16] = {0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15};
  const auto pixels = hn::TableLookupBytes(hn::LoadU(block, in), hn::Load(block, kPairs));
  const auto zero = hn::Zero(block);
  hn::StoreU(hn::BitCast(values, hn::InterleaveLower(block, pixels, zero)), values, out);
  hn::StoreU(hn::BitCast(values, hn::InterleaveUpper(block, pixels, zero)), values, out + kPairValues);
}

// Lays out a row of `width` pixels in the same way, and zeros after its end until there are `pairs` pairs.
void SpreadRow(const uint8_t* in, int64_t width, int64_t pairs, int16_t* out) {
  int64_t x = 0;
  for (; x + 4 <= width; x += 4, out += 2 * kPairValues) SpreadPixels(in + x * 4, out);
  for (; x < 2 * pairs; x += 4, out += 2 * kPairValues) {
    uint8_t padded[16] = {};
    if (x < width) std::memcpy(padded, in + x * 4, (width - x) * 4);
    SpreadPixels(padded, out);
  }
}

// Sums what SpreadRow laid out. kPairs is the number of pairs of an output pixel, or 0 where any number is possible.
template <int64_t kPairs>
void SumSpreadRows(const ConvolveRowsTask& task) {
  const int64_t pairs = kPairs == 0 ? task.weights.pair_count : kPairs;
  constexpr int64_t kVectors = kRows / kBlocks;
  for (int64_t x = 0; x < task.outputs; x += kStep) {
    V32 pixels[kVectors][kStep];
    for (int64_t i = 0; i < kStep; ++i) {
      const int64_t output = std::min(x + i, task.outputs - 1);
      const int16_t* values = task.scratch + task.weights.first[output] / 2 * kPairValues;
      const PairWeights::Pair* weights = task.weights.Of(output);
      Sums sums[kVectors];
      for (int64_t pair = 0; pair < pairs; ++pair)
        for (int64_t v = 0; v < kVectors; ++v)
          sums[v].Add(hn::LoadU(d16, values + pair * kPairValues + v * kBlocks * 8), weights[pair]);
      for (int64_t v = 0; v < kVectors; ++v) pixels[v][i] = sums[v].Pixel();
    }
    for (int64_t v = 0; v < kVectors; ++v)
      StoreBlocks(ClampedPixels(pixels[v], kRgbx), task.out[v * kBlocks] + x * 4,
                  task.out[(v * kBlocks + 1) % kRows] + x * 4);
  }
}

void SumRows(const ConvolveRowsTask& task) {
  for (int64_t row = 0; row < kRows; ++row)
    SpreadRow(task.in[row], task.width, task.width / 2 + task.weights.pair_count, task.scratch + row * 8);
  switch (task.weights.pair_count) {
    case 3: return SumSpreadRows<3>(task);
    case 4: return SumSpreadRows<4>(task);
    case 5: return SumSpreadRows<5>(task);
    default: return SumSpreadRows<0>(task);
  }
}

// Returns the output pixels x to x + 3 and, where a vector has two blocks, the four after them.
HWY_INLINE V8 SumColumn(const ConvolveColumnsTask& task, int64_t x) {
  const V8 zero = hn::Zero(d8);
  Sums sums[kStep];
  for (int64_t pair = 0; pair < task.pair_count; ++pair) {
    const V8 first = hn::LoadU(d8, task.rows[2 * pair] + x * 4);
    const V8 second = hn::LoadU(d8, task.rows[2 * pair + 1] + x * 4);
    const V8 lower = hn::InterleaveLower(d8, first, second), upper = hn::InterleaveUpper(d8, first, second);
    sums[0].Add(hn::BitCast(d16, hn::InterleaveLower(d8, lower, zero)), task.weights[pair]);
    sums[1].Add(hn::BitCast(d16, hn::InterleaveUpper(d8, lower, zero)), task.weights[pair]);
    sums[2].Add(hn::BitCast(d16, hn::InterleaveLower(d8, upper, zero)), task.weights[pair]);
    sums[3].Add(hn::BitCast(d16, hn::InterleaveUpper(d8, upper, zero)), task.weights[pair]);
  }
  const V32 pixels[] = {sums[0].Pixel(), sums[1].Pixel(), sums[2].Pixel(), sums[3].Pixel()};
  return ClampedPixels(pixels, kRgb);
}

void SumColumns(const ConvolveColumnsTask& task) {
  constexpr int64_t kPixels = kStep * kBlocks;
  int64_t x = 0;
  // Each store writes 4 bytes too many, which the next pixels overwrite.
  for (; 3 * (x + kPixels) + 4 <= 3 * task.width; x += kPixels)
    StoreBlocks(SumColumn(task, x), task.out + 3 * x, task.out + 3 * (x + kStep));
  for (; x < task.width; x += kPixels) {
    uint8_t packed[3 * kPixels + 4];
    StoreBlocks(SumColumn(task, x), packed, packed + 3 * kStep);
    std::memcpy(task.out + 3 * x, packed, 3 * std::min(kPixels, task.width - x));
  }
}

#endif

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(SumRows);
HWY_EXPORT(SumColumns);
void ConvolveRows(const ConvolveRowsTask& task) { HWY_DYNAMIC_DISPATCH(SumRows)(task); }
void ConvolveColumns(const ConvolveColumnsTask& task) { HWY_DYNAMIC_DISPATCH(SumColumns)(task); }

}  // namespace stoker
#endif
