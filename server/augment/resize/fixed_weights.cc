#include "server/augment/resize/fixed_weights.h"

#include <algorithm>

namespace stoker {
namespace {

// Calls take(tap, weight) with the weights of output pixel `i` as whole numbers that sum to `one`. Each is the
// difference of two neighboring rounded sums.
template <typename Take>
void RoundSums(const AxisFilter& filter, int64_t i, double one, Take take) {
  const double* weights = filter.Weights(i);
  const double factor = one / filter.Sum(i);
  double sum = 0;
  int64_t before = 0;
  for (int64_t tap = 0; tap < filter.taps(); ++tap) {
    sum += weights[tap];
    const int64_t rounded = RoundedWeight(sum * factor);
    take(tap, rounded - before);
    before = rounded;
  }
}

}  // namespace

void BlendWeights::Make(const AxisFilter& filter) {
  taps = filter.taps();
  const int64_t outputs = std::max(filter.outputs(), kMinOutputs);
  first.assign(outputs, 0);
  weights.assign(outputs * taps, 0);
  uint32_t* out = weights.data();
  for (int64_t i = 0; i < filter.outputs(); ++i) {
    first[i] = static_cast<int32_t>(filter.First(i));
    RoundSums(filter, i, 1 << 16, [&](int64_t, int64_t weight) {
      *out++ = static_cast<uint32_t>(std::min<int64_t>(weight, 0xffff)) * 0x10001;
    });
  }
}

void PairWeights::Make(const AxisFilter& filter, bool aligned) {
  pair_count = aligned ? filter.taps() / 2 + 1 : (filter.taps() + 1) / 2;
  first.resize(filter.outputs());
  pairs.assign(filter.outputs() * pair_count, {});
  for (int64_t i = 0; i < filter.outputs(); ++i) {
    const int64_t skipped = aligned ? filter.First(i) % 2 : 0;
    first[i] = static_cast<int32_t>(filter.First(i) - skipped);
    for (int64_t tap = 0; tap < filter.taps(); ++tap) {
      const int64_t weight = RoundedWeight(filter.Weights(i)[tap] / filter.Sum(i) * (1 << kFractionBits));
      pairs[i * pair_count + (tap + skipped) / 2].Set((tap + skipped) % 2, weight);
    }
  }
}

void WideWeights::Make(const AxisFilter& filter) {
  taps = filter.taps();
  first.resize(filter.outputs());
  weights.resize(filter.outputs() * taps);
  for (int64_t i = 0; i < filter.outputs(); ++i) {
    first[i] = static_cast<int32_t>(filter.First(i));
    RoundSums(filter, i, static_cast<double>(int64_t{1} << kFractionBits),
              [&](int64_t tap, int64_t weight) { weights[i * taps + tap] = weight; });
  }
}

}  // namespace stoker
