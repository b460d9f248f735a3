// bench-schedule [--servers N] [--svg FILE] [--json FILE]: the client's scheduler against simulated fleets, in virtual
// time: the rate that it delivers against the ideal, how long the client waits, and work that was done twice.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/check.h"
#include "common/identity/epoch_order.h"
#include "nlohmann/json.hpp"
#include "tests/support/simulated_fleet.h"

namespace stoker {
namespace {

struct Scenario {
  std::string name;
  Simulation simulation;
};

struct Figures {
  std::string name;
  size_t servers = 0;
  double of_ideal = 0, made_twice = 0, hedged = 0;
  double wait_ms[3] = {};        // The median wait of a span, what 1 in 100 exceeds, and the longest.
  std::vector<double> waits_ms;  // Ascending.
  double span_microseconds = 0;  // Of this machine's time, the simulation's own included.
};

Simulation FleetOf(size_t servers, uint64_t seed) {
  Simulation simulation;
  simulation.seed = seed;
  simulation.servers.resize(servers);
  simulation.spans = std::max<uint64_t>(10'000, servers * 400);
  simulation.look_ahead = std::max<uint64_t>(256, servers * 24);
  simulation.scheduler.max_bytes = uint64_t{1} << 50;
  return simulation;
}

// Each server killed or silent now and then: up for about 8 s, away for up to 3.
void Disturb(Simulation& simulation, bool silent) {
  std::mt19937_64 random(simulation.seed);
  std::exponential_distribution<> up(1 / 8.0);
  std::uniform_real_distribution<> away(0.2, 3);
  for (SimulatedServer& server : simulation.servers) {
    double at = up(random);
    for (int i = 0; i < 20; ++i) {
      const double back = at + away(random);
      server.outages.push_back({absl::Seconds(at), absl::Seconds(back), silent});
      at = back + up(random);
    }
  }
}

std::vector<Scenario> Scenarios(size_t servers, uint64_t seed) {
  std::vector<Scenario> scenarios;
  const auto add = [&](const std::string& name, size_t count, auto change) {
    Scenario scenario = {name, FleetOf(count, seed)};
    change(scenario.simulation);
    scenarios.push_back(std::move(scenario));
  };
  for (size_t count : {size_t{3}, size_t{64}, size_t{1000}, servers}) add("equal servers", count, [](Simulation&) {});
  add("one 10 times slower", 4, [](Simulation& s) { s.servers[0].service *= 10; });
  add("speeds from 1 to 10", servers / 10, [](Simulation& s) {
    for (size_t i = 0; i < s.servers.size(); ++i)
      s.servers[i].service *= 1 + 9.0 * static_cast<double>(i) / static_cast<double>(s.servers.size());
  });
  add("1% take 20 times as long", 30, [](Simulation& s) {
    for (SimulatedServer& server : s.servers) server.tail = 0.01, server.sigma = 0.5;
  });
  add("80 ms away", 30, [](Simulation& s) {
    for (SimulatedServer& server : s.servers) server.round_trip = absl::Milliseconds(80);
  });
  add("killed every 8 s", 30, [](Simulation& s) { Disturb(s, false); });
  add("silent every 8 s", 30, [](Simulation& s) { Disturb(s, true); });
  add("1% of messages lost", 30, [](Simulation& s) { s.lost = 0.01; });
  return scenarios;
}

Figures Measure(const Scenario& scenario) {
  const auto begun = std::chrono::steady_clock::now();
  const Simulated result = Simulate(scenario.simulation);
  Figures figures = {.name = scenario.name, .servers = scenario.simulation.servers.size()};
  const auto spans = static_cast<double>(scenario.simulation.spans);
  figures.of_ideal = absl::FDivDuration(result.ideal, result.elapsed);
  figures.made_twice = (static_cast<double>(result.made) - spans) / spans;
  figures.hedged = static_cast<double>(result.hedged) / spans;
  for (absl::Duration wait : result.waits) figures.waits_ms.push_back(absl::ToDoubleMilliseconds(wait));
  std::sort(figures.waits_ms.begin(), figures.waits_ms.end());
  const size_t count = figures.waits_ms.size();
  figures.wait_ms[0] = figures.waits_ms[count / 2];
  figures.wait_ms[1] = figures.waits_ms[count * 99 / 100];
  figures.wait_ms[2] = figures.waits_ms.back();
  const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begun;
  figures.span_microseconds = elapsed.count() / spans;
  return figures;
}

// The share of spans that were waited for longer than x, on logarithmic axes, a line for each scenario.
std::string Svg(const std::vector<Figures>& all) {
  constexpr double kLeft = 60, kTop = 20, kWidth = 560, kHeight = 340;
  constexpr double kLeastMs = 0.1, kDecadesMs = 5, kDecadesShare = 4;
  const auto x = [&](double ms) {
    return kLeft + kWidth * std::clamp(std::log10(std::max(ms, kLeastMs) / kLeastMs) / kDecadesMs, 0.0, 1.0);
  };
  const auto y = [&](double share) {
    return kTop + kHeight * std::clamp(-std::log10(share) / kDecadesShare, 0.0, 1.0);
  };
  std::string svg =
      "<svg xmlns='http://www.w3.org/2000/svg' width='960' height='420' font-family='sans-serif' font-size='11'>\n"
      "<rect width='960' height='420' fill='white'/>\n";
  for (int decade = 0; decade <= kDecadesMs; ++decade) {
    const double ms = kLeastMs * std::pow(10, decade);
    absl::StrAppendFormat(&svg, "<path d='M%.1f %.1f V%.1f' stroke='#ddd'/><text x='%.1f' y='%.1f'>%g ms</text>\n",
                          x(ms), kTop, kTop + kHeight, x(ms) - 12, kTop + kHeight + 16, ms);
  }
  for (int decade = 0; decade <= kDecadesShare; ++decade) {
    const double share = std::pow(10, -decade);
    absl::StrAppendFormat(&svg, "<path d='M%.1f %.1f H%.1f' stroke='#ddd'/><text x='8' y='%.1f'>%g</text>\n", kLeft,
                          y(share), kLeft + kWidth, y(share) + 4, share);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<double>& waits = all[i].waits_ms;
    const std::string color = absl::StrFormat("hsl(%d,70%%,42%%)", static_cast<int>(360 * i / all.size()));
    std::string path;
    for (int step = 0; step <= 200; ++step) {
      const double ms = kLeastMs * std::pow(10, kDecadesMs * step / 200);
      const auto longer = static_cast<double>(waits.end() - std::upper_bound(waits.begin(), waits.end(), ms));
      if (longer == 0) break;
      absl::StrAppendFormat(&path, "%c%.1f %.1f ", path.empty() ? 'M' : 'L', x(ms),
                            y(longer / static_cast<double>(waits.size())));
    }
    absl::StrAppendFormat(&svg, "<path d='%s' fill='none' stroke='%s' stroke-width='1.5'/>\n", path, color);
    absl::StrAppendFormat(&svg, "<text x='%.1f' y='%.1f' fill='%s'>%s, %d: %.1f%% of the ideal</text>\n",
                          kLeft + kWidth + 16, kTop + 14 + 18 * static_cast<double>(i), color, all[i].name,
                          all[i].servers, 100 * all[i].of_ideal);
  }
  absl::StrAppendFormat(
      &svg, "<text x='%.1f' y='410'>share of spans that the client waited for longer than so</text>\n</svg>\n", kLeft);
  return svg;
}

// What the order of an epoch costs: nanoseconds for one position of 10^10 samples, which no table could hold.
double PositionNanoseconds() {
  constexpr uint64_t kSamples = 10'000'000'000, kPositions = 2'000'000;
  v1::Shuffle shuffle;
  shuffle.set_mode(v1::SHUFFLE_MODE_FULL);
  const EpochOrder order(kSamples, shuffle, /*seed=*/1, /*epoch=*/1);
  uint64_t sum = 0;
  const auto begun = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < kPositions; ++i) sum += order.SampleAt(i * (kSamples / kPositions));
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - begun;
  STOKER_CHECK(sum > 0);
  return elapsed.count() / kPositions;
}

bool Write(const std::string& path, const std::string& text) {
  if (std::ofstream(path) << text) return true;
  std::fprintf(stderr, "bench-schedule: cannot write %s\n", path.c_str());
  return false;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "The scheduler against simulated fleets, in virtual time: servers of 4 workers that take 20 ms for a span, 1 ms "
      "away,\n"
      "unless a row says otherwise; one client that reads in order and as fast as it can.",
      "bench-schedule");
  size_t servers = 2000;
  uint64_t seed = 1;
  std::string svg = "schedule.svg", json;
  app.add_option("--servers", servers, "Of the largest fleet")->capture_default_str()->check(CLI::Range(30, 100'000));
  app.add_option("--seed", seed, "Equal seeds give equal rows")->capture_default_str();
  app.add_option("--svg", svg, "Where the plot of the waits goes")->capture_default_str()->type_name("FILE");
  app.add_option("--json", json, "Write the figures as one JSON object")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);

  std::printf("%-26s %8s %10s %12s %8s %28s %12s\n", "", "servers", "of ideal", "made twice", "hedged",
              "wait, ms: median, 99%, most", "us a span");
  std::vector<Figures> all;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Scenario& scenario : Scenarios(servers, seed)) {
    all.push_back(Measure(scenario));
    const Figures& row = all.back();
    std::printf("%-26s %8zu %9.1f%% %11.2f%% %7.2f%% %12.1f %7.1f %8.1f %11.1f\n", row.name.c_str(), row.servers,
                100 * row.of_ideal, 100 * row.made_twice, 100 * row.hedged, row.wait_ms[0], row.wait_ms[1],
                row.wait_ms[2], row.span_microseconds);
    std::fflush(stdout);
    rows.push_back({{"name", row.name},
                    {"servers", row.servers},
                    {"of_ideal", row.of_ideal},
                    {"made_twice", row.made_twice},
                    {"hedged", row.hedged},
                    {"wait_ms", {{"median", row.wait_ms[0]}, {"99%", row.wait_ms[1]}, {"most", row.wait_ms[2]}}},
                    {"span_microseconds", row.span_microseconds}});
  }
  if (!Write(svg, Svg(all))) return 1;
  std::printf("Plot: %s\n", svg.c_str());
  const double position_ns = PositionNanoseconds();
  std::printf("The sample at a position of 10^10 takes %.1f ns.\n", position_ns);
  const nlohmann::ordered_json object = {{"bench", "schedule"}, {"rows", rows}, {"position_nanoseconds", position_ns}};
  return json.empty() || Write(json, object.dump(2) + "\n") ? 0 : 1;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
