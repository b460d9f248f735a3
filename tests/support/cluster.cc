#include "tests/support/cluster.h"

#include <utility>

#include "absl/time/clock.h"
#include "client/loader/epoch_digest.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

std::unique_ptr<Server> StartServer(v1::ServerConfig config, const std::string& address) {
  config.set_listen(address);
  auto server = Server::Start(config);
  EXPECT_TRUE(server.ok()) << server.status();
  return server.ok() ? *std::move(server) : nullptr;
}

}  // namespace

Cluster::Cluster(int servers, const v1::ServerConfig& config)
    : Cluster(std::vector<v1::ServerConfig>(servers, config)) {}

Cluster::Cluster(std::vector<v1::ServerConfig> configs) : configs_(std::move(configs)) {
  for (const v1::ServerConfig& config : configs_) {
    servers_.push_back(StartServer(config, "127.0.0.1:0"));
    addresses_.push_back(servers_.back()->address());
  }
}

void Cluster::Restart(int index) {
  // A connection of another test, or of a client that tried to connect here, may have the port for a moment.
  v1::ServerConfig config = configs_[index];
  config.set_listen(addresses_[index]);
  auto server = Server::Start(config);
  for (int tries = 0; absl::IsUnavailable(server.status()) && tries < 600; ++tries) {
    absl::SleepFor(absl::Milliseconds(100));
    server = Server::Start(config);
  }
  ASSERT_TRUE(server.ok()) << server.status();
  servers_[index] = *std::move(server);
}

v1::ServerConfig SyntheticConfig(uint64_t samples) {
  v1::ServerConfig config;
  config.set_workers(2);
  config.set_max_pixels(1 << 20);
  config.set_memory_limit("1GiB");
  auto& dataset = *config.add_datasets();
  dataset.set_name("synthetic");
  dataset.mutable_synthetic()->set_samples(samples);
  auto& image = *dataset.mutable_synthetic()->add_fields();
  image.set_name("image");
  image.set_dtype(v1::DTYPE_UINT8);
  for (int extent : {16, 12, 3}) image.add_shape(extent);
  auto& number = *dataset.mutable_synthetic()->add_fields();
  number.set_name("number");
  number.set_dtype(v1::DTYPE_INT32);
  return config;
}

EpochResult RunEpoch(Loader& loader, const std::function<void(int)>& before_batch) {
  EpochResult result;
  EpochDigest digest;
  bool whole = true;
  for (int done = 0;; ++done) {
    before_batch(done);
    auto batch = loader.Next();
    if (!batch.ok()) {
      result.status = batch.status();
      break;
    }
    if (!batch->has_value()) break;
    const Batch& b = **batch;
    result.sample_ids.insert(result.sample_ids.end(), b.sample_ids().begin(), b.sample_ids().begin() + b.real());
    result.positions.insert(result.positions.end(), b.positions().begin(), b.positions().begin() + b.real());
    whole = whole && digest.Add(b).ok();
  }
  if (whole && result.status.ok()) result.digest = digest.Hex();
  return result;
}

EpochResult RunEpoch(const LoaderOptions& options) {
  auto loader = Loader::Create(options);
  if (!loader.ok()) return {.status = loader.status()};
  return RunEpoch(**loader);
}

}  // namespace stoker
