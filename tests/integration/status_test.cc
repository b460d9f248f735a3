// What servers tell of themselves, and what clients tell them.

#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/main/preview.h"
#include "tests/support/cluster.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

LoaderOptions Job(const Cluster& cluster) {
  LoaderOptions options;
  options.servers = cluster.addresses();
  options.pipeline.emplace();
  options.batch_size = 10;
  options.span_samples = 1;
  return options;
}

// What the servers say of their only dataset, one after the other.
std::vector<v1::DatasetStatus> Told(const Cluster& cluster) {
  auto client = Client::Create({.servers = cluster.addresses()});
  EXPECT_TRUE(client.ok()) << client.status();
  const auto servers = (*client)->Status();
  EXPECT_TRUE(servers.ok()) << servers.status();
  std::vector<v1::DatasetStatus> told;
  for (const auto& server : *servers) {
    EXPECT_TRUE(server.status.ok()) << server.address << ": " << server.status.status();
    EXPECT_EQ(server.status->workers(), 2);
    EXPECT_EQ(server.status->datasets_size(), 1);
    told.push_back(server.status->datasets(0));
  }
  return told;
}

TEST(StatusTest, ServersTellWhatTheyDid) {
  Cluster cluster(2, SyntheticConfig(60));
  const auto loader = Loader::Create(Job(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  const EpochResult epoch = RunEpoch(**loader);
  ASSERT_TRUE(epoch.status.ok()) << epoch.status;
  uint64_t samples = 0, streams = 0;
  for (const v1::DatasetStatus& told : Told(cluster)) {
    EXPECT_EQ(told.name(), "synthetic");
    EXPECT_GT(told.times().read() + told.times().pack(), 0);
    EXPECT_GT(told.sent_bytes(), 0);
    samples += told.samples();
    streams += told.streams();
  }
  EXPECT_GE(samples, 60);
  EXPECT_EQ(streams, 2);
}

TEST(StatusTest, AServerThatCannotBeReachedSaysWhy) {
  Cluster cluster(2, SyntheticConfig(60));
  cluster.Stop(1);
  auto client = Client::Create({.servers = cluster.addresses()});
  ASSERT_TRUE(client.ok()) << client.status();
  const auto servers = (*client)->Status();
  ASSERT_TRUE(servers.ok()) << servers.status();
  ASSERT_EQ(servers->size(), 2);
  for (const auto& server : *servers)
    EXPECT_EQ(server.status.ok(), server.address == cluster.addresses()[0]) << server.status.status();
}

// The job takes batches as fast as they come, so that it waits for most of them. Each server counts a half.
TEST(StatusTest, WhatAJobWaitsIsToldToAllOfItsServersTogether) {
  Cluster cluster(2, SyntheticConfig(2000));
  const auto loader = Loader::Create(Job(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  double told = 0;
  const absl::Time deadline = absl::Now() + absl::Minutes(2);
  while (told == 0 && absl::Now() < deadline) {
    ASSERT_TRUE(RunEpoch(**loader).status.ok());
    const auto servers = Told(cluster);
    const double one = servers[0].client_wait_seconds(), other = servers[1].client_wait_seconds();
    if (one > 0 && other > 0) told = one + other;
    const double waited = absl::ToDoubleSeconds((*loader)->stats().waited);
    EXPECT_LE(one + other, waited);
    for (const v1::DatasetStatus& server : servers) {
      EXPECT_GE(server.whole_client_wait_seconds(), server.client_wait_seconds());
      EXPECT_LE(server.whole_client_wait_seconds(), waited);
    }
  }
  EXPECT_GT(told, 0);
}

TEST(StatusTest, AServerThatHasDrainedMayBeAskedHowItIs) {
  Cluster cluster(1, SyntheticConfig(60));
  EXPECT_TRUE(cluster.server(0).Healthy());
  EXPECT_TRUE(cluster.server(0).Drain());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(cluster.server(0).Healthy()) << "it ends as it should";
}

v1::ServerConfig Pictures() {
  v1::ServerConfig config = SyntheticConfig(20);
  auto& field = *config.mutable_datasets(0)->mutable_synthetic()->mutable_fields(0);
  field.set_encoding(v1::SYNTHETIC_ENCODING_JPEG);
  field.clear_shape();
  for (int extent : {150, 200, 3}) field.add_shape(extent);
  return config;
}

TEST(PreviewTest, DrawsSamplesInTheOrderOfTheirIds) {
  Cluster cluster(1, Pictures());
  const auto first = cluster.server(0).DrawSamples("synthetic", 0),
             again = cluster.server(0).DrawSamples("synthetic", 0);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(*first, StartsWith("\x89PNG"));
  EXPECT_EQ(*first, *again);
  const auto last = cluster.server(0).DrawSamples("synthetic", 19);
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_LT(last->size(), first->size());
}

TEST(PreviewTest, SaysWhatItCannotDraw) {
  Cluster cluster(1, Pictures());
  Server& server = cluster.server(0);
  EXPECT_THAT(server.DrawSamples("synthetic", 20).status().message(), HasSubstr("there are 20 samples, from 0 on"));
  EXPECT_TRUE(absl::IsNotFound(server.DrawSamples("none", 0).status()));
  v1::ServerConfig numbers = SyntheticConfig(20);
  numbers.mutable_datasets(0)->mutable_synthetic()->mutable_fields()->DeleteSubrange(0, 1);
  Cluster without(1, numbers);
  const absl::Status status = without.server(0).DrawSamples("synthetic", 0).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
}

}  // namespace
}  // namespace stoker
