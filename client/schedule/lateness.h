#ifndef STOKER_CLIENT_SCHEDULE_LATENESS_H_
#define STOKER_CLIENT_SCHEDULE_LATENESS_H_

#include <array>

namespace stoker {

// By what factor a fleet's answers take longer than estimated: a decaying histogram of some five hundred recent ones,
// in steps of a quarter of an octave. A value.
class Lateness {
 public:
  // An answer took `factor` times as long as estimated.
  void Add(double factor);

  // The factor that this part of the answers exceeds; a guess while there are few.
  double ExceededBy(double part) const;

 private:
  static constexpr int kPerOctave = 4, kLeastOctave = -4, kBuckets = 16 * kPerOctave;

  std::array<double, kBuckets> counts_ = {};
  double total_ = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_SCHEDULE_LATENESS_H_
