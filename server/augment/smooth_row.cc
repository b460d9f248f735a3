#include "server/augment/smooth_row.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/augment/smooth_row.cc"
#include "hwy/foreach_target.h"
// foreach_target.h must come first: all that follows it is compiled once for each target.
#include "hwy/highway.h"
#include "server/augment/color/levels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace {

// Returns the sum of pair_at(i) · kernel[i] over all i, shifted right by kShift and rounded, in 16 bits. kReach is the
// kernel's reach, or −1 where it is not known when this is compiled.
#if HWY_TARGET == HWY_SCALAR
template <int kShift, int64_t kReach, typename PairAt>
HWY_INLINE Shorts WeightedSum(const HalfKernel& kernel, const PairAt& pair_at) {
  int32_t sum = 1 << (kShift - 1);
  for (int64_t i = 0; i <= kernel.reach(); ++i) sum += kernel[i] * hn::GetLane(pair_at(i));
  return hn::Set(ShortTag(), static_cast<int16_t>(sum >> kShift));
}
#else
// Adds two products to a sum at once. Interleaving puts their factors side by side, and demoting undoes that.
template <int kShift, int64_t kReach, typename PairAt>
HWY_INLINE Shorts WeightedSum(const HalfKernel& kernel, const PairAt& pair_at) {
  const ShortTag d;
  const hn::RepartitionToWide<ShortTag> d_sum;
  using Sums = hn::Vec<decltype(d_sum)>;
  Sums low = hn::Zero(d_sum), high = low, more_low = low, more_high = low;
  const int32_t* pairs = kernel.pairs().data();
  const int64_t reach = kReach < 0 ? kernel.reach() : kReach;
  for (int64_t i = 0; i <= reach; i += 2) {
    const Shorts weights = hn::BitCast(d, hn::Set(d_sum, pairs[i / 2]));
    const Shorts first = pair_at(i), second = i < reach ? pair_at(i + 1) : hn::Zero(d);
    low = hn::ReorderWidenMulAccumulate(d_sum, hn::InterleaveLower(d, first, second), weights, low, more_low);
    high = hn::ReorderWidenMulAccumulate(d_sum, hn::InterleaveUpper(d, first, second), weights, high, more_high);
  }
  const auto round = [&](Sums sum, Sums more) HWY_ATTR {
    return hn::ShiftRight<kShift>(hn::Add(hn::RearrangeToOddPlusEven(sum, more), hn::Set(d_sum, 1 << (kShift - 1))));
  };
  return hn::ReorderDemote2To(d, round(low, more_low), round(high, more_high));
}
#endif

// Calls at(x) for the first value x of each vector among `values`; the last vector may overlap the one before. Returns
// false, without a call, where there are too few values for a vector.
template <typename At>
HWY_INLINE bool ForEachVector(int64_t values, const At& at) {
  const int64_t lanes = hn::Lanes(ShortTag());
  if (values < lanes) return false;
  for (int64_t x = 0; x < values - lanes; x += lanes) at(x);
  at(values - lanes);
  return true;
}

template <int64_t kReach>
void BlurDownBy(const HalfKernel& kernel, std::span<const uint8_t* const> rows, int64_t values, int16_t* sums) {
  const int64_t center = kernel.reach();
  const bool done = ForEachVector(values, [&](int64_t x) HWY_ATTR {
    const Shorts sum = WeightedSum<9, kReach>(kernel, [&](int64_t i) HWY_ATTR {
      return hn::Add(LoadShorts(rows[center - i] + x), LoadShorts(rows[center + i] + x));
    });
    hn::StoreU(sum, ShortTag(), sums + x);
  });
  for (int64_t x = 0; x < values && !done; ++x) {
    int32_t sum = 1 << 8;
    for (int64_t i = 0; i <= center; ++i) sum += kernel[i] * (rows[center - i][x] + rows[center + i][x]);
    sums[x] = static_cast<int16_t>(sum >> 9);
  }
}

void BlurDown(const HalfKernel& kernel, std::span<const uint8_t* const> rows, int64_t values, int16_t* sums) {
  switch (kernel.reach()) {
    case 1: return BlurDownBy<1>(kernel, rows, values, sums);
    case 2: return BlurDownBy<2>(kernel, rows, values, sums);
    default: return BlurDownBy<-1>(kernel, rows, values, sums);
  }
}

template <int64_t kReach>
void BlurAcrossBy(const HalfKernel& kernel, const int16_t* sums, int64_t values, int64_t step, uint8_t* out) {
  const ShortTag d;
  for (int64_t x = 0; x < values; x += hn::Lanes(d)) {
    const Shorts sum = WeightedSum<21, kReach>(kernel, [&](int64_t i) HWY_ATTR {
      return hn::Add(hn::LoadU(d, sums + x - i * step), hn::LoadU(d, sums + x + i * step));
    });
    hn::StoreU(hn::DemoteTo(ByteTag(), sum), ByteTag(), out + x);
  }
}

void BlurAcross(const HalfKernel& kernel, const int16_t* sums, int64_t values, int64_t step, uint8_t* out) {
  switch (kernel.reach()) {
    case 1: return BlurAcrossBy<1>(kernel, sums, values, step, out);
    case 2: return BlurAcrossBy<2>(kernel, sums, values, step, out);
    default: return BlurAcrossBy<-1>(kernel, sums, values, step, out);
  }
}

void SumDown(std::span<const uint8_t* const> rows, int64_t values, int16_t* sums) {
  const bool done = ForEachVector(values, [&](int64_t x) HWY_ATTR {
    const Shorts sum = hn::Add(hn::Add(LoadShorts(rows[0] + x), LoadShorts(rows[1] + x)), LoadShorts(rows[2] + x));
    hn::StoreU(sum, ShortTag(), sums + x);
  });
  for (int64_t x = 0; x < values && !done; ++x) sums[x] = static_cast<int16_t>(rows[0][x] + rows[1][x] + rows[2][x]);
}

// Returns the weighted mean of the nine values around `middle`, which counts five times: their sum is divided by 13 and
// rounded. Multiplying by 5042/2^16 gives the same for sums so small, of which none lies halfway between two levels.
HWY_INLINE Shorts Smooth(const int16_t* sums, Shorts middle, int64_t step) {
  const ShortTag d;
  const hn::RebindToUnsigned<ShortTag> d_unsigned;
  const Shorts nine = hn::Add(hn::Add(hn::LoadU(d, sums - step), hn::LoadU(d, sums)), hn::LoadU(d, sums + step));
  const Shorts thirteen = hn::Add(hn::Add(nine, hn::ShiftLeft<2>(middle)), hn::Set(d, 6));
  return hn::BitCast(d, hn::MulHigh(hn::BitCast(d_unsigned, thirteen), hn::Set(d_unsigned, 5042)));
}

void SharpenAcross(float factor, const int16_t* sums, int64_t values, int64_t step, uint8_t* row) {
  const Floats alpha = hn::Set(FloatTag(), factor);
  for (int64_t x = 0; x < values; x += hn::Lanes(ShortTag())) {
    const Shorts middle = LoadShorts(row + x);
    const Levels from = ToLevels(Smooth(sums + x, middle, step)), to = ToLevels(middle);
    StoreLevels({Blend(from.a, to.a, alpha), Blend(from.b, to.b, alpha)}, row + x);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {
namespace {

HWY_EXPORT(BlurDown);
HWY_EXPORT(BlurAcross);
HWY_EXPORT(SumDown);
HWY_EXPORT(SharpenAcross);

}  // namespace

void HalfKernel::Set(std::span<const int32_t> weights) {
  reach_ = static_cast<int64_t>(weights.size()) - 1;
  pairs_.assign((weights.size() + 1) / 2, 0);
  for (size_t i = 0; i < weights.size(); ++i) pairs_[i / 2] |= weights[i] << (i % 2 * 16);
}

void BlurDown(const HalfKernel& kernel, std::span<const uint8_t* const> rows, int64_t values, int16_t* sums) {
  HWY_DYNAMIC_DISPATCH(BlurDown)(kernel, rows, values, sums);
}

void BlurAcross(const HalfKernel& kernel, const int16_t* sums, int64_t values, int64_t step, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(BlurAcross)(kernel, sums, values, step, out);
}

void SumDown(std::span<const uint8_t* const> rows, int64_t values, int16_t* sums) {
  HWY_DYNAMIC_DISPATCH(SumDown)(rows, values, sums);
}

void SharpenAcross(float factor, const int16_t* sums, int64_t values, int64_t step, uint8_t* row) {
  HWY_DYNAMIC_DISPATCH(SharpenAcross)(factor, sums, values, step, row);
}

}  // namespace stoker
#endif  // HWY_ONCE
