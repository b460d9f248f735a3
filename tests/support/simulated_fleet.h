#ifndef STOKER_TESTS_SUPPORT_SIMULATED_FLEET_H_
#define STOKER_TESTS_SUPPORT_SIMULATED_FLEET_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "client/schedule/scheduler.h"

namespace stoker {

// One server as a simulation knows it. A value.
struct SimulatedServer {
  int parallelism = 4;
  absl::Duration service = absl::Milliseconds(20);  // The median time that one worker takes for a span,
  double sigma = 0.2;                               // log-normal with this deviation;
  double tail = 0;                                  // and so often it takes tail_factor times as long.
  double tail_factor = 20;
  absl::Duration round_trip = absl::Milliseconds(1);
  bool caches = false;

  struct Outage {
    absl::Duration from, until;
    bool silent = false;  // Stopped or cut off: it goes on later. Else killed: all is lost, and the client sees it.
  };
  std::vector<Outage> outages;  // In order, apart from each other.
};

// What is simulated: one client reads spans in order from a fleet, in virtual time.
struct Simulation {
  std::vector<SimulatedServer> servers;
  uint64_t spans = 10'000;
  uint64_t look_ahead = 256;  // Spans needed at any time.
  absl::Duration consume;     // What the client takes for a span; 0 for no time.
  uint64_t seed = 1;          // Everything follows from it.
  double lost = 0;            // Parts of wants, and of answers, that vanish.
  Scheduler::Options scheduler;
};

struct Simulated {
  absl::Duration elapsed, ideal;  // `ideal`: all servers, while they are up, work on nothing but needed spans.
  uint64_t made = 0;              // Spans that servers made, in vain or not.
  uint64_t hedged = 0;
  std::vector<absl::Duration> waits;  // Of the client, for each span; mostly 0.
  std::vector<uint64_t> by_server;    // Spans that were taken from each.
  uint64_t trace = 0;                 // A hash of all that was asked, and when.
  bool exactly_once = true;           // Whether each span came once, in order.
};

Simulated Simulate(const Simulation& simulation);

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_SIMULATED_FLEET_H_
