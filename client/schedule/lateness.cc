#include "client/schedule/lateness.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

// With each answer the past keeps this part of its weight, so that the last 512 answers or so count.
constexpr double kKept = 1 - 1.0 / 512;

// With fewer answers than this, one of them is more than one in twenty, and says nothing of what so many exceed.
constexpr double kEnough = 20;

// What is assumed until then: a fleet of which one answer in twenty takes four times the usual has a long tail.
constexpr double kGuess = 4;

// Smaller factors are counted as this one, whose logarithm is still finite.
constexpr double kLeastFactor = 0x1p-10;

}  // namespace

void Lateness::Add(double factor) {
  const double octaves = std::log2(std::max(factor, kLeastFactor)) - kLeastOctave;
  const int bucket = std::clamp(static_cast<int>(std::floor(octaves * kPerOctave)), 0, kBuckets - 1);
  for (double& count : counts_) count *= kKept;
  total_ = total_ * kKept + 1;
  ++counts_[bucket];
}

double Lateness::ExceededBy(double part) const {
  if (total_ < kEnough) return kGuess;
  double above = 0;
  int bucket = kBuckets;
  while (bucket > 0 && above <= total_ * part) above += counts_[--bucket];
  return std::max(1.0, std::exp2(static_cast<double>(bucket + 1) / kPerOctave + kLeastOctave));
}

}  // namespace stoker
