#include "server/augment/audio/resampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/identity/elementary.h"

namespace stoker {
namespace {

constexpr double kZeroCrossings = 6, kRolloff = 0.99;

// sinc(π t) under Hann's window of 2 · kZeroCrossings.
double WindowedSinc(double t) {
  if (!(std::abs(t) < kZeroCrossings)) return 0;
  const double window = DeterministicCosDegrees(t * (90 / kZeroCrossings));
  const double sinc = t == 0 ? 1 : DeterministicSinDegrees(t * 180) / (t * std::numbers::pi);
  return sinc * window * window;
}

}  // namespace

absl::StatusOr<Resampler> Resampler::Create(uint32_t from, uint32_t to) {
  STOKER_CHECK(from >= 1 && to >= 1);
  Resampler made;
  made.given_from_ = from;
  made.given_to_ = to;
  const uint32_t common = std::gcd(from, to);
  made.from_ = from / common;
  made.to_ = to / common;
  const auto in = static_cast<double>(made.from_), out = static_cast<double>(made.to_);
  const double reach = kZeroCrossings * std::max(in, out) / kRolloff;  // as far as t < 6, times `to`
  made.taps_ = static_cast<int64_t>(std::floor(2 * reach / out)) + 1;
  if (made.to_ > kMostWeights / made.taps_)
    return absl::DataLossError(absl::StrCat("audio of ", from, " samples a second cannot be resampled to ", to,
                                            ": the two have no large factor in common; convert it"));
  made.begins_.reserve(made.to_);
  made.weights_.reserve(made.to_ * made.taps_);
  for (int64_t i = 0; i < made.to_; ++i) {
    const int64_t begin = static_cast<int64_t>(std::floor((static_cast<double>(i * made.from_) - reach) / out)) + 1;
    made.begins_.push_back(begin);
    for (int64_t m = begin; m < begin + made.taps_; ++m) {
      const double distance = static_cast<double>(m * made.to_ - i * made.from_) / std::max(in, out);
      made.weights_.push_back(WindowedSinc(kRolloff * distance) * (kRolloff * std::min(in, out) / in));
    }
  }
  return made;
}

int64_t Resampler::Outputs(int64_t inputs) const { return (inputs * to_ + from_ - 1) / from_; }

Resampler::Stretch Resampler::Needed(const Stretch& outputs, int64_t all) const {
  if (outputs.count == 0) return {};
  const int64_t first = std::clamp<int64_t>(FirstInput(outputs.first), 0, all);
  const int64_t end = std::clamp<int64_t>(FirstInput(outputs.first + outputs.count - 1) + taps_, first, all);
  return {first, end - first};
}

void Resampler::Run(std::span<const float> in, const Stretch& inputs, int64_t channels, const Stretch& outputs,
                    std::span<double> out) const {
  constexpr size_t kSums =
      4;  // A sum in four parts takes a quarter of the time, in which each waits for the one before.
  for (int64_t i = 0; i < outputs.count; ++i) {
    const int64_t output = outputs.first + i, first = FirstInput(output) - inputs.first;
    const double* const weights = &weights_[output % to_ * taps_];
    const int64_t begin = std::max<int64_t>(-first, 0), end = std::min(inputs.count - first, taps_);
    for (int64_t c = 0; c < channels; ++c) {
      std::array<double, kSums> sums = {};
      const float* const values = in.data() + c;
      int64_t tap = begin;
      for (; tap < end && tap % kSums != 0; ++tap) sums[tap % kSums] += weights[tap] * values[(first + tap) * channels];
      for (; tap + static_cast<int64_t>(kSums) <= end; tap += kSums)
        for (size_t s = 0; s < kSums; ++s)
          sums[s] += weights[tap + s] * values[(first + tap + static_cast<int64_t>(s)) * channels];
      for (; tap < end; ++tap) sums[tap % kSums] += weights[tap] * values[(first + tap) * channels];
      out[i * channels + c] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
  }
}

}  // namespace stoker
