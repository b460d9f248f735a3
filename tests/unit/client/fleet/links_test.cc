#include "client/fleet/links.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr absl::Time kStart = absl::UnixEpoch();

// Links of one connection to each address, all of which are tried at kStart.
Links Begin(const std::vector<std::string>& addresses) {
  Links links(1);
  links.Update(addresses, /*complete=*/true);
  for (int id : links.Due(kStart)) links.Begin(id, kStart);
  return links;
}

v1::Opened OpenedAs(uint64_t stream_key) {
  v1::Opened opened;
  opened.set_stream_key(stream_key);
  return opened;
}

TEST(LinksTest, EachServerHasSoManyConnectionsAndOneEndpoint) {
  Links links(2);
  links.Update({"a:1", "b:1"}, true);
  ASSERT_EQ(links.all().size(), 4);
  EXPECT_EQ(links.at(0).address, "a:1");
  EXPECT_EQ(links.at(1).connection, 1);
  EXPECT_EQ(links.at(3).address, "b:1");
  EXPECT_THAT(links.Endpoints(), ElementsAre(0, 2));
  EXPECT_EQ(links.at(3).endpoint, 2);
}

TEST(LinksTest, ALinkIsDueWhileItHasNoStream) {
  Links links(1);
  links.Update({"a:1"}, true);
  EXPECT_THAT(links.Due(kStart), ElementsAre(0));
  links.Begin(0, kStart);
  EXPECT_THAT(links.Due(kStart), IsEmpty());
}

TEST(LinksTest, AfterItsStreamEndedALinkIsDueWhenItsPauseIsOver) {
  Links links = Begin({"a:1"});
  links.Closed(0, absl::UnavailableError("connection refused"), kStart, /*jitter=*/1);
  EXPECT_THAT(links.Due(kStart + absl::Milliseconds(99)), IsEmpty());
  EXPECT_THAT(links.Due(kStart + absl::Milliseconds(100)), ElementsAre(0));
  EXPECT_THAT(links.Problems(), ElementsAre("a:1: connection refused"));
}

TEST(LinksTest, AllDifferOnceEachServerWasRefusedLast) {
  const absl::Status differs = absl::FailedPreconditionError("its copy of the dataset differs");
  Links links = Begin({"a:1", "b:1"});
  links.Closed(0, differs, kStart, 1);
  EXPECT_FALSE(links.AllDiffer());
  links.Closed(1, absl::UnavailableError("connection refused"), kStart, 1);
  EXPECT_FALSE(links.AllDiffer()) << "the second may yet be as it was";
  links.Begin(1, kStart);
  links.Closed(1, differs, kStart, 1);
  EXPECT_TRUE(links.AllDiffer());
  links.Update({"a:1", "b:1", "c:1"}, true);
  EXPECT_FALSE(links.AllDiffer()) << "the third was not tried";
  links.Update({"b:1"}, true);
  EXPECT_TRUE(links.AllDiffer());
  links.TryDifferingNow();
  EXPECT_FALSE(links.AllDiffer());
  EXPECT_THAT(links.Due(kStart), ElementsAre(1)) << "without its pause";
  links.Begin(1, kStart);
  links.Opened(1, OpenedAs(7), kStart);
  EXPECT_FALSE(links.AllDiffer());
  EXPECT_FALSE(Links(1).AllDiffer()) << "of no servers";
}

TEST(LinksTest, AStreamThatDoesNotOpenIsNamed) {
  Links links = Begin({"a:1", "b:1"});
  links.Opened(1, OpenedAs(7), kStart + absl::Seconds(1));
  EXPECT_THAT(links.Unopened(kStart + absl::Seconds(10)), IsEmpty());
  EXPECT_THAT(links.Unopened(kStart + absl::Seconds(11)), ElementsAre(0));
}

TEST(LinksTest, AServerThatLeavesGoesWhenItsStreamEnds) {
  Links links = Begin({"a:1", "b:1"});
  links.Update({"b:1"}, true);
  EXPECT_THAT(links.Endpoints(), ElementsAre(1));
  ASSERT_NE(links.Find(0), nullptr) << "it may still send what it owes";
  links.Closed(0, absl::OkStatus(), kStart, 0);
  EXPECT_THAT(links.Due(kStart + absl::Hours(1)), IsEmpty());
  links.Update({"b:1"}, true);
  EXPECT_EQ(links.Find(0), nullptr);
}

TEST(LinksTest, ANameServersFaultIsNoServers) {
  Links links = Begin({"a:1", "b:1"});
  links.Closed(0, absl::OkStatus(), kStart, 0);
  links.Update({"c:1"}, /*complete=*/false);
  EXPECT_THAT(links.Endpoints(), ElementsAre(0, 1, 2));
}

TEST(LinksTest, AServerThatComesBackMeanwhileKeepsItsLink) {
  Links links = Begin({"a:1"});
  links.Update({}, true);
  links.Update({"a:1"}, true);
  EXPECT_EQ(links.all().size(), 1);
  EXPECT_TRUE(links.at(0).member);
}

TEST(LinksTest, AStreamIsGivenUpAfterManyGarbledSpansInARow) {
  Links links = Begin({"a:1"});
  links.Opened(0, OpenedAs(7), kStart);
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(links.Garbled(0, "checksum"));
  links.Received(0);
  EXPECT_EQ(links.at(0).problem, "");
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(links.Garbled(0, "checksum"));
  EXPECT_TRUE(links.Garbled(0, "checksum"));
}

TEST(LinksTest, WhatIsKnownOfAnEndOutlivesTheStreamsOwnStatus) {
  Links links = Begin({"hung:1", "drained:1", "lost:1", "ended:1"});
  for (int id = 0; id < 4; ++id) links.Opened(id, OpenedAs(7), kStart);
  links.Hung(0);
  links.Closed(0, absl::CancelledError("cancelled"), kStart, 0);
  links.Draining(1);
  links.Closed(1, absl::OkStatus(), kStart, 0);
  links.Closed(2, absl::UnavailableError("reset by peer"), kStart, 0);
  links.Closed(3, absl::OkStatus(), kStart, 0);
  EXPECT_THAT(links.Problems(), ElementsAre("hung:1: it answers nothing", "drained:1: shutting down",
                                            "lost:1: reset by peer", "ended:1: it ended the stream"));
}

TEST(LinksTest, AServerIsConnectedIfOneOfItsConnectionsIs) {
  Links links(2);
  links.Update({"a:1", "b:1"}, true);
  for (int id : links.Due(kStart)) links.Begin(id, kStart);
  links.Opened(1, OpenedAs(7), kStart);
  links.Received(1);
  links.Received(1);
  const auto servers = links.Servers();
  ASSERT_EQ(servers.size(), 2);
  EXPECT_TRUE(servers[0].connected);
  EXPECT_EQ(servers[0].spans, 2);
  EXPECT_EQ(servers[0].problem, "");
  EXPECT_FALSE(servers[1].connected);
  EXPECT_EQ(servers[1].problem, "not connected yet");
}

TEST(LinksTest, AnotherServerMayOpenUntilItWasTriedInVain) {
  Links links(1);
  links.Update({"a:1", "b:1"}, true);
  EXPECT_TRUE(links.AnotherMayOpen(0)) << "it was not tried yet";
  links.Begin(0, kStart);
  links.Begin(1, kStart);
  links.Opened(0, OpenedAs(1), kStart);
  EXPECT_TRUE(links.AnotherMayOpen(0)) << "it is being tried";
  links.Closed(1, absl::UnavailableError("refused"), kStart, 0.5);
  EXPECT_FALSE(links.AnotherMayOpen(0));
  links.Begin(1, kStart);
  links.Opened(1, OpenedAs(1), kStart);
  EXPECT_FALSE(links.AnotherMayOpen(0)) << "it is open";
}

}  // namespace
}  // namespace stoker
