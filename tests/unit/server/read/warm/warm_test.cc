#include "server/read/warm/warm.h"

#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/held_store.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

constexpr uint64_t kSamples = 3000, kSample = 2000;

class WarmTest : public testing::Test {
 protected:
  WarmTest() { dataset_->store().Open(); }

  // Warms with a disk of so many bytes.
  WarmReport Warm(const std::map<std::string, std::shared_ptr<const Dataset>>& datasets, uint64_t size_bytes) {
    RawCache::Options cache{.waits = true, .kind = Admission::Kind::kFilling};
    cache.disk = {.path = folder_.path(), .size_bytes = size_bytes, .most_records = 1 << 20};
    options_.cache = nullptr;  // It has the folder.
    options_.cache = std::make_shared<RawCache>(cache);
    return stoker::Warm(datasets, options_);
  }
  WarmReport Warm(uint64_t size_bytes = 64 << 20) { return Warm({{"held", dataset_}}, size_bytes); }

  uint64_t BytesRead() const {
    const std::vector<uint64_t> sizes = dataset_->store().sizes();
    return std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
  }

  TemporaryFolder folder_;
  WarmOptions options_;
  const std::shared_ptr<HeldDataset> dataset_ = std::make_shared<HeldDataset>(kSamples, kSample, 0);
};

TEST_F(WarmTest, ReadsAllOnceAndNeighboursTogether) {
  const WarmReport first = Warm();
  EXPECT_EQ(first.progress.all.samples, kSamples);
  EXPECT_EQ(first.progress.all.bytes, kSamples * kSample);
  EXPECT_EQ(first.progress.before.samples, 0);
  EXPECT_EQ(first.kept.samples, kSamples);
  EXPECT_EQ(BytesRead(), kSamples * kSample);
  EXPECT_LT(dataset_->store().reads(), 20);
  const WarmReport second = Warm();
  EXPECT_EQ(second.progress.before.samples, kSamples);
  EXPECT_EQ(second.progress.read.samples, 0);
  EXPECT_EQ(second.kept.bytes, kSamples * kSample);
  EXPECT_EQ(BytesRead(), kSamples * kSample);
}

TEST_F(WarmTest, GoesOnWhereItWasStopped) {
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  options_.progress = [&](const WarmProgress& progress) { stop = progress.read.samples >= 500; };
  const WarmReport stopped = Warm();
  EXPECT_TRUE(stopped.stopped);
  EXPECT_GE(stopped.kept.samples, 500);
  EXPECT_LT(stopped.kept.samples, kSamples);
  stop = false;
  options_.progress = [](const WarmProgress&) {};
  const WarmReport rest = Warm();
  EXPECT_FALSE(rest.stopped);
  EXPECT_EQ(rest.progress.before.samples, stopped.kept.samples);
  EXPECT_EQ(rest.progress.read.samples, kSamples - stopped.kept.samples);
  EXPECT_EQ(rest.kept.samples, kSamples);
}

TEST_F(WarmTest, FillsWhatFitsAndSaysSo) {
  const WarmReport report = Warm(3 << 20);
  EXPECT_TRUE(report.is_full);
  EXPECT_GT(report.kept.samples, 1000);
  EXPECT_LT(report.kept.samples, kSamples);
  EXPECT_GE(options_.cache->stats().disk.bytes, report.kept.bytes);
  EXPECT_LE(options_.cache->stats().disk.bytes, 3 << 20);
  const WarmReport again = Warm(3 << 20);
  EXPECT_EQ(again.kept.samples, report.kept.samples) << "what is there is not replaced";
}

TEST_F(WarmTest, WhatOtherDatasetsLeftMakesRoom) {
  const auto other = std::make_shared<HeldDataset>(kSamples, kSample - 1, 0);
  other->store().Open();
  EXPECT_EQ(Warm({{"other", other}}, 8 << 20).kept.samples, kSamples);
  const WarmReport report = Warm(8 << 20);
  EXPECT_FALSE(report.is_full);
  EXPECT_EQ(report.kept.samples, kSamples);
}

TEST_F(WarmTest, SamplesThatDoNotParseAreNamedAndNotKept) {
  dataset_->bad = 17;
  const WarmReport report = Warm();
  EXPECT_EQ(report.failed, 1);
  EXPECT_THAT(report.problems, testing::ElementsAre("sample 17 does not parse"));
  EXPECT_EQ(report.kept.samples, kSamples - 1);
}

TEST_F(WarmTest, LocalDatasetsAreLeftAlone) {
  dataset_->is_stored = false;
  const WarmReport report = Warm();
  EXPECT_EQ(report.progress.all.samples, 0);
  EXPECT_EQ(dataset_->store().reads(), 0);
}

}  // namespace
}  // namespace stoker
