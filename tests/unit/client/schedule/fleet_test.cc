// The scheduler against simulated servers, in virtual time: what is lost against the ideal, and whatever happens each
// span comes once.

#include <algorithm>

#include "gtest/gtest.h"
#include "tests/support/simulated_fleet.h"

namespace stoker {
namespace {

Simulation Of(size_t servers) {
  Simulation simulation;
  simulation.servers.resize(servers);
  return simulation;
}

// The part of the ideal rate that is reached.
double Efficiency(const Simulated& result) { return absl::FDivDuration(result.ideal, result.elapsed); }

absl::Duration LongestWait(const Simulated& result) {
  return *std::max_element(result.waits.begin(), result.waits.end());
}

TEST(FleetTest, EqualServersAreKeptBusyAndShareEqually) {
  const Simulated result = Simulate(Of(3));
  EXPECT_TRUE(result.exactly_once);
  EXPECT_GT(Efficiency(result), 0.98);
  for (uint64_t spans : result.by_server) EXPECT_NEAR(static_cast<double>(spans), 10'000 / 3.0, 200);
}

TEST(FleetTest, OneSeedReplaysEverything) {
  Simulation simulation = Of(4);
  simulation.lost = 0.02;
  simulation.servers[0].tail = 0.05;
  simulation.servers[1].outages = {{absl::Seconds(1), absl::Seconds(2)}};
  simulation.spans = 2000;
  const Simulated first = Simulate(simulation), again = Simulate(simulation);
  EXPECT_EQ(first.trace, again.trace);
  EXPECT_EQ(first.elapsed, again.elapsed);
  simulation.seed = 2;
  EXPECT_NE(Simulate(simulation).trace, first.trace);
}

TEST(FleetTest, AServerTenTimesSlowerCostsLessThanFivePercentBeyondItsShare) {
  for (size_t fast : {2, 3, 7}) {
    Simulation simulation = Of(fast + 1);
    simulation.spans = 30'000;
    simulation.servers[fast].service *= 10;
    EXPECT_GT(Efficiency(Simulate(simulation)), 0.95) << fast;
  }
}

TEST(FleetTest, AServerThatDiesCostsItsShareAndAMoment) {
  Simulation simulation = Of(3);
  simulation.servers[0].outages = {{absl::Seconds(5), absl::Hours(1)}};
  const Simulated result = Simulate(simulation);
  EXPECT_TRUE(result.exactly_once);
  EXPECT_GT(Efficiency(result), 0.95);
  EXPECT_LT(LongestWait(result), absl::Seconds(1));
}

TEST(FleetTest, AServerThatFallsSilentIsReplacedBeforeItsDeadline) {
  Simulation simulation = Of(3);
  simulation.servers[0].outages = {{absl::Seconds(5), absl::Hours(1), /*silent=*/true}};
  const Simulated result = Simulate(simulation);
  EXPECT_TRUE(result.exactly_once);
  EXPECT_GT(Efficiency(result), 0.95);
  EXPECT_LT(LongestWait(result), simulation.scheduler.late.least_deadline);
  EXPECT_GT(result.hedged, 0u);
}

TEST(FleetTest, ServersThatComeAndGoAreUsedWhileTheyAreThere) {
  Simulation simulation = Of(4);
  for (int i = 0; i < 6; ++i) {
    const absl::Duration at = absl::Seconds(2 + 2 * i);
    simulation.servers[i % 4].outages.push_back({at, at + absl::Seconds(1), /*silent=*/i % 2 == 1});
  }
  const Simulated result = Simulate(simulation);
  EXPECT_TRUE(result.exactly_once);
  EXPECT_GT(Efficiency(result), 0.8);
}

TEST(FleetTest, HeavyTailsAreHedgedAtLittleExtraWork) {
  Simulation simulation = Of(8);
  for (SimulatedServer& server : simulation.servers) server.tail = 0.01, server.sigma = 0.5;
  const Simulated result = Simulate(simulation);
  EXPECT_GT(Efficiency(result), 0.9);
  EXPECT_LT(static_cast<double>(result.made), 1.05 * 10'000);
}

TEST(FleetTest, FarServersNeedMoreSpansOnTheWay) {
  Simulation simulation = Of(4);
  for (SimulatedServer& server : simulation.servers) server.round_trip = absl::Milliseconds(80);
  EXPECT_GT(Efficiency(Simulate(simulation)), 0.9);
}

TEST(FleetTest, LostWantsAndAnswersCostTimeAndNothingElse) {
  for (size_t servers : {1, 3}) {
    Simulation simulation = Of(servers);
    simulation.spans = 500;
    simulation.lost = 0.25;
    const Simulated result = Simulate(simulation);
    EXPECT_TRUE(result.exactly_once);
    EXPECT_EQ(result.waits.size(), 500);
  }
}

TEST(FleetTest, AConsumerThatIsSlowerThanTheServersNeverWaits) {
  Simulation simulation = Of(3);
  simulation.consume = absl::Milliseconds(4);
  Simulated result = Simulate(simulation);
  EXPECT_GT(Efficiency(result), 0.99);
  std::sort(result.waits.begin(), result.waits.end());
  EXPECT_EQ(result.waits[result.waits.size() * 99 / 100], absl::ZeroDuration());
}

TEST(FleetTest, ServersThatCacheAreKeptAsBusyAsOthers) {
  Simulation simulation = Of(5);
  for (SimulatedServer& server : simulation.servers) server.caches = true;
  EXPECT_GT(Efficiency(Simulate(simulation)), 0.97);
}

}  // namespace
}  // namespace stoker
