#include "server/read/ahead/read_ahead.h"

#include <fstream>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/held_store.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

constexpr uint64_t kKiB = 1024, kSample = 100 * kKiB, kGap = 100 * kKiB;  // too far apart to be read together

// Counts groups that become ready.
class ReadyCount {
 public:
  std::function<void()> OnReady() {
    return [this] {
      absl::MutexLock lock(&mutex_);
      ++count_;
    };
  }
  void Await(int count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return count_ >= count; };
    mutex_.Await(absl::Condition(&enough));
  }

 private:
  absl::Mutex mutex_;
  int count_ = 0;
};

ReadAhead::Reader::Ids Ids(std::vector<uint64_t> ids) {
  return [ids = std::move(ids)] { return ids; };
}

std::optional<absl::Status> Read(const ReadAhead::Group& group, uint64_t id, uint8_t& field) {
  SampleBytes sample;
  auto status = group.Read(id, sample);
  if (status.has_value() && status->ok()) field = sample.fields[0][0];
  return status;
}

// Flips a byte of the first sample that the cache in `folder` keeps on the disk.
void Damage(const TemporaryFolder& folder) {
  std::fstream file(folder.path("stoker-raw-cache/00000001.segment"), std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(16 + 64 + 10);
  const int byte = file.get();
  file.seekp(16 + 64 + 10);
  file.put(static_cast<char>(byte ^ 1));
  ASSERT_TRUE(file.good());
}

class ReadAheadTest : public testing::Test {
 protected:
  std::shared_ptr<HeldDataset> dataset_ = std::make_shared<HeldDataset>(1000, kSample, kGap);
  std::shared_ptr<const StoredSamples> stored_{dataset_, dataset_.get()};
  ReadyCount ready_;
};

TEST_F(ReadAheadTest, AGroupIsReadyOnceAllItsReadsHaveEnded) {
  ReadAhead ahead({.budget_bytes = 64 << 20, .on_ready = ready_.OnReady()});
  const auto reader = ahead.OpenReader();
  const auto group = reader->Add(stored_, Ids({5, 3, 9}));
  dataset_->store().AwaitReads(3);
  EXPECT_EQ(ahead.held_bytes(), 3 * kSample);
  dataset_->store().EndFirst();
  dataset_->store().EndLast();
  EXPECT_FALSE(group->ready());
  dataset_->store().EndFirst();
  EXPECT_TRUE(group->ready());
  for (const uint64_t id : {3, 5, 9}) {
    uint8_t field = 0;
    ASSERT_TRUE(Read(*group, id, field).has_value()) << id;
    EXPECT_EQ(field, HeldDataset::FieldOf(*dataset_, id));
  }
  uint8_t field = 0;
  EXPECT_FALSE(Read(*group, 4, field).has_value()) << "it was not read ahead";
  EXPECT_GT(ahead.usual_latency(absl::ZeroDuration()), absl::ZeroDuration());
}

TEST_F(ReadAheadTest, ErrorsAreThoseOfTheSample) {
  ReadAhead ahead({.budget_bytes = 64 << 20});
  const auto reader = ahead.OpenReader();
  const auto group = reader->Add(stored_, Ids({5, 3}));
  dataset_->store().AwaitReads(2);
  dataset_->store().EndFirst(absl::NotFoundError("gone"));
  dataset_->store().EndFirst();
  uint8_t field = 0;
  EXPECT_EQ(Read(*group, 5, field), absl::UnavailableError("sample 5: gone"));
  EXPECT_EQ(Read(*group, 3, field), absl::OkStatus());
}

TEST_F(ReadAheadTest, NeighboursThatFailedTogetherAreToBeReadOneByOne) {
  auto close = std::make_shared<HeldDataset>(1000, kSample, 0);
  ReadAhead ahead({.budget_bytes = 64 << 20});
  const auto reader = ahead.OpenReader();
  const auto group = reader->Add({close, close.get()}, Ids({5, 6}));
  close->store().AwaitReads(1);
  EXPECT_THAT(close->store().sizes(), testing::ElementsAre(2 * kSample));
  close->store().EndFirst(absl::UnavailableError("reset"));
  ASSERT_TRUE(group->ready());
  uint8_t field = 0;
  EXPECT_FALSE(Read(*group, 5, field).has_value());
  EXPECT_FALSE(Read(*group, 6, field).has_value());
}

TEST_F(ReadAheadTest, GroupsWaitForTheBudgetInTheOrderOfNeed) {
  // A reader may take half of this beyond its next group: two groups of four samples.
  ReadAhead ahead({.budget_bytes = 16 * kSample});
  const auto reader = ahead.OpenReader();
  std::vector<std::shared_ptr<ReadAhead::Group>> groups;
  for (uint64_t i = 0; i < 4; ++i)
    groups.push_back(reader->Add(stored_, Ids({4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3})));
  dataset_->store().AwaitReads(8);
  for (int i = 0; i < 8; ++i) dataset_->store().EndFirst();
  EXPECT_TRUE(groups[0]->ready() && groups[1]->ready());
  EXPECT_EQ(dataset_->store().reads(), 8);
  EXPECT_EQ(ahead.held_bytes(), 8 * kSample);
  groups[0] = nullptr;  // It was used.
  dataset_->store().AwaitReads(12);
  EXPECT_EQ(ahead.held_bytes(), 8 * kSample);
  dataset_->store().Open();
}

TEST_F(ReadAheadTest, WhoTakesMuchLeavesRoomForOthers) {
  ReadAhead ahead({.budget_bytes = 16 * kSample});
  const auto greedy = ahead.OpenReader(), modest = ahead.OpenReader();
  std::vector<std::shared_ptr<ReadAhead::Group>> groups;
  for (uint64_t i = 0; i < 100; ++i) groups.push_back(greedy->Add(stored_, Ids({i})));
  dataset_->store().AwaitReads(8);
  const auto first = modest->Add(stored_, Ids({200, 201, 202, 203}));
  dataset_->store().AwaitReads(12);
  EXPECT_LE(ahead.held_bytes(), 16 * kSample);
  dataset_->store().Open();
}

TEST_F(ReadAheadTest, TheNextGroupNeverWaitsForTheBudget) {
  ReadAhead ahead({.budget_bytes = 4 * kSample, .on_ready = ready_.OnReady()});
  std::vector<std::unique_ptr<ReadAhead::Reader>> readers;
  std::vector<std::shared_ptr<ReadAhead::Group>> groups;
  dataset_->store().Open();
  for (uint64_t i = 0; i < 10; ++i) {
    readers.push_back(ahead.OpenReader());
    groups.push_back(readers.back()->Add(stored_, Ids({2 * i, 2 * i + 1})));
  }
  ready_.Await(10);  // Nobody has given anything back.
  EXPECT_LE(ahead.held_bytes(), 4 * kSample);
  uint8_t field = 0;
  EXPECT_TRUE(Read(*groups[0], 0, field).has_value());
  EXPECT_FALSE(Read(*groups[9], 19, field).has_value()) << "what has no room is left out";
}

TEST_F(ReadAheadTest, ASampleAboveTheBudgetIsLeftOut) {
  ReadAhead ahead({.budget_bytes = kSample / 2, .on_ready = ready_.OnReady()});
  const auto reader = ahead.OpenReader();
  const auto group = reader->Add(stored_, Ids({1}));
  ready_.Await(1);
  uint8_t field = 0;
  EXPECT_FALSE(Read(*group, 1, field).has_value());
  EXPECT_EQ(dataset_->store().reads(), 0);
}

TEST_F(ReadAheadTest, BytesOfADroppedGroupGoBackWhenItsReadsEnd) {
  ReadAhead ahead({.budget_bytes = 8 * kSample});
  const auto reader = ahead.OpenReader();
  auto dropped = reader->Add(stored_, Ids({0, 1}));
  dataset_->store().AwaitReads(2);
  dropped = nullptr;
  EXPECT_EQ(ahead.held_bytes(), 2 * kSample) << "a store may still write there";
  auto waits = reader->Add(stored_, Ids({2, 3}));
  auto last = reader->Add(stored_, Ids({4, 5}));  // has no room yet
  dataset_->store().AwaitReads(4);
  waits = nullptr;
  dataset_->store().EndFirst();
  dataset_->store().EndFirst();
  dataset_->store().AwaitReads(6);
  dataset_->store().Open();
}

TEST_F(ReadAheadTest, AGroupThatIsDroppedBeforeItsTurnIsNotRead) {
  ReadAhead ahead({.budget_bytes = 4 * kSample});
  const auto reader = ahead.OpenReader();
  const auto first = reader->Add(stored_, Ids({0, 1}));
  std::atomic<bool> asked = false;
  dataset_->store().AwaitReads(1);
  auto second = reader->Add(stored_, [&] {
    asked = true;
    return std::vector<uint64_t>{2};
  });
  second = nullptr;
  dataset_->store().Open();
  EXPECT_LE(dataset_->store().reads(), 2);
}

TEST_F(ReadAheadTest, RequestsAreBounded) {
  ReadAhead ahead({.budget_bytes = 64 << 20, .requests = 2, .on_ready = ready_.OnReady()});
  const auto reader = ahead.OpenReader();
  const auto group = reader->Add(stored_, Ids({0, 1, 2, 3, 4}));
  for (size_t i = 0; i < 5; ++i) {
    dataset_->store().AwaitReads(std::min<size_t>(i + 2, 5));
    EXPECT_LE(dataset_->store().held(), 2);
    dataset_->store().EndFirst();
  }
  EXPECT_TRUE(group->ready());
}

TEST_F(ReadAheadTest, AStoreMayEndReadsAtOnce) {
  dataset_->store().Open();
  ReadAhead ahead({.budget_bytes = 64 << 20, .on_ready = ready_.OnReady()});
  const auto reader = ahead.OpenReader();
  std::vector<std::shared_ptr<ReadAhead::Group>> groups;
  for (uint64_t i = 0; i < 50; ++i) groups.push_back(reader->Add(stored_, Ids({i, i + 100})));
  ready_.Await(50);
  uint8_t field = 0;
  EXPECT_EQ(Read(*groups[49], 149, field), absl::OkStatus());
}

TEST_F(ReadAheadTest, WhatParsedIsKeptAndNotReadAgain) {
  TemporaryFolder folder;
  for (const bool on_disk : {false, true}) {
    dataset_ = std::make_shared<HeldDataset>(1000, kSample, 0);
    stored_ = {dataset_, dataset_.get()};
    dataset_->store().Open();
    dataset_->bad = 3;
    RawCache::Options kept{.memory_bytes = on_disk ? 0u : 64u << 20};
    if (on_disk) kept.disk = {.path = folder.path(), .size_bytes = 64 << 20, .most_records = 1000};
    for (int start = 0; start < 2; ++start) {
      auto cache = std::make_shared<RawCache>(kept);
      ReadyCount ready;
      ReadAhead ahead({.budget_bytes = 64 << 20, .cache = cache, .on_ready = ready.OnReady()});
      const auto reader = ahead.OpenReader();
      const size_t before = dataset_->store().reads();
      for (int i = 0; i < 2; ++i) {
        const auto group = reader->Add(stored_, Ids({2, 3, 4}));
        ready.Await(i + 1);
        uint8_t field = 0;
        for (const uint64_t id : {2, 4}) {
          EXPECT_EQ(Read(*group, id, field), absl::OkStatus());
          EXPECT_EQ(field, HeldDataset::FieldOf(*dataset_, id));
        }
        EXPECT_TRUE(absl::IsDataLoss(*Read(*group, 3, field))) << "what does not parse is not kept";
      }
      // At another start the disk has it, and memory has not.
      const bool was_kept = start == 1 && on_disk;
      EXPECT_EQ(dataset_->store().sizes()[before], was_kept ? kSample : 3 * kSample);
      EXPECT_EQ(cache->stats().memory_hits, on_disk ? 0 : 2);
      EXPECT_EQ(cache->stats().disk_hits >= 4, was_kept);
    }
  }
}

TEST_F(ReadAheadTest, WhatIsDamagedOnTheDiskComesFromTheStore) {
  TemporaryFolder folder;
  RawCache::Options kept;
  kept.disk = {.path = folder.path(), .size_bytes = 64 << 20, .most_records = 1000};
  dataset_->store().Open();
  for (int start = 0; start < 2; ++start) {
    if (start == 1) Damage(folder);
    ReadyCount ready;
    ReadAhead ahead({.budget_bytes = 64 << 20, .cache = std::make_shared<RawCache>(kept), .on_ready = ready.OnReady()});
    const auto reader = ahead.OpenReader();
    const auto group = reader->Add(stored_, Ids({1, 2, 3}));
    ready.Await(1);
    for (const uint64_t id : {1, 2, 3}) {
      uint8_t field = 0;
      EXPECT_EQ(Read(*group, id, field), absl::OkStatus());
      EXPECT_EQ(field, HeldDataset::FieldOf(*dataset_, id));
    }
    EXPECT_EQ(dataset_->store().reads(), start == 0 ? 3 : 4);
  }
}

TEST_F(ReadAheadTest, TheEndWaitsForReadsThatHaveBegun) {
  std::shared_ptr<ReadAhead::Group> group;
  std::thread ends;
  {
    ReadAhead ahead({.budget_bytes = 64 << 20});
    const auto reader = ahead.OpenReader();
    group = reader->Add(stored_, Ids({0, 1}));
    dataset_->store().AwaitReads(2);
    ends = std::thread([this] { dataset_->store().Open(); });
  }
  EXPECT_EQ(dataset_->store().held(), 0);
  ends.join();
}

// Ends a dataset where it should never end: on the store's thread, which its store would wait for.
TEST_F(ReadAheadTest, TheLastReadDoesNotEndTheDataset) {
  ReadAhead ahead({.budget_bytes = 64 << 20});
  const auto reader = ahead.OpenReader();
  absl::Mutex mutex;
  std::optional<std::thread::id> ended_on;
  HeldDataset* const dataset = dataset_.get();
  auto shared = std::shared_ptr<HeldDataset>(dataset, [&, held = dataset_](HeldDataset*) mutable {
    absl::MutexLock lock(&mutex);
    ended_on = std::this_thread::get_id();
  });
  auto group = reader->Add({shared, dataset}, Ids({0}));
  dataset->store().AwaitReads(1);
  shared = nullptr;
  group = nullptr;
  dataset->store().EndFirst();
  absl::MutexLock lock(&mutex);
  const auto has_ended = [&] { return ended_on.has_value(); };
  mutex.Await(absl::Condition(&has_ended));
  EXPECT_NE(*ended_on, std::this_thread::get_id());
}

TEST_F(ReadAheadTest, ManyReadersAndDroppedGroupsLeaveNothing) {
  ReadAhead ahead({.budget_bytes = 20 * kSample, .requests = 8});
  std::atomic<bool> stop = false;
  std::thread ends([&] {
    while (!stop)
      if (dataset_->store().held() > 0) dataset_->store().EndFirst();
  });
  std::vector<std::thread> users;
  for (uint64_t user = 0; user < 4; ++user)
    users.emplace_back([&, user] {
      const auto reader = ahead.OpenReader();
      std::deque<std::shared_ptr<ReadAhead::Group>> groups;
      for (uint64_t i = 0; i < 300; ++i) {
        const uint64_t id = (user * 300 + i) % 990;
        groups.push_back(reader->Add(stored_, Ids({id, id + 5})));
        if (i % 7 == 3) groups.pop_back();
        while (groups.size() > 6) groups.pop_front();
      }
    });
  for (std::thread& user : users) user.join();
  stop = true;
  ends.join();
  dataset_->store().Open();
}

}  // namespace
}  // namespace stoker
