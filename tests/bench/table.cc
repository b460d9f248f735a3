#include "tests/bench/table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace stoker {
namespace {

void Summarize(const std::vector<double>& floor, Row& row) {
  if (!row.skipped.empty() || row.rounds.empty()) return;
  row.images_per_second = Median(row.rounds);
  const auto [least, greatest] = std::minmax_element(row.rounds.begin(), row.rounds.end());
  row.spread = (*greatest - *least) / row.images_per_second;
  std::vector<double> ratios;
  for (size_t i = 0; i < row.rounds.size(); ++i) ratios.push_back(row.rounds[i] / floor[i]);
  row.of_floor = Median(ratios);
}

// The median over the rounds of the ratio of the row of ours called `name` to `row`; empty where there is none.
std::string RatioOf(absl::string_view name, const std::vector<Row>& rows, const Row& row) {
  const auto ours = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == name; });
  if (ours == rows.end() || ours->rounds.size() != row.rounds.size()) return "";
  std::vector<double> ratios;
  for (size_t i = 0; i < row.rounds.size(); ++i) ratios.push_back(ours->rounds[i] / row.rounds[i]);
  return absl::StrFormat("%.2f×", Median(ratios));
}

}  // namespace

void Progress(const std::string& line) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) std::fprintf(stderr, "\r\033[K%s", line.c_str());
}

std::vector<Row> TimeInTurns(const std::vector<Way>& ways, Turn turn, int rounds) {
  std::vector<Row> rows;
  for (const Way& way : ways) rows.push_back({.name = way.name, .version = way.version, .skipped = way.skipped});
  for (int round = 0; round < rounds; ++round) {
    turn.number = round;
    for (size_t i = 0; i < ways.size(); ++i) {
      if (!rows[i].skipped.empty()) continue;
      Progress(absl::StrCat("round ", round + 1, " of ", rounds, ": ", ways[i].name));
      const absl::StatusOr<double> rate = ways[i].time(turn);
      if (rate.ok()) {
        rows[i].rounds.push_back(*rate);
      } else {
        rows[i].skipped = std::string(rate.status().message());
      }
    }
  }
  Progress("");
  for (Row& row : rows) Summarize(rows.front().rounds, row);
  return rows;
}

void Print(const std::vector<Row>& rows, const std::string& floor, const std::vector<Comparison>& comparisons) {
  absl::PrintF("%-38s %9s %9s %7s %12s  ", "", "images/s", "us/image", "spread", "of " + floor);
  for (const Comparison& comparison : comparisons) absl::PrintF(" %9s", comparison.header);
  absl::PrintF("\n");
  for (const Row& row : rows) {
    if (!row.skipped.empty()) {
      absl::PrintF("%-38s skipped: %s\n", row.name, row.skipped);
      continue;
    }
    absl::PrintF("%-38s %9.1f %9.1f %6.1f%% %12.3f  ", row.name, row.images_per_second, 1e6 / row.images_per_second,
                 100 * row.spread, row.of_floor);
    // The sign × has two bytes.
    for (const Comparison& comparison : comparisons) absl::PrintF(" %10s", RatioOf(comparison.name, rows, row));
    absl::PrintF("  %s\n", row.version);
  }
}

void AddJson(const std::vector<Row>& rows, const std::string& suffix, nlohmann::ordered_json& json) {
  for (const Row& row : rows) {
    const std::string name = row.name + suffix;
    if (!row.skipped.empty()) {
      json["skipped"].push_back({{"name", name}, {"reason", row.skipped}});
      continue;
    }
    json["rows"].push_back({{"name", name},
                            {"images_per_second", row.images_per_second},
                            {"of_floor", row.of_floor},
                            {"spread", row.spread},
                            {"version", row.version}});
  }
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace stoker
