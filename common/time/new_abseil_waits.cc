// Abseil from 20230802 on waits by a steady clock.

#include "common/time/abseil_waits.h"

namespace stoker {

bool AbseilWaitsAreSteady() { return true; }

}  // namespace stoker
