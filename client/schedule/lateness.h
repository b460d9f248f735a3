#ifndef STOKER_CLIENT_SCHEDULE_LATENESS_H_
#define STOKER_CLIENT_SCHEDULE_LATENESS_H_

#include <array>

namespace stoker {

// By what factor a fleet's answers take longer than was usual: a decaying histogram of some five hundred recent ones,
// in steps of a quarter of an octave, from 1/16 to 4096 times. A value.
class Lateness {
 public:
  // An answer took `factor` times as long as was usual.
  void Add(double factor);

  // The factor that this part of the answers exceeds, at least 1; a guess while there are few answers.
  double ExceededBy(double part) const;

 private:
  static constexpr int kPerOctave = 4, kLeastOctave = -4, kBuckets = 16 * kPerOctave;

  std::array<double, kBuckets> counts_ = {};
  double total_ = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_SCHEDULE_LATENESS_H_
