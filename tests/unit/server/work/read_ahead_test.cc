// Spans of samples on slow storage: the workers never wait for it.

#include <map>
#include <string>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/mixed/mixed_dataset.h"
#include "server/work/worker_pool.h"
#include "tests/support/held_store.h"

namespace stoker {
namespace {

constexpr uint64_t kBudget = uint64_t{256} << 20, kAhead = uint64_t{64} << 20;
constexpr uint64_t kSample = 1000, kGap = 1 << 20;  // too far apart to be read together

StreamPlan Plan(const Dataset& dataset, v1::BadSamples policy = v1::BAD_SAMPLES_UNSPECIFIED) {
  v1::Identity identity;
  identity.set_samples(dataset.size());
  v1::Shuffle none;
  none.set_mode(v1::SHUFFLE_MODE_NONE);
  v1::Pipeline pipeline;
  pipeline.set_bad_samples(policy);
  return *StreamPlan::Create("held", *ServerPipeline::Create(pipeline, dataset.schema()), identity, 1, none, false);
}

// Collects spans.
class Collector {
 public:
  WorkerPool::Deliver deliver() {
    return [this](FinishedSpan span) {
      absl::MutexLock lock(&mutex_);
      spans_.push_back(std::move(span));
    };
  }
  // Waits for `count` spans and returns where they start.
  std::vector<uint64_t> Await(size_t count) {
    absl::MutexLock lock(&mutex_);
    auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return spans_.size() >= count; };
    mutex_.Await(absl::Condition(&enough));
    std::vector<uint64_t> starts;
    for (const FinishedSpan& span : spans_) starts.push_back(span.header.start());
    return starts;
  }
  const FinishedSpan& span(size_t i) {
    absl::MutexLock lock(&mutex_);
    return spans_[i];
  }

 private:
  absl::Mutex mutex_;
  std::vector<FinishedSpan> spans_;
};

class WorkerPoolReadsAheadTest : public testing::Test {
 protected:
  WorkerPoolReadsAheadTest() {
    dataset_->on_read_now = [this] { read_by_worker_ = true; };
  }
  std::unique_ptr<WorkerPool::Stream> AddStream(WorkerPool& pool, Collector& collector) {
    return *pool.AddStream(dataset_, Plan(*dataset_), collector.deliver());
  }
  HeldStore& store() { return dataset_->store(); }

  std::shared_ptr<HeldDataset> dataset_ = std::make_shared<HeldDataset>(1000, kSample, kGap);
  std::atomic<bool> read_by_worker_ = false;
};

TEST_F(WorkerPoolReadsAheadTest, OneWorkerHasAllWantsReadAtOnce) {
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .ahead_bytes = kAhead});
  const auto stream = AddStream(pool, collector);
  for (uint64_t start = 0; start < 40; start += 4) ASSERT_TRUE(stream->Want({0, start, 4}).ok());
  store().AwaitReads(40);  // Nothing has been answered: one worker that waited would have asked for one.
  EXPECT_EQ(store().held(), 40);
  store().Open();
  collector.Await(10);
  for (size_t i = 0; i < 10; ++i) {
    const FinishedSpan& span = collector.span(i);
    for (uint64_t j = 0; j < 4; ++j)
      EXPECT_EQ(span.payload()[j], HeldDataset::FieldOf(*dataset_, span.header.start() + j));
  }
  EXPECT_FALSE(read_by_worker_);
}

TEST_F(WorkerPoolReadsAheadTest, WorkersPassOverWhatIsNotThere) {
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .ahead_bytes = kAhead});
  const auto stream = AddStream(pool, collector);
  for (uint64_t start : {0, 1, 2}) ASSERT_TRUE(stream->Want({0, start, 1}).ok());
  store().AwaitReads(3);
  store().EndLast();
  EXPECT_THAT(collector.Await(1), testing::ElementsAre(2)) << "the only worker waits for the first want's bytes";
  store().EndLast();
  EXPECT_THAT(collector.Await(2), testing::ElementsAre(2, 1));
  store().EndFirst();
  EXPECT_THAT(collector.Await(3), testing::ElementsAre(2, 1, 0));
}

TEST_F(WorkerPoolReadsAheadTest, OfAMixThePartsOnSlowStoragesAreReadAhead) {
  const auto first = std::make_shared<HeldDataset>(10, kSample, kGap);
  const auto local = std::make_shared<HeldDataset>(10, kSample, kGap);
  local->is_stored = false;
  const auto last = std::make_shared<HeldDataset>(10, 2 * kSample, kGap);
  last->on_read_now = first->on_read_now = [this] { read_by_worker_ = true; };
  v1::Mix config;
  for (const char* name : {"first", "local", "last"}) config.add_parts()->set_dataset(name);
  const std::map<std::string, std::shared_ptr<const Dataset>> parts = {
      {"first", first}, {"local", local}, {"last", last}};
  std::shared_ptr<const Dataset> mix =
      *MixedDataset::Create(config, [&](const std::string& name) { return parts.at(name); });
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .ahead_bytes = kAhead});
  const auto stream = *pool.AddStream(mix, Plan(*mix), collector.deliver());
  ASSERT_TRUE(stream->Want({0, 0, 30}).ok());
  first->store().AwaitReads(10);
  last->store().AwaitReads(10);
  first->store().Open();
  last->store().Open();
  collector.Await(1);
  const FinishedSpan& span = collector.span(0);
  for (uint64_t id = 0; id < 30; ++id)
    EXPECT_EQ(span.payload()[id], HeldDataset::FieldOf(id < 20 ? *first : *last, id % 10)) << id;
  EXPECT_EQ(local->read_now, 10);
  EXPECT_EQ(local->store().reads(), 0);
  EXPECT_FALSE(read_by_worker_);
}

TEST_F(WorkerPoolReadsAheadTest, ALocalStreamGoesOnBesideASlowOne) {
  Collector collector, of_local;
  auto local = std::make_shared<HeldDataset>(1000, kSample, kGap);
  local->is_stored = false;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .ahead_bytes = kAhead});
  const auto slow = AddStream(pool, collector);
  const auto fast = *pool.AddStream(local, Plan(*local), of_local.deliver());
  EXPECT_EQ(fast->window(), 0);
  EXPECT_GT(slow->window(), 1);
  ASSERT_TRUE(slow->Want({0, 0, 1}).ok());
  store().AwaitReads(1);
  for (uint64_t start = 0; start < 10; ++start) ASSERT_TRUE(fast->Want({0, start, 1}).ok());
  of_local.Await(10);
  EXPECT_EQ(local->read_now, 10);
  EXPECT_EQ(local->store().reads(), 0);
  EXPECT_EQ(of_local.span(0).header.times().fetch(), 0);
  store().Open();
  collector.Await(1);
}

TEST_F(WorkerPoolReadsAheadTest, TheWaitForBytesIsToldApart) {
  std::atomic<int64_t> now_ns = 1;
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .ahead_bytes = kAhead, .clock = [&] {
                     return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(now_ns));
                   }});
  const auto stream = AddStream(pool, collector);
  ASSERT_TRUE(stream->Want({0, 0, 1}).ok());
  store().AwaitReads(1);
  now_ns += 30'000'000;
  store().EndFirst();
  collector.Await(1);
  EXPECT_EQ(collector.span(0).header.times().fetch(), 30'000'000);
  EXPECT_EQ(collector.span(0).header.times().wait(), 0);
}

TEST_F(WorkerPoolReadsAheadTest, AReadErrorIsTheSpansFailure) {
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .ahead_bytes = kAhead});
  const auto stream = AddStream(pool, collector);
  ASSERT_TRUE(stream->Want({0, 7, 1}).ok());
  store().AwaitReads(1);
  store().EndFirst(absl::UnavailableError("reset by peer"));
  collector.Await(1);
  const v1::Error& error = collector.span(0).header.error();
  EXPECT_EQ(error.kind(), v1::ERROR_KIND_MACHINE);
  EXPECT_THAT(error.message(), testing::HasSubstr("sample 7: reset by peer"));
}

TEST_F(WorkerPoolReadsAheadTest, ASubstituteIsReadAtOnce) {
  dataset_->bad = 4;
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .ahead_bytes = kAhead});
  const auto stream = *pool.AddStream(dataset_, Plan(*dataset_, v1::BAD_SAMPLES_SUBSTITUTE), collector.deliver());
  ASSERT_TRUE(stream->Want({0, 0, 5}).ok());  // What follows the bad sample is of the next span.
  store().AwaitReads(5);
  store().Open();
  collector.Await(1);
  const v1::SpanHeader& header = collector.span(0).header;
  EXPECT_FALSE(header.has_error()) << header.error().message();
  EXPECT_THAT(header.sample_ids(), testing::ElementsAre(0, 1, 2, 3, 5));
  EXPECT_EQ(dataset_->read_now, 1);
}

TEST_F(WorkerPoolReadsAheadTest, CancelledWantsGiveTheirBytesBack) {
  Collector collector;
  // Half of it is for one stream: two spans of four samples.
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .ahead_bytes = 16 * kSample});
  const auto stream = AddStream(pool, collector);
  for (uint64_t start = 0; start < 16; start += 4) ASSERT_TRUE(stream->Want({0, start, 4}).ok());
  store().AwaitReads(8);
  EXPECT_TRUE(stream->Cancel({0, 0, 4}));
  EXPECT_TRUE(stream->Cancel({0, 4, 4}));
  for (int i = 0; i < 8; ++i) store().EndFirst();
  store().AwaitReads(16);
  EXPECT_LE(pool.ahead().held_bytes(), 16 * kSample);
  store().Open();
  EXPECT_THAT(collector.Await(2), testing::UnorderedElementsAre(8, 12));
}

TEST_F(WorkerPoolReadsAheadTest, AStreamThatEndsGivesItsBytesBack) {
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .ahead_bytes = 16 * kSample});
  auto abandoned = AddStream(pool, collector);
  for (uint64_t start = 0; start < 400; start += 4) ASSERT_TRUE(abandoned->Want({0, start, 4}).ok());
  store().AwaitReads(8);
  abandoned = nullptr;
  store().Open();
  Collector others;
  const auto stream = AddStream(pool, others);
  for (uint64_t start = 0; start < 40; start += 4) ASSERT_TRUE(stream->Want({0, start, 4}).ok());
  others.Await(10);
  EXPECT_LE(store().reads(), 8 + 40);
}

TEST_F(WorkerPoolReadsAheadTest, SpansAboveTheBudgetAreMadeAllTheSame) {
  store().Open();
  Collector collector;
  WorkerPool pool({.workers = 2, .slab_bytes = kBudget, .ahead_bytes = 2 * kSample});
  const auto stream = AddStream(pool, collector);
  for (uint64_t start = 0; start < 64; start += 16) ASSERT_TRUE(stream->Want({0, start, 16}).ok());
  collector.Await(4);
  for (size_t i = 0; i < 4; ++i) EXPECT_FALSE(collector.span(i).header.has_error());
}

TEST_F(WorkerPoolReadsAheadTest, AKeptSpanIsNotReadAgain) {
  store().Open();
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .ahead_bytes = kAhead, .cache_bytes = kBudget});
  const auto stream = AddStream(pool, collector);
  ASSERT_TRUE(stream->Want({0, 0, 4}).ok());
  collector.Await(1);
  const size_t reads = store().reads();
  ASSERT_TRUE(stream->Want({0, 0, 4}).ok());
  collector.Await(2);
  EXPECT_EQ(store().reads(), reads);
  EXPECT_TRUE(collector.span(1).header.cached());
}

TEST_F(WorkerPoolReadsAheadTest, WithoutABudgetWorkersReadAsEver) {
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget});
  const auto stream = AddStream(pool, collector);
  ASSERT_TRUE(stream->Want({0, 0, 4}).ok());
  collector.Await(1);
  EXPECT_EQ(dataset_->read_now, 4);
}

}  // namespace
}  // namespace stoker
