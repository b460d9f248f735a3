#include "server/plan/weighted_classes.h"

#include <algorithm>

#include "common/check.h"
#include "common/identity/draws.h"

namespace stoker {

WeightedClasses::WeightedClasses(const std::vector<Class>& classes) {
  uint64_t weights = 0, samples = 0;
  for (const Class& one : classes) {
    STOKER_CHECK(one.weight > 0 && weights + one.weight > weights && !one.runs.empty());
    classes_.push_back({weights += one.weight, runs_.size()});
    for (const Run& run : one.runs) runs_.push_back({samples += run.end - run.begin, run.begin});
  }
  STOKER_CHECK(samples > 0);
}

uint64_t WeightedClasses::RankAt(uint64_t seed, uint64_t epoch, uint64_t position) const {
  constexpr auto kIsBelow = [](uint64_t drawn, const Part& part) { return drawn < part.end; };
  Draws draws({.seed = seed, .epoch = epoch, .position = position, .op = kOp});
  const auto chosen = std::upper_bound(classes_.begin(), classes_.end(), draws.Below(classes_.back().end), kIsBelow);
  const auto next = chosen + 1;
  const uint64_t before = chosen->first == 0 ? 0 : runs_[chosen->first - 1].end;
  const uint64_t last_run = next == classes_.end() ? runs_.size() : next->first;
  const uint64_t drawn = before + draws.Below(runs_[last_run - 1].end - before);
  const auto run = std::upper_bound(runs_.begin(), runs_.end(), drawn, kIsBelow);
  return run->first + drawn - (run == runs_.begin() ? 0 : (run - 1)->end);
}

}  // namespace stoker
