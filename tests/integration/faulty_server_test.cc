// Servers that lose, double and change what they are asked for and answer: nothing of it reaches a job.

#include "tests/support/faulty_server.h"

#include "gtest/gtest.h"
#include "tests/support/cluster.h"

namespace stoker {
namespace {

LoaderOptions FaultyJob(std::vector<std::string> servers) {
  LoaderOptions options;
  options.servers = std::move(servers);
  options.pipeline = v1::Pipeline();
  options.batch_size = 16;
  options.span_samples = 2;
  options.last_batch = LastBatch::kPartial;
  options.span_deadline = absl::Milliseconds(100);  // What is lost is asked again soon: it is, all the time.
  return options;
}

void ExpectTheSameEpoch(const FaultyServer::Faults& faults) {
  Cluster cluster(2, SyntheticConfig(400));
  const EpochResult expected = RunEpoch(FaultyJob(cluster.addresses()));
  ASSERT_TRUE(expected.status.ok()) << expected.status;
  FaultyServer first(cluster.addresses()[0], faults), second(cluster.addresses()[1], faults);
  for (const auto& servers : {std::vector{first.address()}, std::vector{first.address(), second.address()}}) {
    const EpochResult epoch = RunEpoch(FaultyJob(servers));
    EXPECT_TRUE(epoch.status.ok()) << epoch.status;
    EXPECT_EQ(epoch.digest, expected.digest);
    EXPECT_EQ(epoch.positions, expected.positions);
  }
  EXPECT_GT(first.counts().lost + first.counts().doubled + first.counts().corrupted, 20u);
}

TEST(FaultyServerTest, WantsThatAreLostAreAskedAgain) { ExpectTheSameEpoch({.lose_wants = 0.25}); }
TEST(FaultyServerTest, AnswersThatAreLostAreAskedAgain) { ExpectTheSameEpoch({.lose_spans = 0.25}); }
TEST(FaultyServerTest, AnswersThatComeTwiceCountOnce) { ExpectTheSameEpoch({.double_spans = 0.5}); }
TEST(FaultyServerTest, AnswersThatWereChangedAreNotTaken) { ExpectTheSameEpoch({.corrupt_spans = 0.25}); }
TEST(FaultyServerTest, AllOfThisAtOnce) {
  ExpectTheSameEpoch({.lose_wants = 0.1, .lose_spans = 0.1, .double_spans = 0.1, .corrupt_spans = 0.1});
}

}  // namespace
}  // namespace stoker
