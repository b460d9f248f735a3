#ifndef STOKER_TESTS_BENCH_ENGINE_TABLE_H_
#define STOKER_TESTS_BENCH_ENGINE_TABLE_H_

#include <string>
#include <vector>

#include "tests/bench/engine_ways.h"

namespace stoker {

// What one way did; medians over the rounds.
struct Row {
  std::string name, version, skipped;
  double images_per_second = 0;
  double spread = 0;    // (greatest − least) / median
  double of_floor = 0;  // The median of each round's ratio to the first way's.
  std::vector<double> rounds;
};

// Times all ways in turn, round by round, so that a machine's drift hits all alike; the first one is the floor. Tells
// stderr how far it is.
std::vector<Row> TimeInTurns(const std::vector<Way>& ways, Turn turn, int rounds);

// Shows `line` on stderr, if that is a terminal, in place of the last one.
void Progress(const std::string& line);

// Prints the rows, and how many times as fast as each of them `stoker exact` and `stoker k2` are.
void Print(const std::vector<Row>& rows);

}  // namespace stoker

#endif  // STOKER_TESTS_BENCH_ENGINE_TABLE_H_
