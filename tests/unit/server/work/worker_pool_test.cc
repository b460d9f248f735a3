#include "server/work/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

constexpr uint64_t kBudget = uint64_t{256} << 20;
constexpr uint64_t kSpan = 64;  // samples in most spans

// Time as the pool sees it: only what is read takes any, so that no turn depends on the machine. Thread-safe.
class FakeClock {
 public:
  void Advance(std::chrono::nanoseconds time) { passed_ns_ += time.count(); }
  WorkerPool::Clock clock() {
    return [this] { return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(passed_ns_)); };
  }

 private:
  std::atomic<int64_t> passed_ns_ = 0;
};

// Samples of one byte, whose reading may be held up.
class FakeDataset : public Dataset {
 public:
  uint64_t size() const override { return 1'000'000; }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return 0; }
  std::string description() const override { return "fake"; }
  std::string SampleName(uint64_t id) const override { return "fake/" + std::to_string(id); }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override {
    ++waiting;
    if (gate != nullptr) gate->WaitForNotification();
    if (clock != nullptr) clock->Advance(reading);
    sample.fields.assign(1, {static_cast<uint8_t>(id)});
    ++reads;
    return id == failing ? absl::UnavailableError("EIO") : absl::OkStatus();
  }

  absl::Notification* gate = nullptr;
  mutable std::atomic<int> waiting = 0;  // how many reads have come to the gate
  FakeClock* clock = nullptr;
  std::chrono::nanoseconds reading{320};  // what reading a sample takes by `clock`
  uint64_t failing = ~uint64_t{0};
  mutable std::atomic<int> reads = 0;

 private:
  const SourceSchema schema_ = {{.name = "byte", .dtype = v1::DTYPE_UINT8}};
  const std::string fingerprint_ = std::string(32, 'f');
};

StreamPlan Plan(const Dataset& dataset) {
  v1::Identity identity;
  identity.set_samples(dataset.size());
  v1::Shuffle none;
  none.set_mode(v1::SHUFFLE_MODE_NONE);
  return *StreamPlan::Create("synthetic", *ServerPipeline::Create({}, dataset.schema()), identity, 1, none, false);
}

// Collects what streams are delivered, in order.
class Collector {
 public:
  WorkerPool::Deliver For(int stream) {
    return [this, stream](FinishedSpan span) {
      absl::MutexLock lock(&mutex_);
      order_.push_back(stream);
      spans_.push_back(std::move(span));
    };
  }
  // Waits for `count` spans.
  std::vector<int> Await(size_t count) {
    absl::MutexLock lock(&mutex_);
    auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return order_.size() >= count; };
    mutex_.Await(absl::Condition(&enough));
    return order_;
  }
  std::vector<FinishedSpan>& spans() { return spans_; }
  // Takes the spans off, while others may come.
  std::vector<FinishedSpan> Take() {
    absl::MutexLock lock(&mutex_);
    return std::exchange(spans_, {});
  }

 private:
  absl::Mutex mutex_;
  std::vector<int> order_;
  std::vector<FinishedSpan> spans_;
};

TEST(WorkerPoolTest, MakesWhatIsWantedInOrder) {
  auto dataset = std::make_shared<FakeDataset>();
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget});
  auto stream = *pool.AddStream(dataset, Plan(*dataset), collector.For(1));
  for (uint64_t start : {8, 0, 16}) ASSERT_TRUE(stream->Want({0, start, 4}).ok());
  collector.Await(3);
  EXPECT_EQ(collector.spans()[0].header.start(), 8);
  EXPECT_EQ(collector.spans()[2].header.start(), 16);
  EXPECT_THAT(collector.spans()[0].payload(), testing::ElementsAre(8, 9, 10, 11));
}

TEST(WorkerPoolTest, StreamsTakeTurnsHoweverMuchOneWants) {
  auto dataset = std::make_shared<FakeDataset>();
  absl::Notification gate;
  dataset->gate = &gate;
  FakeClock clock;
  dataset->clock = &clock;
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .clock = clock.clock()});
  auto greedy = *pool.AddStream(dataset, Plan(*dataset), collector.For(1));
  auto modest = *pool.AddStream(dataset, Plan(*dataset), collector.For(2));
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(greedy->Want({0, i % 200 * kSpan, kSpan}).ok());
  for (uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(modest->Want({0, i * kSpan, kSpan}).ok());
  gate.Notify();
  const auto order = collector.Await(1020);
  const size_t last_of_modest = std::find(order.rbegin(), order.rend(), 2).base() - order.begin();
  EXPECT_LT(last_of_modest, 900) << "the modest stream waited for the greedy one";
}

TEST(WorkerPoolTest, RestEarnsNoCredit) {
  auto dataset = std::make_shared<FakeDataset>();
  FakeClock clock;
  dataset->clock = &clock;
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .clock = clock.clock()});
  auto worked = *pool.AddStream(dataset, Plan(*dataset), collector.For(1));
  for (uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(worked->Want({0, i % 200 * kSpan, kSpan}).ok());
  collector.Await(2000);
  // It rests. A stream that is new then must not take all turns until it has worked as long.
  absl::Notification gate;
  dataset->gate = &gate;
  auto fresh = *pool.AddStream(dataset, Plan(*dataset), collector.For(2));
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(fresh->Want({0, i % 200 * kSpan, kSpan}).ok());
  ASSERT_TRUE(worked->Want({0, 0, kSpan}).ok());
  gate.Notify();
  const auto order = collector.Await(3001);
  EXPECT_EQ(order.back(), 2) << "the stream that had worked waited for the new one";
}

// How many of the first `count` spans in `order` are of `stream`.
long Of(int stream, const std::vector<int>& order, size_t count) {
  return std::count(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), stream);
}

TEST(WorkerPoolTest, APartyGetsNoMoreTurnsForMoreStreams) {
  auto dataset = std::make_shared<FakeDataset>();
  absl::Notification gate;
  dataset->gate = &gate;
  FakeClock clock;
  dataset->clock = &clock;
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = uint64_t{1} << 30, .clock = clock.clock()});
  std::vector<std::unique_ptr<WorkerPool::Stream>> many;
  for (int i = 0; i < 4; ++i)
    many.push_back(*pool.AddStream(dataset, Plan(*dataset), collector.For(1), {.party = "many"}));
  auto one = *pool.AddStream(dataset, Plan(*dataset), collector.For(2), {.party = "one"});
  for (uint64_t i = 0; i < 200; ++i) {
    for (auto& stream : many) ASSERT_TRUE(stream->Want({0, i * kSpan, kSpan}).ok());
    ASSERT_TRUE(one->Want({0, i * kSpan, kSpan}).ok());
  }
  gate.Notify();
  EXPECT_NEAR(Of(2, collector.Await(1000), 300), 150, 10);
}

TEST(WorkerPoolTest, APartyGetsItsPercentWhileOthersWantTheWorkersAndAllWhenTheyDoNot) {
  auto dataset = std::make_shared<FakeDataset>();
  absl::Notification gate;
  dataset->gate = &gate;
  FakeClock clock;
  dataset->clock = &clock;
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = uint64_t{1} << 30, .clock = clock.clock()});
  auto bounded = *pool.AddStream(dataset, Plan(*dataset), collector.For(1), {.party = "a", .worker_percent = 10});
  auto other = *pool.AddStream(dataset, Plan(*dataset), collector.For(2), {.party = "b"});
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(bounded->Want({0, i * kSpan, kSpan}).ok());
    ASSERT_TRUE(other->Want({0, i * kSpan, kSpan}).ok());
  }
  gate.Notify();
  EXPECT_NEAR(Of(1, collector.Await(400), 200), 20, 5);
}

TEST(WorkerPoolTest, APartysSpansInFlightAreBoundedTogether) {
  auto dataset = std::make_shared<FakeDataset>();
  Collector collector;
  WorkerPool pool({.workers = 2, .slab_bytes = uint64_t{1} << 30});
  const WorkShare share = {.party = "a", .bytes_in_flight = 3 * 4096};
  auto first = *pool.AddStream(dataset, Plan(*dataset), collector.For(1), share);
  auto second = *pool.AddStream(dataset, Plan(*dataset), collector.For(1), share);
  auto other = *pool.AddStream(dataset, Plan(*dataset), collector.For(2), {.party = "b"});
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(first->Want({0, i * 4096, 4096}).ok());
    ASSERT_TRUE(second->Want({0, i * 4096, 4096}).ok());
  }
  for (uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(other->Want({0, i * 4096, 4096}).ok());
  const auto order = collector.Await(13);  // Nobody has taken one off yet.
  EXPECT_EQ(std::count(order.begin(), order.end(), 1), 3);
  EXPECT_EQ(std::count(order.begin(), order.end(), 2), 10);
  collector.Take().clear();
  EXPECT_EQ(collector.Await(16).size(), 16);
  const auto third = *pool.AddStream(dataset, Plan(*dataset), collector.For(1), {.party = "a"});
  EXPECT_EQ(collector.Await(30).size(), 30) << "the bound that a new stream brought holds for all";
}

TEST(WorkerPoolTest, ASpanAboveTheBoundIsMadeAlone) {
  auto dataset = std::make_shared<FakeDataset>();
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = uint64_t{1} << 30});
  auto stream = *pool.AddStream(dataset, Plan(*dataset), collector.For(1), {.party = "a", .bytes_in_flight = 1});
  ASSERT_TRUE(stream->Want({0, 0, 4096}).ok());
  EXPECT_EQ(collector.Await(1).size(), 1);
}

// Spans of a stream whose storage has just stalled are charged as much again, until it shows that they take less.
TEST(WorkerPoolTest, AStreamThatStalledTakesNoTurnsFromOneThatJoins) {
  auto dataset = std::make_shared<FakeDataset>();
  absl::Notification gate;
  dataset->gate = &gate;
  Collector collector;
  WorkerPool pool({.workers = 4, .slab_bytes = kBudget});
  auto stalled = *pool.AddStream(dataset, Plan(*dataset), collector.For(1));
  auto joins = *pool.AddStream(dataset, Plan(*dataset), collector.For(2));
  for (uint64_t i = 0; i < 3000; ++i) ASSERT_TRUE(stalled->Want({0, i % 200 * 1024, 1024}).ok());
  absl::SleepFor(absl::Seconds(1));  // Thousands of spans take as long.
  gate.Notify();
  collector.Await(8);
  ASSERT_TRUE(joins->Want({0, 0, 1024}).ok());
  const auto before = static_cast<ptrdiff_t>(collector.Await(0).size());
  const auto order = collector.Await(3001);
  EXPECT_LT(std::find(order.begin(), order.end(), 2) - order.begin(), before + 100)
      << "it waited for the one that stalled";
}

TEST(WorkerPoolTest, ASpanThatNobodyWaitsForIsGivenUp) {
  auto dataset = std::make_shared<FakeDataset>();
  absl::Notification gate;
  dataset->gate = &gate;
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget});
  auto gone = *pool.AddStream(dataset, Plan(*dataset), collector.For(1));
  ASSERT_TRUE(gone->Want({0, 0, 4096}).ok());
  auto other = *pool.AddStream(dataset, Plan(*dataset), collector.For(2));
  ASSERT_TRUE(other->Want({0, 0, 1}).ok());
  while (pool.slabs().held_bytes() == 0) std::this_thread::yield();  // Until the first is in hand.
  gone.reset();
  gate.Notify();
  EXPECT_EQ(collector.Await(1)[0], 2);
}

TEST(WorkerPoolTest, ASpanThatTakesTooLongIsGivenUpAndSaysSo) {
  auto dataset = std::make_shared<FakeDataset>();
  FakeClock clock;
  dataset->clock = &clock;
  dataset->reading = std::chrono::seconds(40);
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .clock = clock.clock()});
  auto stream = *pool.AddStream(dataset, Plan(*dataset), collector.For(1));
  ASSERT_TRUE(stream->Want({0, 0, 1}).ok());
  ASSERT_TRUE(stream->Want({0, 0, 4096}).ok());
  collector.Await(2);
  EXPECT_FALSE(collector.spans()[0].header.has_error());
  const v1::Error& error = collector.spans()[1].header.error();
  EXPECT_EQ(error.kind(), v1::ERROR_KIND_MACHINE);
  EXPECT_THAT(error.message(), testing::HasSubstr("(id 2, position 2): making the span took longer than 60 s"));
}

TEST(WorkerPoolTest, IsStuckWhenAllWorkersHang) {
  auto dataset = std::make_shared<FakeDataset>();
  absl::Notification gate;
  dataset->gate = &gate;
  FakeClock clock;
  Collector collector;
  WorkerPool pool({.workers = 2, .slab_bytes = kBudget, .clock = clock.clock()});
  clock.Advance(std::chrono::hours(1));
  EXPECT_FALSE(pool.stuck());
  auto stream = *pool.AddStream(dataset, Plan(*dataset), collector.For(1));
  const auto hang = [&](uint64_t start) {
    ASSERT_TRUE(stream->Want({0, start, 1}).ok());
    while (pool.slabs().held_bytes() != start + 1) std::this_thread::yield();
    while (dataset->waiting != static_cast<int>(start) + 1) std::this_thread::yield();
  };
  hang(0);
  clock.Advance(std::chrono::hours(1));
  EXPECT_FALSE(pool.stuck()) << "one worker is idle";
  hang(1);
  EXPECT_FALSE(pool.stuck()) << "one worker has just begun";
  clock.Advance(std::chrono::seconds(121));
  EXPECT_TRUE(pool.stuck());
  gate.Notify();
  collector.Await(2);
}

// Streams that want nothing have reserved all memory. One that comes later gets theirs, and they get it back.
TEST(WorkerPoolTest, StreamsThatWantNothingLendTheirMemory) {
  auto dataset = std::make_shared<FakeDataset>();
  FakeClock clock;
  Collector collector;
  WorkerPool pool({.workers = 1,
                   .slab_bytes = 4 * SlabPool::kStreamOverheadBytes + (1 << 16),
                   .idle = absl::Seconds(10),
                   .clock = clock.clock()});
  std::vector<std::unique_ptr<WorkerPool::Stream>> idle;
  for (int i = 0; i < 2; ++i) idle.push_back(*pool.AddStream(dataset, Plan(*dataset), collector.For(i)));
  EXPECT_TRUE(absl::IsResourceExhausted(pool.AddStream(dataset, Plan(*dataset), collector.For(2)).status()));
  clock.Advance(std::chrono::seconds(11));
  auto fresh = *pool.AddStream(dataset, Plan(*dataset), collector.For(2));
  ASSERT_TRUE(fresh->Want({0, 0, 4096}).ok());
  collector.Await(1);
  collector.spans().clear();
  clock.Advance(std::chrono::seconds(11));
  for (auto& stream : idle) ASSERT_TRUE(stream->Want({0, 0, 4096}).ok());
  EXPECT_THAT(collector.Await(3), testing::ElementsAre(2, 0, 1));
}

// Images whose reading is held up.
class HeldImages : public FakeDataset {
 public:
  const SourceSchema& schema() const override { return schema_; }
  absl::Status Read(uint64_t, SampleBytes& sample) const override {
    ++waiting;
    gate->WaitForNotification();
    sample.fields.assign(1, std::vector<uint8_t>(8 * 8 * 3));
    return absl::OkStatus();
  }

 private:
  const SourceSchema schema_ = {{.name = "image", .dtype = v1::DTYPE_UINT8, .shape = {8, 8, 3}}};
};

// A plan whose samples cost a second, as far as they are weighed.
StreamPlan CostlyPlan(const Dataset& dataset) {
  v1::Pipeline pipeline;
  v1::Resize& resize = *pipeline.add_ops()->mutable_resize();
  resize.add_size(4096);
  resize.add_size(4096);
  for (int i = 0; i < 30; ++i) pipeline.add_ops()->mutable_random_rotation()->add_degrees(30);
  pipeline.add_ops()->mutable_center_crop()->add_size(4);
  v1::Identity identity;
  identity.set_samples(dataset.size());
  return *StreamPlan::Create("costly", *ServerPipeline::Create(pipeline, dataset.schema()), identity, 1, {}, false);
}

// A stream is charged for its first span before that is done, by what its pipeline is weighed.
TEST(WorkerPoolTest, ACostlyStreamTakesNoSecondWorkerFromOthers) {
  auto cheap = std::make_shared<FakeDataset>();
  auto costly = std::make_shared<HeldImages>();
  absl::Notification cheap_gate, costly_gate;
  cheap->gate = &cheap_gate;
  costly->gate = &costly_gate;
  FakeClock clock;
  cheap->clock = &clock;
  Collector collector;
  WorkerPool pool({.workers = 2, .slab_bytes = 2 * kBudget, .clock = clock.clock()});
  std::atomic<int> most_waiting = 0;
  auto modest = *pool.AddStream(cheap, Plan(*cheap), [&, deliver = collector.For(1)](FinishedSpan span) {
    most_waiting = std::max<int>(most_waiting, costly->waiting);
    deliver(std::move(span));
  });
  auto greedy = *pool.AddStream(costly, CostlyPlan(*costly), collector.For(2));
  for (uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(modest->Want({0, i, 1}).ok());
  while (cheap->waiting != 2) std::this_thread::yield();  // Both workers are at it.
  for (uint64_t i = 0; i < 8; ++i) ASSERT_TRUE(greedy->Want({0, i, 1}).ok());
  cheap_gate.Notify();
  collector.Await(100);  // Would wait for good if the greedy stream had both workers.
  EXPECT_LE(most_waiting, 1);
  greedy.reset();  // Gives up what it wants.
  costly_gate.Notify();
}

TEST(WorkerPoolTest, ACancelledWantIsNotMade) {
  auto dataset = std::make_shared<FakeDataset>();
  absl::Notification gate;
  dataset->gate = &gate;
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget});
  auto stream = *pool.AddStream(dataset, Plan(*dataset), collector.For(1));
  for (uint64_t start : {0, 4, 8}) ASSERT_TRUE(stream->Want({0, start, 4}).ok());
  EXPECT_TRUE(stream->Cancel({0, 8, 4}));
  EXPECT_FALSE(stream->Cancel({0, 8, 4}));
  ASSERT_TRUE(stream->Want({0, 12, 4}).ok());
  gate.Notify();
  collector.Await(3);
  EXPECT_EQ(collector.spans()[2].header.start(), 12);
}

TEST(WorkerPoolTest, AFailedSpanNamesItsSampleAndHoldsNoMemory) {
  auto dataset = std::make_shared<FakeDataset>();
  dataset->failing = 6;
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget});
  auto stream = *pool.AddStream(dataset, Plan(*dataset), collector.For(1));
  ASSERT_TRUE(stream->Want({3, 4, 4}).ok());
  collector.Await(1);
  const v1::Error& error = collector.spans()[0].header.error();
  EXPECT_EQ(error.kind(), v1::ERROR_KIND_MACHINE);
  EXPECT_EQ(error.sample_id(), 6);
  EXPECT_EQ(error.sample_name(), "fake/6");
  EXPECT_THAT(error.message(), testing::HasSubstr("sample 'fake/6' (id 6, position 6): EIO"));
  EXPECT_TRUE(collector.spans()[0].payload().empty());
}

TEST(WorkerPoolTest, AStreamThatTakesNothingOffLeavesOthersTheirTurn) {
  auto dataset = std::make_shared<FakeDataset>();
  Collector stalled, other;
  WorkerPool pool({.workers = 2, .slab_bytes = 4 * SlabPool::kStreamOverheadBytes + (1 << 16)});
  auto holds = *pool.AddStream(dataset, Plan(*dataset), stalled.For(1));
  for (uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(holds->Want({0, i * 4096, 4096}).ok());
  auto reads = *pool.AddStream(dataset, Plan(*dataset), [&, deliver = other.For(2)](FinishedSpan span) {
    span.slab = {};
    deliver(std::move(span));
  });
  for (uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(reads->Want({0, i * 4096, 4096}).ok());
  other.Await(100);
}

TEST(WorkerPoolTest, WhatIsWantedAnewIsMadeThoughItIsKept) {
  auto dataset = std::make_shared<FakeDataset>();
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .cache_bytes = 1 << 20});
  auto stream = *pool.AddStream(dataset, Plan(*dataset), collector.For(1));
  for (const bool anew : {false, true, false}) ASSERT_TRUE(stream->Want({0, 0, 4}, anew).ok());
  collector.Await(3);
  EXPECT_EQ(dataset->reads, 8) << "one of three spans came from the cache";
  EXPECT_FALSE(collector.spans()[1].header.cached());
  EXPECT_THAT(collector.spans()[1].payload(), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(collector.spans()[2].header.cached());
}

TEST(WorkerPoolTest, WhatIsWantedAnewIsNotKept) {
  auto dataset = std::make_shared<FakeDataset>();
  Collector collector;
  WorkerPool pool({.workers = 1, .slab_bytes = kBudget, .cache_bytes = 1 << 20});
  auto stream = *pool.AddStream(dataset, Plan(*dataset), collector.For(1));
  for (const bool anew : {true, false}) ASSERT_TRUE(stream->Want({0, 0, 4}, anew).ok());
  collector.Await(2);
  EXPECT_FALSE(collector.spans()[1].header.cached()) << "who asks anew must not fill the cache for others";
}

TEST(WorkerPoolTest, EndsWithWantsOutstanding) {
  auto dataset = std::make_shared<FakeDataset>();
  Collector collector;
  auto pool = std::make_unique<WorkerPool>(WorkerPool::Options{.workers = 2, .slab_bytes = kBudget});
  auto stream = *pool->AddStream(dataset, Plan(*dataset), collector.For(1));
  for (uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(stream->Want({0, i * 64, 64}).ok());
  stream.reset();
  pool.reset();
}

}  // namespace
}  // namespace stoker
