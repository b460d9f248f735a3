// A configuration that is read again while the server serves.

#include "server/main/reload.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
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

// Opens a stream of a dataset that is not there.
grpc::Status OpenMissing(v1::DataService::Stub& stub) {
  grpc::ClientContext context;
  const auto stream = stub.Stream(&context);
  v1::StreamRequest request;
  request.mutable_open()->set_dataset("missing");
  stream->Write(request);
  v1::StreamResponse response;
  EXPECT_FALSE(stream->Read(&response));
  return stream->Finish();
}

// ThreadSanitizer sees here that rights, quotas, parties and the audit log are used while they are replaced.
TEST(ReloadTest, StreamsComeAndGoWhileItIsReadAgainAndAgain) {
  const v1::ServerConfig was = SyntheticConfig(100);
  v1::ServerConfig other;
  AddSynthetic(other = was, "other", 7);
  v1::Quota& quota = (*other.mutable_access()->mutable_quotas())["*"];
  quota.set_bytes_in_flight("1MiB");
  quota.set_worker_percent(50);
  Cluster cluster(1, was);
  const LoaderOptions options = {
      .servers = cluster.addresses(), .dataset = "synthetic", .pipeline = v1::Pipeline(), .batch_size = 8};
  const std::string digest = RunEpoch(options).digest;
  std::atomic<int> reads = 0;
  std::atomic<bool> done = false;
  Reloader reloader(&cluster.server(0), was, [&] { return ++reads % 2 == 0 ? was : other; });
  const std::vector<std::function<void()>> uses = {
      [&] {
        const EpochResult epoch = RunEpoch(options);
        EXPECT_TRUE(epoch.status.ok()) << epoch.status;
        EXPECT_EQ(epoch.digest, digest);
      },
      [&] {
        const auto stub =
            v1::DataService::NewStub(grpc::CreateChannel(cluster.addresses()[0], grpc::InsecureChannelCredentials()));
        EXPECT_EQ(OpenMissing(*stub).error_code(), grpc::StatusCode::NOT_FOUND);
      },
      [&] {
        EXPECT_THAT(DatasetsOf(cluster.addresses()[0]), testing::Contains("synthetic 100"));
        cluster.server(0).Healthy();
        cluster.server(0).service_log().TakeRecent();
      }};
  std::vector<std::thread> users;
  std::vector<std::atomic<int>> used(uses.size());
  for (size_t i = 0; i < uses.size(); ++i)
    users.emplace_back([&, i] {
      for (; !done; ++used[i]) uses[i]();
    });
  const auto used_more = [&](int times) {
    return std::all_of(used.begin(), used.end(), [&](const auto& count) { return count >= times; });
  };
  for (int i = 1; i <= 10; ++i) {
    reloader.Reload();
    while (reloader.busy() || !used_more(i)) absl::SleepFor(absl::Milliseconds(1));
  }
  done = true;
  for (std::thread& user : users) user.join();
  EXPECT_EQ(reads, 10);
  EXPECT_THAT(DatasetsOf(cluster.addresses()[0]), ElementsAre("synthetic 100"));
}

TEST(ReloadTest, NamesTheKeysThatWaitForTheNextStart) {
  v1::ServerConfig was = SyntheticConfig(10), fresh;
  AddSynthetic(fresh = was, "new", 1);
  fresh.mutable_log()->set_level(v1::LOG_LEVEL_DEBUG);
  EXPECT_THAT(KeysForNextStart(was, fresh), IsEmpty());
  fresh.set_workers(7);
  fresh.set_span_cache("1GiB");
  fresh.mutable_log()->set_format(v1::LOG_FORMAT_JSON);
  EXPECT_THAT(KeysForNextStart(was, fresh), ElementsAre("log.format", "workers", "span_cache"));
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
