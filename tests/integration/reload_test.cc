// A configuration that is read again while the server serves.

#include "server/main/reload.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> DatasetsOf(const std::string& address) {
  const auto stub = v1::DataService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::ListDatasetsResponse response;
  EXPECT_TRUE(stub->ListDatasets(&context, {}, &response).ok());
  std::vector<std::string> names;
  for (const auto& dataset : response.datasets()) names.push_back(absl::StrCat(dataset.name(), " ", dataset.samples()));
  return names;
}

void AddSynthetic(v1::ServerConfig& config, const std::string& name, uint64_t samples) {
  v1::DatasetConfig& dataset = *config.add_datasets();
  dataset = config.datasets(0);
  dataset.set_name(name);
  dataset.mutable_synthetic()->set_samples(samples);
}

TEST(ReloadTest, NewStreamsReadTheNewDatasetsAndOpenOnesGoOn) {
  const v1::ServerConfig was = SyntheticConfig(1000);
  Cluster cluster(1, was);
  LoaderOptions options = {.servers = cluster.addresses(), .pipeline = v1::Pipeline(), .batch_size = 8};
  const EpochResult whole = RunEpoch(options);
  auto loader = Loader::Create(options);
  ASSERT_TRUE(loader.ok()) << loader.status();
  v1::ServerConfig fresh;
  AddSynthetic(fresh = was, "other", 7);
  fresh.mutable_datasets(0)->set_name("renamed");
  (*fresh.mutable_pipelines())["plain"] = v1::Pipeline();
  const EpochResult running = RunEpoch(**loader, [&](int batches) {
    if (batches == 3) {
      ASSERT_TRUE(cluster.server(0).Replace(was, fresh).ok());
    }
  });
  EXPECT_TRUE(running.status.ok()) << running.status;
  EXPECT_EQ(running.digest, whole.digest);
  EXPECT_THAT(DatasetsOf(cluster.addresses()[0]), ElementsAre("other 7", "renamed 1000"));
  options.dataset = "renamed";
  EXPECT_EQ(RunEpoch(options).digest, whole.digest);
  options.dataset = "synthetic";
  EXPECT_THAT(RunEpoch(options).status.message(), HasSubstr("no dataset 'synthetic' is configured here"));
}

TEST(ReloadTest, WhatIsNotGoodChangesNothing) {
  const v1::ServerConfig was = SyntheticConfig(10);
  Cluster cluster(1, was);
  const auto refused = [&](const v1::ServerConfig& fresh, const std::string& message) {
    EXPECT_THAT(cluster.server(0).Replace(was, fresh).message(), HasSubstr(message));
    EXPECT_THAT(DatasetsOf(cluster.addresses()[0]), ElementsAre("synthetic 10"));
  };
  v1::ServerConfig fresh = was;
  fresh.add_datasets()->mutable_image_folder()->set_path("/nowhere");
  refused(fresh, "/nowhere");
  AddSynthetic(fresh = was, "synthetic", 1);
  refused(fresh, "two are called 'synthetic'");
  AddSynthetic(fresh = was, "new", 1);
  (*fresh.mutable_pipelines())["bad"].add_ops()->mutable_resize()->add_size(-1);
  refused(fresh, "pipelines[bad]");
}

TEST(ReloadTest, NamesTheKeysThatWaitForTheNextStart) {
  v1::ServerConfig was = SyntheticConfig(10), fresh;
  AddSynthetic(fresh = was, "new", 1);
  fresh.mutable_log()->set_level(v1::LOG_LEVEL_DEBUG);
  EXPECT_THAT(KeysForNextStart(was, fresh), IsEmpty());
  fresh.set_workers(7);
  fresh.set_span_cache("1GiB");
  EXPECT_THAT(KeysForNextStart(was, fresh), ElementsAre("workers", "span_cache"));
}

TEST(PulseTest, AServerThatServesHasOne) {
  Cluster cluster(1, SyntheticConfig(10));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(cluster.server(0).Healthy());
}

TEST(PulseTest, AServerThatDoesNotAnswerHasNone) {
  const int silent = socket(AF_INET, SOCK_STREAM, 0);  // Connections wait in its queue for good.
  sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(silent, 16), 0);
  getsockname(silent, reinterpret_cast<sockaddr*>(&address), &size);
  Pulse pulse(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", ntohs(address.sin_port)), grpc::InsecureChannelCredentials()),
      absl::ZeroDuration());
  EXPECT_TRUE(pulse.Feel());
  EXPECT_FALSE(pulse.Feel());
  close(silent);
}

}  // namespace
}  // namespace stoker
