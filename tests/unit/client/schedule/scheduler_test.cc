#include "client/schedule/scheduler.h"

#include <deque>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/schedule/asked_spans.h"

namespace stoker {
namespace {

using Assignments = std::vector<Scheduler::Assignment>;

// A server whose window is 2 · parallelism + 2 until it has answered.
Scheduler::ServerInfo Of(int parallelism) { return {.parallelism = parallelism}; }

std::vector<uint64_t> StartsFor(const Assignments& assignments, int server) {
  std::vector<uint64_t> starts;
  for (const auto& assignment : assignments)
    if (assignment.server == server) starts.push_back(assignment.span.start);
  return starts;
}

TEST(SchedulerTest, AsksForWhatIsNeededFirstUpToTheWindow) {
  Scheduler scheduler;
  for (uint64_t start = 0; start < 6; ++start) scheduler.Need(Span(start), kBytes);
  scheduler.AddServer(1, Of(1));
  EXPECT_THAT(StartsFor(scheduler.Assign(kStart), 1), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(scheduler.Assign(kStart), testing::IsEmpty());
  scheduler.Done(1, *scheduler.Arrived(1, Span(1)), kStart + absl::Milliseconds(10), {});
  EXPECT_THAT(StartsFor(scheduler.Assign(kStart), 1), testing::Contains(4));
}

TEST(SchedulerTest, ServersShareByTheirParallelism) {
  Scheduler scheduler;
  for (uint64_t start = 0; start < 30; ++start) scheduler.Need(Span(start), kBytes);
  scheduler.AddServer(1, Of(2));
  scheduler.AddServer(2, Of(6));
  const auto assignments = scheduler.Assign(kStart);
  EXPECT_EQ(StartsFor(assignments, 1).size(), 6);
  EXPECT_EQ(StartsFor(assignments, 2).size(), 14);
}

TEST(SchedulerTest, BytesInFlightAreBoundedButOneSpanMayAlwaysBe) {
  Scheduler scheduler({.max_bytes = 3 * kBytes});
  scheduler.Need(Span(0), 5 * kBytes);
  for (uint64_t start = 1; start < 6; ++start) scheduler.Need(Span(start), kBytes);
  scheduler.AddServer(1, Of(8));
  EXPECT_THAT(StartsFor(scheduler.Assign(kStart), 1), testing::ElementsAre(0));
  scheduler.Done(1, *scheduler.Arrived(1, Span(0)), kStart, {});
  EXPECT_THAT(StartsFor(scheduler.Assign(kStart), 1), testing::ElementsAre(1, 2, 3));
}

TEST(SchedulerTest, WhatALostServerOwedIsAskedForBeforeWhatComesLater) {
  Scheduler scheduler;
  for (uint64_t start = 0; start < 8; ++start) scheduler.Need(Span(start), kBytes);
  scheduler.AddServer(1, Of(1));
  scheduler.Assign(kStart);
  EXPECT_EQ(scheduler.RemoveServer(1), 4);
  scheduler.AddServer(2, Of(1));
  EXPECT_THAT(StartsFor(scheduler.Assign(kStart), 2), testing::ElementsAre(0, 1, 2, 3));
}

TEST(SchedulerTest, ALateAnswerOfALostServerIsNotTaken) {
  Scheduler scheduler;
  scheduler.Need(Span(0), kBytes);
  scheduler.AddServer(1, Of(1));
  scheduler.Assign(kStart);
  scheduler.RemoveServer(1);
  EXPECT_FALSE(scheduler.Arrived(1, Span(0)).has_value());
}

TEST(SchedulerTest, AnUnaskedSpanIsNotTaken) {
  Scheduler scheduler;
  scheduler.Need(Span(0), kBytes);
  scheduler.AddServer(1, Of(1));
  scheduler.Assign(kStart);
  EXPECT_FALSE(scheduler.Arrived(1, Span(7)).has_value());
  EXPECT_FALSE(scheduler.Arrived(1, {1, 0, 1}).has_value());
}

TEST(SchedulerTest, ASpanThatIsNeededTwiceIsAskedForTwice) {
  Scheduler scheduler;
  scheduler.Need(Span(0), kBytes);
  scheduler.Need(Span(0), kBytes);
  scheduler.AddServer(1, Of(1));
  EXPECT_THAT(StartsFor(scheduler.Assign(kStart), 1), testing::ElementsAre(0, 0));
  const auto first = scheduler.Arrived(1, Span(0));
  scheduler.Done(1, *first, kStart, {});
  const auto second = scheduler.Arrived(1, Span(0));
  ASSERT_TRUE(second.has_value());
  EXPECT_NE(*first, *second);
}

TEST(SchedulerTest, ADrainingServerIsAskedNoMoreButMayStillAnswer) {
  Scheduler scheduler;
  scheduler.Need(Span(0), kBytes);
  scheduler.AddServer(1, Of(1));
  scheduler.Assign(kStart);
  scheduler.CloseServer(1);
  scheduler.Need(Span(1), kBytes);
  EXPECT_THAT(scheduler.Assign(kStart), testing::IsEmpty());
  EXPECT_TRUE(scheduler.Arrived(1, Span(0)).has_value());
}

TEST(SchedulerTest, AFailedSpanGoesToAServerThatHasNotFailedIt) {
  Scheduler scheduler;
  const auto ticket = scheduler.Need(Span(0), kBytes);
  scheduler.AddServer(1, Of(1));
  EXPECT_EQ(scheduler.Assign(kStart).at(0).server, 1);
  scheduler.AddServer(2, Of(1));
  EXPECT_TRUE(scheduler.Failed(1, ticket, "a: EIO", {1, 2}));
  EXPECT_EQ(scheduler.Assign(kStart).at(0).server, 2);
  EXPECT_FALSE(scheduler.Failed(2, ticket, "b: EIO", {1, 2}));
  EXPECT_EQ(scheduler.Reasons(ticket), "a: EIO; b: EIO");
}

TEST(SchedulerTest, AServerThatIsAwayMayStillMakeWhatAnotherFailed) {
  Scheduler scheduler;
  const auto ticket = scheduler.Need(Span(0), kBytes);
  scheduler.AddServer(1, Of(1));
  scheduler.Assign(kStart);
  EXPECT_TRUE(scheduler.Failed(1, ticket, "EIO", {1, 2})) << "server 2 was not asked";
  EXPECT_THAT(scheduler.Assign(kStart), testing::IsEmpty());
  EXPECT_EQ(scheduler.FirstReasons(), "EIO");
  scheduler.AddServer(2, Of(1));
  EXPECT_EQ(scheduler.Assign(kStart).at(0).server, 2);
}

TEST(SchedulerTest, AServerThatCameBackIsAskedAgainForWhatItFailed) {
  Scheduler scheduler;
  const auto ticket = scheduler.Need(Span(0), kBytes);
  scheduler.AddServer(1, Of(1));
  scheduler.Assign(kStart);
  scheduler.Failed(1, ticket, "EIO", {1, 2});
  scheduler.RemoveServer(1);
  scheduler.AddServer(1, Of(1));
  EXPECT_EQ(scheduler.Assign(kStart).at(0).server, 1);
}

TEST(SchedulerTest, AFailedSpanDoesNotHoldUpOthers) {
  Scheduler scheduler;
  const auto ticket = scheduler.Need(Span(0), kBytes);
  for (uint64_t start = 1; start < 6; ++start) scheduler.Need(Span(start), kBytes);
  scheduler.AddServer(1, Of(1));
  ASSERT_EQ(scheduler.Assign(kStart).size(), 4);
  scheduler.Failed(1, ticket, "EIO", {1, 2});
  EXPECT_THAT(StartsFor(scheduler.Assign(kStart), 1), testing::ElementsAre(4));
}

TEST(SchedulerTest, AGarbledSpanIsAskedForAgain) {
  Scheduler scheduler;
  const auto ticket = scheduler.Need(Span(0), kBytes);
  scheduler.AddServer(1, Of(1));
  scheduler.Assign(kStart);
  scheduler.Retry(1, ticket);
  EXPECT_THAT(StartsFor(scheduler.Assign(kStart), 1), testing::ElementsAre(0));
}

TEST(SchedulerTest, WhatIsForgottenIsNeitherAskedNorTaken) {
  Scheduler scheduler;
  const auto asked = scheduler.Need(Span(0), kBytes), waiting = scheduler.Need(Span(1), kBytes);
  scheduler.AddServer(1, Of(1));
  scheduler.Assign(kStart);
  const auto cancels = scheduler.Forget({asked, waiting});
  ASSERT_EQ(cancels.size(), 2);
  EXPECT_EQ(cancels[0].span, Span(0));
  EXPECT_FALSE(scheduler.Arrived(1, Span(0)).has_value());
  EXPECT_THAT(scheduler.Assign(kStart), testing::IsEmpty());
}

// A server that answers each span `latency` after it was asked, some times, from kStart on.
absl::Time Teach(Scheduler& scheduler, int server, absl::Duration latency, uint64_t first) {
  absl::Time now = kStart;
  for (uint64_t start = first; start < first + 40; ++start) {
    scheduler.Need(Span(start), kBytes);
    for (const auto& asked : scheduler.Assign(now)) {
      EXPECT_EQ(asked.server, server);
      now += latency;
      const auto ticket = scheduler.Arrived(asked.server, asked.span);
      scheduler.Done(asked.server, *ticket, now, {});
    }
  }
  return now;
}

// Server 1, which answers within 10 ms, is asked for span 0 at the time returned; server 2 is there too.
absl::Time AskServer1(Scheduler& scheduler) {
  scheduler.AddServer(1, Of(1));
  const absl::Time now = Teach(scheduler, 1, absl::Milliseconds(10), 100);
  scheduler.Need(Span(0), kBytes);
  EXPECT_EQ(scheduler.Assign(now).size(), 1);
  scheduler.AddServer(2, Of(1));
  return now;
}

TEST(SchedulerTest, ALateSpanIsAskedForTwiceAndTheFirstAnswerCounts) {
  Scheduler scheduler;
  absl::Time now = AskServer1(scheduler);
  EXPECT_THAT(scheduler.Hedge(now + absl::Milliseconds(20)), testing::IsEmpty()) << "not late yet";
  now += absl::Milliseconds(400);
  const auto hedges = scheduler.Hedge(now);
  ASSERT_EQ(hedges.size(), 1);
  EXPECT_EQ(hedges[0].server, 2);
  EXPECT_EQ(scheduler.hedged(), 1);
  EXPECT_THAT(scheduler.Hedge(now + absl::Seconds(1)), testing::IsEmpty()) << "twice is enough";
  const auto others = scheduler.Done(2, *scheduler.Arrived(2, Span(0)), now, {});
  ASSERT_EQ(others.size(), 1);
  EXPECT_EQ(others[0].server, 1);
  EXPECT_FALSE(scheduler.Arrived(1, Span(0)).has_value()) << "the loser's answer is not taken";
}

// Connections 11 and 12 lead to one stokerd, endpoint 11.
TEST(SchedulerTest, ALateSpanIsNotAskedForOverAnotherConnectionToTheSameServer) {
  Scheduler scheduler;
  scheduler.AddServer(11, {.endpoint = 11});
  absl::Time now = Teach(scheduler, 11, absl::Milliseconds(10), 100);
  scheduler.Need(Span(0), kBytes);
  ASSERT_EQ(scheduler.Assign(now).size(), 1);
  scheduler.AddServer(12, {.endpoint = 11});
  now += absl::Milliseconds(400);
  EXPECT_THAT(scheduler.Hedge(now), testing::IsEmpty());
  scheduler.AddServer(2, Of(1));
  EXPECT_THAT(StartsFor(scheduler.Hedge(now), 2), testing::ElementsAre(0));
}

TEST(SchedulerTest, WhatAServerFailedOverOneConnectionItIsNotAskedOverAnother) {
  Scheduler scheduler;
  scheduler.AddServer(11, {.endpoint = 11});
  scheduler.AddServer(12, {.endpoint = 11});
  const auto ticket = scheduler.Need(Span(0), kBytes);
  const int asked = scheduler.Assign(kStart)[0].server;
  ASSERT_TRUE(scheduler.Arrived(asked, Span(0)).has_value());
  EXPECT_FALSE(scheduler.Failed(asked, ticket, "EIO", /*members=*/{11}));
  EXPECT_THAT(scheduler.Assign(kStart), testing::IsEmpty());
}

TEST(SchedulerTest, ASpanThatIsBeingTakenIsNotTakenFromAnotherServer) {
  Scheduler scheduler;
  const absl::Time now = AskServer1(scheduler);
  ASSERT_EQ(scheduler.Hedge(now + absl::Seconds(1)).size(), 1);
  const auto ticket = scheduler.Arrived(1, Span(0));
  ASSERT_TRUE(ticket.has_value());
  EXPECT_FALSE(scheduler.Arrived(2, Span(0)).has_value());
  scheduler.Retry(1, *ticket);  // It was garbled.
  EXPECT_TRUE(scheduler.Arrived(2, Span(0)).has_value());
}

TEST(SchedulerTest, AServerThatDiesLeavesItsSpanToTheOneThatWasAskedToo) {
  Scheduler scheduler;
  const absl::Time now = AskServer1(scheduler);
  scheduler.Hedge(now + absl::Seconds(1));
  EXPECT_EQ(scheduler.RemoveServer(1), 0);
  EXPECT_THAT(scheduler.Assign(now + absl::Seconds(1)), testing::IsEmpty());
  EXPECT_TRUE(scheduler.Arrived(2, Span(0)).has_value());
}

TEST(SchedulerTest, AServerThatStaysSilentForThreeDeadlinesIsHungAndHasMorePatienceNextTime) {
  Scheduler scheduler({.late = {.least_deadline = absl::Seconds(2)}});
  scheduler.AddServer(1, Of(1));
  absl::Time now = Teach(scheduler, 1, absl::Milliseconds(10), 100);
  for (const absl::Duration deadline : {absl::Seconds(2), absl::Seconds(4), absl::Seconds(8)}) {
    const auto ticket = scheduler.Need(Span(0), kBytes);
    ASSERT_EQ(scheduler.Assign(now).size(), 1);
    EXPECT_THAT(scheduler.Expire(now + deadline - absl::Milliseconds(1)).lost, testing::IsEmpty());
    EXPECT_THAT(scheduler.Expire(now + deadline).lost, testing::SizeIs(1));
    EXPECT_THAT(scheduler.Expire(now + 3 * deadline - absl::Milliseconds(1)).hung, testing::IsEmpty());
    EXPECT_THAT(scheduler.Expire(now + 3 * deadline).hung, testing::ElementsAre(1));
    EXPECT_THAT(scheduler.Expire(now + 3 * deadline).hung, testing::IsEmpty()) << "named once";
    scheduler.RemoveServer(1);
    EXPECT_EQ(scheduler.unassigned(), 1);
    scheduler.Forget({ticket});
    scheduler.AddServer(1, Of(1));
    now += absl::Seconds(30);
  }
}

TEST(SchedulerTest, ASpanPastItsDeadlineIsLostThoughItsServerAnswersOthers) {
  Scheduler scheduler({.late = {.least_deadline = absl::Seconds(2)}});
  scheduler.AddServer(1, Of(1));
  absl::Time now = Teach(scheduler, 1, absl::Milliseconds(10), 100);
  scheduler.Need(Span(0), kBytes);
  scheduler.Assign(now);
  const absl::Time asked = now;
  for (uint64_t start = 1; now < asked + absl::Seconds(2); ++start) {
    EXPECT_THAT(scheduler.Expire(now).lost, testing::IsEmpty());
    scheduler.Need(Span(start), kBytes);
    for (const auto& other : scheduler.Assign(now)) scheduler.Done(1, *scheduler.Arrived(1, other.span), now, {});
    now += absl::Milliseconds(100);
  }
  const auto overdue = scheduler.Expire(now);
  EXPECT_THAT(overdue.hung, testing::IsEmpty());
  ASSERT_EQ(overdue.lost.size(), 1);
  EXPECT_EQ(overdue.lost[0].span, Span(0));
  EXPECT_THAT(StartsFor(scheduler.Assign(now), 1), testing::ElementsAre(0));
}

TEST(SchedulerTest, ASpanBehindOthersIsWaitedForWhileItsServerAnswers) {
  Scheduler scheduler({.late = {.least_deadline = absl::Seconds(2)}});
  scheduler.AddServer(1, Of(1));
  absl::Time now = Teach(scheduler, 1, absl::Milliseconds(10), 100);
  for (uint64_t start = 0; start < 4; ++start) scheduler.Need(Span(start), kBytes);
  ASSERT_THAT(StartsFor(scheduler.Assign(now), 1), testing::ElementsAre(0, 1, 2, 3));
  for (uint64_t start = 0; start < 3; ++start) {  // Many jobs have come: it is a hundred times slower.
    now += absl::Seconds(1);
    scheduler.Done(1, *scheduler.Arrived(1, Span(start)), now, absl::Milliseconds(900));
    EXPECT_THAT(scheduler.Expire(now).lost, testing::IsEmpty());
  }
}

TEST(SchedulerTest, AMuchSlowerServerTakesWhatIsNeededLater) {
  Scheduler scheduler;
  scheduler.AddServer(1, Of(1));
  const absl::Time now = Teach(scheduler, 1, absl::Milliseconds(10), 1000);
  scheduler.CloseServer(1);
  scheduler.AddServer(2, Of(1));
  Teach(scheduler, 2, absl::Milliseconds(200), 2000);
  scheduler.RemoveServer(1);
  scheduler.AddServer(1, Of(1));
  Teach(scheduler, 1, absl::Milliseconds(10), 3000);
  for (uint64_t start = 0; start < 100; ++start) scheduler.Need(Span(start), kBytes);
  const auto assignments = scheduler.Assign(now);
  EXPECT_EQ(StartsFor(assignments, 1).at(0), 0);
  ASSERT_FALSE(StartsFor(assignments, 2).empty());
  EXPECT_GE(StartsFor(assignments, 2).at(0), 20) << "in 200 ms the fast one makes 20";
}

TEST(SchedulerTest, ServersThatCacheOwnSpansWhoeverAsks) {
  const auto owners = [](const std::vector<int>& ids) {
    Scheduler scheduler;
    for (int id : ids) scheduler.AddServer(id, {.parallelism = 64, .caches = true, .name = static_cast<uint64_t>(id)});
    for (uint64_t start = 0; start < 60; ++start) scheduler.Need(Span(start), kBytes);
    std::map<uint64_t, int> by_span;
    for (const auto& assignment : scheduler.Assign(kStart)) by_span[assignment.span.start] = assignment.server;
    return by_span;
  };
  const auto three = owners({1, 2, 3});
  EXPECT_EQ(three, owners({3, 1, 2}));
  EXPECT_EQ(three.size(), 60);
  const auto two = owners({1, 3});  // What stays keeps what it has.
  for (const auto& [span, owner] : three) EXPECT_TRUE(owner == 2 || two.at(span) == owner) << span;
}

// Servers come, go, answer in any order, fail and garble by a seed: each span is done once, none is lost.
TEST(SchedulerTest, EverySpanIsDoneOnceWhateverServersDo) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    Scheduler scheduler;
    constexpr uint64_t kSpans = 200;
    for (uint64_t start = 0; start < kSpans; ++start) scheduler.Need(Span(start), kBytes);
    std::map<int, std::deque<SpanId>> servers;  // what each is asked for
    std::vector<int> done(kSpans);
    int next_server = 0;
    uint64_t count = 0;
    for (int step = 0; count < kSpans; ++step) {
      ASSERT_LT(step, 100'000) << "no progress, seed " << seed;
      const uint32_t event = random() % 100;
      if (servers.empty() || (event < 2 && servers.size() < 5)) {
        scheduler.AddServer(next_server, Of(1 + static_cast<int>(random() % 8)));
        servers[next_server++];
      }
      auto server = std::next(servers.begin(), random() % servers.size());
      for (const auto& assignment : scheduler.Assign(kStart)) servers.at(assignment.server).push_back(assignment.span);
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
          scheduler.Done(server->first, *ticket, kStart, {});
          ++done[start];
          ++count;
        }
      }
    }
    EXPECT_THAT(done, testing::Each(1)) << "seed " << seed;
    EXPECT_EQ(scheduler.unassigned(), 0);
  }
}

TEST(SchedulerTest, WhatTheFasterServerFailedIsMadeByAMuchSlowerOne) {
  Scheduler scheduler;
  scheduler.AddServer(1, Of(1));
  scheduler.AddServer(2, Of(1));
  for (uint64_t start = 0; start < 8; ++start) scheduler.Need(Span(start), kBytes);
  for (const auto& asked : scheduler.Assign(kStart)) {
    const absl::Duration took = asked.server == 1 ? absl::Milliseconds(10) : absl::Seconds(1);
    scheduler.Done(asked.server, *scheduler.Arrived(asked.server, asked.span), kStart + took, {});
  }
  const auto ticket = scheduler.Need(Span(100), kBytes);
  const absl::Time later = kStart + absl::Seconds(2);
  ASSERT_THAT(StartsFor(scheduler.Assign(later), 1), testing::ElementsAre(100));
  EXPECT_TRUE(scheduler.Failed(1, ticket, "EIO", {1, 2}));
  EXPECT_THAT(StartsFor(scheduler.Assign(later), 2), testing::ElementsAre(100)) << "the other would wait for ever";
}

// ---- checks ----

TEST(SchedulerTest, ACheckGoesToAServerThatDidNotMakeTheSpan) {
  Scheduler scheduler;
  scheduler.AddServer(1, Of(4));
  scheduler.AddServer(2, Of(4));
  const auto check = scheduler.Check(Span(7), kBytes, {1});
  const auto assignments = scheduler.Assign(kStart);
  ASSERT_EQ(assignments.size(), 1);
  EXPECT_EQ(assignments[0].server, 2);
  EXPECT_EQ(assignments[0].ticket, check);
  EXPECT_TRUE(assignments[0].anew);
  EXPECT_TRUE(Scheduler::IsCheck(check));
  EXPECT_EQ(scheduler.Arrived(2, Span(7)), check);
  EXPECT_THAT(scheduler.Done(2, check, kStart, {}), testing::IsEmpty());
  EXPECT_FALSE(scheduler.MayBeMade(check));
}

TEST(SchedulerTest, WhatIsNeededIsNotAskedAnew) {
  Scheduler scheduler;
  scheduler.AddServer(1, Of(1));
  const auto ticket = scheduler.Need(Span(0), kBytes);
  EXPECT_FALSE(scheduler.Assign(kStart)[0].anew);
  EXPECT_FALSE(Scheduler::IsCheck(ticket));
}

TEST(SchedulerTest, ACheckWaitsForAServerThatMayMakeIt) {
  Scheduler scheduler;
  scheduler.AddServer(1, Of(1));
  const auto check = scheduler.Check(Span(0), kBytes, {1});
  EXPECT_THAT(scheduler.Assign(kStart), testing::IsEmpty());
  EXPECT_FALSE(scheduler.MayBeMade(check));
  EXPECT_EQ(scheduler.unassigned(), 0) << "nothing waits for it";
  scheduler.AddServer(2, Of(1));
  EXPECT_TRUE(scheduler.MayBeMade(check));
  EXPECT_EQ(scheduler.Assign(kStart).size(), 1);
  scheduler.RemoveServer(1);
  EXPECT_TRUE(scheduler.MayBeMade(check)) << "it is under way";
}

TEST(SchedulerTest, AServerThatMadeTheSpanIsNotAskedToCheckItWhenItComesBack) {
  Scheduler scheduler;
  scheduler.AddServer(1, Of(1));
  scheduler.Check(Span(0), kBytes, {1});
  scheduler.RemoveServer(1);
  scheduler.AddServer(1, Of(1));
  EXPECT_THAT(scheduler.Assign(kStart), testing::IsEmpty());
}

TEST(SchedulerTest, ChecksLeaveHalfOfAWindowToWhatIsNeeded) {
  Scheduler scheduler;
  scheduler.AddServer(2, Of(1));  // A window of 4.
  for (uint64_t start = 0; start < 9; ++start) scheduler.Check(Span(start), kBytes, {1});
  for (uint64_t start = 20; start < 29; ++start) scheduler.Need(Span(start), kBytes);
  const auto assignments = scheduler.Assign(kStart);
  EXPECT_THAT(StartsFor(assignments, 2), testing::ElementsAre(0, 1, 20, 21));
  EXPECT_TRUE(assignments[0].anew);
  EXPECT_FALSE(assignments[2].anew);
}

TEST(SchedulerTest, ChecksOfALostServerAreAskedOfAnother) {
  Scheduler scheduler;
  scheduler.AddServer(2, Of(1));
  const auto check = scheduler.Check(Span(0), kBytes, {1});
  ASSERT_EQ(scheduler.Assign(kStart).size(), 1);
  EXPECT_EQ(scheduler.RemoveServer(2), 0) << "nothing that is needed was lost";
  scheduler.AddServer(3, Of(1));
  const auto assignments = scheduler.Assign(kStart);
  ASSERT_EQ(assignments.size(), 1);
  EXPECT_EQ(assignments[0].ticket, check);
  EXPECT_TRUE(assignments[0].anew);
}

TEST(SchedulerTest, ACheckThatAllOthersFailIsOver) {
  Scheduler scheduler;
  for (int server : {1, 2, 3}) scheduler.AddServer(server, Of(1));
  const auto check = scheduler.Check(Span(0), kBytes, {1});
  const auto first = scheduler.Assign(kStart);
  ASSERT_EQ(first.size(), 1);
  EXPECT_TRUE(scheduler.Failed(first[0].server, check, "EIO", {1, 2, 3}));
  const auto second = scheduler.Assign(kStart);
  ASSERT_EQ(second.size(), 1);
  EXPECT_NE(second[0].server, first[0].server);
  EXPECT_FALSE(scheduler.Failed(second[0].server, check, "EIO", {1, 2, 3}));
  EXPECT_EQ(scheduler.FirstReasons(), "") << "no span that is needed failed";
}

TEST(SchedulerTest, ALateCheckIsNotHedgedAndALostOneIsAskedAgain) {
  Scheduler scheduler;
  scheduler.AddServer(2, Of(4));
  scheduler.AddServer(3, Of(4));
  scheduler.Check(Span(0), kBytes, {1});
  const auto asked = scheduler.Assign(kStart);
  ASSERT_EQ(asked.size(), 1);
  EXPECT_THAT(scheduler.Hedge(kStart + absl::Seconds(1)), testing::IsEmpty());
  EXPECT_EQ(scheduler.hedged(), 0);
  const auto overdue = scheduler.Expire(kStart + absl::Minutes(10));
  EXPECT_EQ(overdue.lost.size() + overdue.hung.size(), 1);
  scheduler.RemoveServer(asked[0].server);
  EXPECT_EQ(scheduler.Assign(kStart + absl::Minutes(10)).size(), 1);
}

}  // namespace
}  // namespace stoker
