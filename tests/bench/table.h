#ifndef STOKER_TESTS_BENCH_TABLE_H_
#define STOKER_TESTS_BENCH_TABLE_H_

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/bench/way.h"

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

// A column that says how many times as fast as each row the row called `name` is.
struct Comparison {
  std::string header, name;
};

// Prints the rows; `floor` is what to call the first.
void Print(const std::vector<Row>& rows, const std::string& floor, const std::vector<Comparison>& comparisons);

// {"rows": …, "skipped": …}, added to what `json` holds, each name with `suffix` behind it.
void AddJson(const std::vector<Row>& rows, const std::string& suffix, nlohmann::ordered_json& json);

double Median(std::vector<double> values);

}  // namespace stoker

#endif  // STOKER_TESTS_BENCH_TABLE_H_
