#include "client/schedule/scheduler.h"

#include <deque>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using Assignments = std::vector<Scheduler::Assignment>;

SpanId Span(uint64_t start) { return {0, start, 1}; }

std::vector<uint64_t> StartsFor(const Assignments& assignments, int server) {
  std::vector<uint64_t> starts;
  for (const auto& assignment : assignments)
    if (assignment.server == server) starts.push_back(assignment.span.start);
  return starts;
}

TEST(SchedulerTest, AsksForWhatIsNeededFirstUpToTheWindow) {
  Scheduler scheduler;
  for (uint64_t start = 0; start < 5; ++start) scheduler.Need(Span(start));
  scheduler.AddServer(1, 3);
  EXPECT_THAT(StartsFor(scheduler.Assign(), 1), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(scheduler.Assign(), testing::IsEmpty());
  scheduler.Done(1, *scheduler.Arrived(1, Span(1)));
  EXPECT_THAT(StartsFor(scheduler.Assign(), 1), testing::ElementsAre(3));
}

TEST(SchedulerTest, ServersShareByTheRoomInTheirWindows) {
  Scheduler scheduler;
  for (uint64_t start = 0; start < 30; ++start) scheduler.Need(Span(start));
  scheduler.AddServer(1, 4);
  scheduler.AddServer(2, 8);
  const auto assignments = scheduler.Assign();
  EXPECT_EQ(StartsFor(assignments, 1).size(), 4);
  EXPECT_EQ(StartsFor(assignments, 2).size(), 8);
}

TEST(SchedulerTest, WhatALostServerOwedIsAskedForBeforeWhatComesLater) {
  Scheduler scheduler;
  for (uint64_t start = 0; start < 4; ++start) scheduler.Need(Span(start));
  scheduler.AddServer(1, 2);
  scheduler.Assign();
  EXPECT_EQ(scheduler.RemoveServer(1), 2);
  scheduler.AddServer(2, 3);
  EXPECT_THAT(StartsFor(scheduler.Assign(), 2), testing::ElementsAre(0, 1, 2));
}

TEST(SchedulerTest, ALateAnswerOfALostServerIsNotTaken) {
  Scheduler scheduler;
  scheduler.Need(Span(0));
  scheduler.AddServer(1, 1);
  scheduler.Assign();
  scheduler.RemoveServer(1);
  EXPECT_FALSE(scheduler.Arrived(1, Span(0)).has_value());
}

TEST(SchedulerTest, AnUnaskedSpanIsNotTaken) {
  Scheduler scheduler;
  scheduler.Need(Span(0));
  scheduler.AddServer(1, 1);
  scheduler.Assign();
  EXPECT_FALSE(scheduler.Arrived(1, Span(7)).has_value());
  EXPECT_FALSE(scheduler.Arrived(1, {1, 0, 1}).has_value());
}

TEST(SchedulerTest, ASpanThatIsNeededTwiceIsAskedForTwice) {
  Scheduler scheduler;
  scheduler.Need(Span(0));
  scheduler.Need(Span(0));
  scheduler.AddServer(1, 4);
  EXPECT_THAT(StartsFor(scheduler.Assign(), 1), testing::ElementsAre(0, 0));
  const auto first = scheduler.Arrived(1, Span(0));
  scheduler.Done(1, *first);
  const auto second = scheduler.Arrived(1, Span(0));
  ASSERT_TRUE(second.has_value());
  EXPECT_NE(*first, *second);
}

TEST(SchedulerTest, ADrainingServerIsAskedNoMoreButMayStillAnswer) {
  Scheduler scheduler;
  scheduler.Need(Span(0));
  scheduler.AddServer(1, 2);
  scheduler.Assign();
  scheduler.CloseServer(1);
  scheduler.Need(Span(1));
  EXPECT_THAT(scheduler.Assign(), testing::IsEmpty());
  EXPECT_TRUE(scheduler.Arrived(1, Span(0)).has_value());
}

TEST(SchedulerTest, AFailedSpanGoesToAServerThatHasNotFailedIt) {
  Scheduler scheduler;
  const auto ticket = scheduler.Need(Span(0));
  scheduler.AddServer(1, 2);
  EXPECT_EQ(scheduler.Assign().at(0).server, 1);
  scheduler.AddServer(2, 2);
  EXPECT_TRUE(scheduler.Failed(1, ticket, "a: EIO", {1, 2}));
  EXPECT_EQ(scheduler.Assign().at(0).server, 2);
  EXPECT_FALSE(scheduler.Failed(2, ticket, "b: EIO", {1, 2}));
  EXPECT_EQ(scheduler.Reasons(ticket), "a: EIO; b: EIO");
}

TEST(SchedulerTest, AServerThatIsAwayMayStillMakeWhatAnotherFailed) {
  Scheduler scheduler;
  const auto ticket = scheduler.Need(Span(0));
  scheduler.AddServer(1, 1);
  scheduler.Assign();
  EXPECT_TRUE(scheduler.Failed(1, ticket, "EIO", {1, 2})) << "server 2 was not asked";
  EXPECT_THAT(scheduler.Assign(), testing::IsEmpty());
  EXPECT_EQ(scheduler.FirstReasons(), "EIO");
  scheduler.AddServer(2, 1);
  EXPECT_EQ(scheduler.Assign().at(0).server, 2);
}

TEST(SchedulerTest, AServerThatCameBackIsAskedAgainForWhatItFailed) {
  Scheduler scheduler;
  const auto ticket = scheduler.Need(Span(0));
  scheduler.AddServer(1, 1);
  scheduler.Assign();
  scheduler.Failed(1, ticket, "EIO", {1, 2});
  scheduler.RemoveServer(1);
  scheduler.AddServer(1, 1);
  EXPECT_EQ(scheduler.Assign().at(0).server, 1);
}

TEST(SchedulerTest, AFailedSpanDoesNotHoldUpOthers) {
  Scheduler scheduler;
  const auto ticket = scheduler.Need(Span(0));
  scheduler.Need(Span(1));
  scheduler.AddServer(1, 1);
  scheduler.Assign();
  scheduler.Failed(1, ticket, "EIO", {1, 2});
  EXPECT_THAT(StartsFor(scheduler.Assign(), 1), testing::ElementsAre(1));
}

TEST(SchedulerTest, AGarbledSpanIsAskedForAgain) {
  Scheduler scheduler;
  const auto ticket = scheduler.Need(Span(0));
  scheduler.AddServer(1, 1);
  scheduler.Assign();
  scheduler.Retry(1, ticket);
  EXPECT_THAT(StartsFor(scheduler.Assign(), 1), testing::ElementsAre(0));
}

TEST(SchedulerTest, WhatIsForgottenIsNeitherAskedNorTaken) {
  Scheduler scheduler;
  const auto asked = scheduler.Need(Span(0)), waiting = scheduler.Need(Span(1));
  scheduler.AddServer(1, 1);
  scheduler.Assign();
  const auto cancels = scheduler.Forget({asked, waiting});
  ASSERT_EQ(cancels.size(), 1);
  EXPECT_EQ(cancels[0].span, Span(0));
  EXPECT_FALSE(scheduler.Arrived(1, Span(0)).has_value());
  EXPECT_THAT(scheduler.Assign(), testing::IsEmpty());
}

// Servers come, go, answer in any order, fail and garble by a seed: each span is done once, none is lost.
TEST(SchedulerTest, EverySpanIsDoneOnceWhateverServersDo) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    Scheduler scheduler;
    constexpr uint64_t kSpans = 200;
    for (uint64_t start = 0; start < kSpans; ++start) scheduler.Need(Span(start));
    std::map<int, std::deque<SpanId>> servers;  // what each is asked for
    std::vector<int> done(kSpans);
    int next_server = 0;
    uint64_t count = 0;
    for (int step = 0; count < kSpans; ++step) {
      ASSERT_LT(step, 100'000) << "no progress, seed " << seed;
      const uint32_t event = random() % 100;
      if (servers.empty() || (event < 2 && servers.size() < 5)) {
        scheduler.AddServer(next_server, 1 + random() % 8);
        servers[next_server++];
      }
      auto server = std::next(servers.begin(), random() % servers.size());
      for (const auto& assignment : scheduler.Assign()) servers.at(assignment.server).push_back(assignment.span);
      if (event < 4) {
        scheduler.RemoveServer(server->first);
        servers.erase(server);
      } else if (!server->second.empty()) {
        const auto answer = server->second.begin() + random() % server->second.size();
        const auto ticket = scheduler.Arrived(server->first, *answer);
        ASSERT_TRUE(ticket.has_value());
        const uint64_t start = answer->start;
        server->second.erase(answer);
        if (event < 10) {
          scheduler.Retry(server->first, *ticket);
        } else if (event < 12) {
          scheduler.Failed(server->first, *ticket, "EIO", {});
        } else {
          scheduler.Done(server->first, *ticket);
          ++done[start];
          ++count;
        }
      }
    }
    EXPECT_THAT(done, testing::Each(1)) << "seed " << seed;
    EXPECT_EQ(scheduler.unassigned(), 0);
  }
}

}  // namespace
}  // namespace stoker
