#ifndef STOKER_COMMON_TIME_ABSEIL_WAITS_H_
#define STOKER_COMMON_TIME_ABSEIL_WAITS_H_

namespace stoker {

// True: Abseil's waits that are given a duration do not depend on the wall's clock. It is defined in one of two files,
// by Abseil's version: old_abseil_waits.cc makes it so, and new_abseil_waits.cc has nothing to do.
bool AbseilWaitsAreSteady();

}  // namespace stoker

#endif  // STOKER_COMMON_TIME_ABSEIL_WAITS_H_
