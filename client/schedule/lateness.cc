#include "client/schedule/lateness.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

constexpr double kKept = 1 - 1.0 / 512;  // Of the past, with each answer.
constexpr double kEnough = 20, kGuess = 4;

}  // namespace

void Lateness::Add(double factor) {
  const double octaves = std::log2(std::max(factor, 0x1p-10)) - kLeastOctave;
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
