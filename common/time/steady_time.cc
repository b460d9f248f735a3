#include "common/time/steady_time.h"

#include <chrono>

#include "common/time/abseil_waits.h"

namespace stoker {
namespace {

// Links what it is defined with into every program that uses SteadyNow().
[[maybe_unused]] const bool kWaitsAreSteady = AbseilWaitsAreSteady();

}  // namespace

absl::Time SteadyNow() {
  return absl::UnixEpoch() + absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace stoker
