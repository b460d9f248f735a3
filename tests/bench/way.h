#ifndef STOKER_TESTS_BENCH_WAY_H_
#define STOKER_TESTS_BENCH_WAY_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace stoker {

// One stretch of time that a way is given.
struct Turn {
  double seconds = 0;     // Of the clock on the wall, and on to the end of the pass over all files.
  uint64_t number = 0;    // Seeds the draws of those in this process: equal turns draw alike, whatever the way.
  bool cpu_time = false;  // Images per second of the core's time that the process got, not of the wall clock's.
};

// One way from files to samples: ours, a floor or a peer. All do RandomResizedCrop(224) (area 0.08–1, ratio 3/4–4/3)
// and RandomHorizontalFlip to uint8 RGB.
struct Way {
  // Images per second.
  using Timing = std::function<absl::StatusOr<double>(const Turn& turn)>;

  std::string name;
  Timing time;               // None where it was skipped.
  std::string skipped = {};  // Why.
  std::string version = {};  // Of a peer.
};

}  // namespace stoker

#endif  // STOKER_TESTS_BENCH_WAY_H_
