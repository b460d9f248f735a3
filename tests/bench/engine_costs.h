#ifndef STOKER_TESTS_BENCH_ENGINE_COSTS_H_
#define STOKER_TESTS_BENCH_ENGINE_COSTS_H_

#include <string>
#include <vector>

#include "tests/bench/engine_photos.h"
#include "tests/bench/engine_ways.h"

namespace stoker {

struct OpCost {
  std::string name;
  double microseconds = 0;  // An image.
};

// What each op costs an image of 224x224 once it is drawn, medians of `rounds`. What works in place is timed without
// the copy that goes before it here.
std::vector<OpCost> OpCosts(const Photos& photos, Turn turn, int rounds);

// All views of a sample, made together and one by one as if each were a sample of its own.
struct ViewsCost {
  std::string name;
  double together_us = 0, apart_us = 0;
};

std::vector<ViewsCost> ViewsCosts(const Photos& photos, Turn turn, int rounds);

}  // namespace stoker

#endif  // STOKER_TESTS_BENCH_ENGINE_COSTS_H_
