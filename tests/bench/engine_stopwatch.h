#ifndef STOKER_TESTS_BENCH_ENGINE_STOPWATCH_H_
#define STOKER_TESTS_BENCH_ENGINE_STOPWATCH_H_

#include <time.h>

#include "tests/bench/way.h"

namespace stoker {

// The time since its construction.
class Stopwatch {
 public:
  double WallSeconds() const { return Now(CLOCK_MONOTONIC) - wall_; }

  // What `turn` wants to be measured.
  double Seconds(const Turn& turn) const {
    return turn.cpu_time ? Now(CLOCK_PROCESS_CPUTIME_ID) - cpu_ : WallSeconds();
  }

 private:
  static double Now(clockid_t clock) {
    timespec time;
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  const double wall_ = Now(CLOCK_MONOTONIC), cpu_ = Now(CLOCK_PROCESS_CPUTIME_ID);
};

}  // namespace stoker

#endif  // STOKER_TESTS_BENCH_ENGINE_STOPWATCH_H_
