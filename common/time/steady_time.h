#ifndef STOKER_COMMON_TIME_STEADY_TIME_H_
#define STOKER_COMMON_TIME_STEADY_TIME_H_

#include "absl/time/time.h"

namespace stoker {

// The time on a clock that nobody sets, since some moment of the past. Every interval, pause and deadline is measured
// by it: the wall's clock (absl::Now) may jump by hours, back as well, and is for what people read alone. The two do
// not compare. Thread-safe.
//
// A program that uses this waits by such a clock in Abseil as well, gRPC's own waits included: those that are given a
// duration (CondVar::WaitWithTimeout, Mutex::AwaitWithTimeout) last that long, whatever becomes of the wall's clock.
// Abseil before 20230802 waits for a moment of the wall's clock instead; old_abseil_waits.cc says how that is changed.
// Never wait for a moment of SteadyNow() with WaitWithDeadline, which takes moments of the wall's clock.
absl::Time SteadyNow();

}  // namespace stoker

#endif  // STOKER_COMMON_TIME_STEADY_TIME_H_
