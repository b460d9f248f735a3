#include "client/schedule/fleet_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/schedule/asked_spans.h"

namespace stoker {
namespace {

std::vector<int> ServersOf(const std::set<FleetView::Place>& places) {
  std::vector<int> servers;
  for (const FleetView::Place& place : places) servers.push_back(place.server);
  return servers;
}

// Asks for span 0 and answers it `latency` later.
void Answer(FleetView& fleet, int id, absl::Duration latency) {
  fleet.Ask(id, Span(0), 0, kBytes, kStart);
  const auto settled = fleet.Settle(id, Span(0), 0);
  ASSERT_TRUE(settled.has_value());
  fleet.Answered(id, *settled, kStart + latency, absl::ZeroDuration());
}

TEST(FleetViewTest, ServersComeInTheOrderOfTheirEstimates) {
  FleetView fleet;
  fleet.Add(1, {});
  fleet.Add(2, {});
  Answer(fleet, 1, absl::Milliseconds(30));
  Answer(fleet, 2, absl::Milliseconds(10));
  EXPECT_THAT(ServersOf(fleet.by_estimate()), testing::ElementsAre(2, 1));
  EXPECT_NEAR(fleet.rate(), 1 / 0.03 + 1 / 0.01, 0.01);
}

TEST(FleetViewTest, AServerWithoutAnswersIsTakenForOneThatHasSome) {
  FleetView fleet;
  fleet.Add(1, {.parallelism = 1});
  fleet.Add(2, {.parallelism = 4});
  Answer(fleet, 1, absl::Milliseconds(40));
  EXPECT_EQ(fleet.at(2).pace.Usual(4), absl::Milliseconds(40));
  fleet.Add(3, {.parallelism = 2});
  EXPECT_EQ(fleet.at(3).pace.Usual(2), absl::Milliseconds(40));
}

TEST(FleetViewTest, AServerIsAskedForAsMuchAsItWants) {
  FleetView fleet;
  fleet.Add(1, {.parallelism = 2, .window = 40});
  EXPECT_EQ(fleet.at(1).pace.Window(), 40);
  Answer(fleet, 1, absl::Milliseconds(10));
  EXPECT_EQ(fleet.at(1).pace.Window(), 40) << "what is measured alone would make it a few";
  fleet.Add(2, {.parallelism = 2, .window = 1});
  fleet.Add(3, {.parallelism = 2});
  EXPECT_EQ(fleet.at(2).pace.Window(), fleet.at(3).pace.Window()) << "a small wish takes nothing away";
  fleet.Add(4, {.parallelism = 2, .window = 1 << 30});
  EXPECT_EQ(fleet.at(4).pace.Window(), ServerPace::kMostWindow);
}

TEST(FleetViewTest, AFullWindowHasNoRoom) {
  FleetView fleet;
  fleet.Add(1, {});
  const int window = fleet.at(1).pace.Window();
  for (int i = 0; i < window; ++i) {
    EXPECT_THAT(ServersOf(fleet.roomy()), testing::ElementsAre(1)) << i;
    fleet.Ask(1, Span(i), i, kBytes, kStart);
  }
  EXPECT_THAT(fleet.roomy(), testing::IsEmpty());
  EXPECT_THAT(ServersOf(fleet.by_estimate()), testing::ElementsAre(1));
  EXPECT_EQ(fleet.owed_bytes(), window * kBytes);
}

TEST(FleetViewTest, AClosedServerOwesButIsNotAsked) {
  FleetView fleet;
  fleet.Add(1, {});
  fleet.Ask(1, Span(0), 7, kBytes, kStart);
  fleet.Close(1);
  EXPECT_THAT(fleet.by_estimate(), testing::IsEmpty());
  EXPECT_EQ(fleet.rate(), 0);
  EXPECT_TRUE(fleet.Settle(1, Span(0), 7).has_value());
}

TEST(FleetViewTest, ARemovedServerGivesBackWhatItOwed) {
  FleetView fleet;
  fleet.Add(1, {});
  fleet.Ask(1, Span(0), 7, kBytes, kStart);
  fleet.Ask(1, Span(0), 8, kBytes, kStart);
  EXPECT_EQ(fleet.Remove(1).size(), 2);
  EXPECT_EQ(fleet.owed_bytes(), 0);
  EXPECT_THAT(fleet.Remove(1), testing::IsEmpty());
  EXPECT_FALSE(fleet.Settle(1, Span(0), 7).has_value());
}

TEST(FleetViewTest, SilenceRaisesTheEstimateAndNotTheUsualLatency) {
  FleetView fleet;
  fleet.Add(1, {});
  Answer(fleet, 1, absl::Milliseconds(10));
  fleet.Ask(1, Span(1), 1, kBytes, kStart + absl::Seconds(1));
  fleet.NoticeSilence(1, kStart + absl::Seconds(4));
  EXPECT_GE(fleet.by_estimate().begin()->estimate, absl::Seconds(3));
  EXPECT_EQ(fleet.at(1).pace.Usual(1), absl::Milliseconds(10));
}

TEST(FleetViewTest, ConnectionsOfOneStokerdShareAnEndpoint) {
  FleetView fleet;
  fleet.Add(11, {.endpoint = 11});
  fleet.Add(12, {.endpoint = 11});
  fleet.Add(3, {});
  EXPECT_EQ(fleet.EndpointOf(12), 11);
  EXPECT_EQ(fleet.EndpointOf(3), 3);
}

// Each span keeps its owner whatever the servers' numbers are, and a server that leaves moves only what it owned.
TEST(FleetViewTest, OwnersFollowFromNamesAndMoveAsLittleAsCanBe) {
  FleetView fleet, other;
  for (int id = 0; id < 4; ++id) fleet.Add(id, {.caches = true, .name = 100u + id});
  for (int id = 0; id < 4; ++id) other.Add(50 - id, {.caches = true, .name = 100u + id});
  const auto any = [](int) { return true; };
  std::vector<int> owned(4);
  for (uint64_t start = 0; start < 400; ++start) {
    const auto owner = fleet.OwnerOf(Span(start), any);
    ASSERT_TRUE(owner.has_value());
    ++owned[*owner];
    EXPECT_EQ(other.OwnerOf(Span(start), any), 50 - *owner);
    const auto next = fleet.OwnerOf(Span(start), [](int id) { return id != 0; });
    EXPECT_EQ(next == owner, *owner != 0);
  }
  for (int count : owned) EXPECT_NEAR(count, 100, 40);
}

}  // namespace
}  // namespace stoker
