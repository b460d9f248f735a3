// Connections that break, crawl, garble and fall silent: nothing of it reaches a job.

#include <numeric>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"
#include "tests/support/tcp_proxy.h"

namespace stoker {
namespace {

constexpr uint64_t kProxied = 800;
constexpr int kBatch = 16;

LoaderOptions ProxiedJob(std::vector<std::string> servers) {
  LoaderOptions options;
  options.servers = std::move(servers);
  options.pipeline = v1::Pipeline();
  options.batch_size = kBatch;
  options.prefetch = 2;  // Little is here already when a fault begins.
  options.span_samples = 2;
  options.last_batch = LastBatch::kPartial;
  options.span_deadline = absl::Milliseconds(100);
  return options;
}

// One server behind a proxy: the epoch goes on through that or not at all.
class ProxyTest : public testing::Test {
 protected:
  ProxyTest() : cluster_(1, SyntheticConfig(kProxied)), proxy_(cluster_.addresses()[0]) {
    auto loader = Loader::Create(ProxiedJob({proxy_.address()}));
    EXPECT_TRUE(loader.ok()) << loader.status();
    if (loader.ok()) loader_ = *std::move(loader);
  }

  void ExpectTheSameEpoch(const std::function<void(int)>& before_batch) {
    const EpochResult expected = RunEpoch(ProxiedJob(cluster_.addresses())), epoch = RunEpoch(*loader_, before_batch);
    ASSERT_TRUE(expected.status.ok()) << expected.status;
    ASSERT_TRUE(epoch.status.ok()) << epoch.status;
    EXPECT_EQ(epoch.digest, expected.digest);
    std::vector<uint64_t> each_once(kProxied);
    std::iota(each_once.begin(), each_once.end(), 0);
    EXPECT_EQ(epoch.positions, each_once);
  }

  // Cuts one way after five batches, until a span is asked for again.
  void ExpectTheSameEpochThough(const TcpProxy::Faults& partition) {
    std::jthread healer;
    ExpectTheSameEpoch([&](int done) {
      if (done != 5) return;
      proxy_.Set(partition);
      healer = std::jthread([this, retried = loader_->stats().retried_spans](const std::stop_token& stop) {
        while (loader_->stats().retried_spans == retried && !stop.stop_requested())
          absl::SleepFor(absl::Milliseconds(1));
        proxy_.Heal();
      });
    });
  }

  Cluster cluster_;
  TcpProxy proxy_;
  std::unique_ptr<Loader> loader_;
};

TEST_F(ProxyTest, ConnectionsThatAreResetAreMadeAgain) {
  ExpectTheSameEpoch([this](int done) {
    if (done % 10 == 5) proxy_.Reset();
  });
  EXPECT_GT(proxy_.counts().connections, kProxied / kBatch / 10);
}

TEST_F(ProxyTest, PiecesThatAreDelayedCome) {
  proxy_.Set({.delay = absl::Milliseconds(5)});
  ExpectTheSameEpoch([](int) {});
}

TEST_F(ProxyTest, BytesThatAreChangedAreNotTaken) {
  // A frame whose length was changed swallows the answers after it, until the connection is given up.
  proxy_.Set({.corrupt = 1e-4});
  while (proxy_.counts().corrupted == 0 && !HasFailure()) {
    loader_->SetEpoch(0);
    ExpectTheSameEpoch([](int) {});
  }
}

TEST_F(ProxyTest, AConnectionThatFallsSilentIsMadeAnew) {
  ExpectTheSameEpoch([this](int done) {
    if (done == 5) proxy_.Forsake();
  });
}

TEST_F(ProxyTest, AJobHasAsManyConnectionsAsItAsksFor) {
  const uint64_t before = proxy_.counts().connections;
  LoaderOptions job = ProxiedJob({proxy_.address()});
  job.connections = 3;
  job.span_deadline = absl::Minutes(2);  // A connection that is silent for a while is not made anew.
  const EpochResult epoch = RunEpoch(job);
  EXPECT_TRUE(epoch.status.ok()) << epoch.status;
  EXPECT_EQ(proxy_.counts().connections - before, 3u);
}

TEST_F(ProxyTest, RequestsThatAreHeldBackAreMadeAgain) { ExpectTheSameEpochThough({.hold_requests = true}); }
TEST_F(ProxyTest, AnswersThatAreHeldBackCountOnceThoughTheyCome) { ExpectTheSameEpochThough({.hold_answers = true}); }

}  // namespace
}  // namespace stoker
