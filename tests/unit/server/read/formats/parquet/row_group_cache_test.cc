#include "server/read/formats/parquet/row_group_cache.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

// A row group of one row, whose value has so many bytes.
std::unique_ptr<const RowGroup> GroupOf(uint32_t size) {
  ChildAnswer answer{ChildVerdict::kDone, std::make_unique<uint8_t[]>(size), size};
  const std::string_view bytes(reinterpret_cast<const char*>(answer.data.get()), size);
  DecodedColumns columns{.rows = 1, .columns = {{.sizes = {size}, .bytes = bytes}}};
  return std::make_unique<const RowGroup>(std::move(answer), std::move(columns));
}

// Loads row groups of 1000 bytes, and counts.
class Loads {
 public:
  RowGroupCache::Load operator()() {
    return [this]() -> absl::StatusOr<std::unique_ptr<const RowGroup>> {
      ++count;
      return GroupOf(1000);
    };
  }
  std::atomic<int> count = 0;
};

constexpr uint64_t kEach = 2000;  // a little more than a row group of 1000 bytes takes

TEST(RowGroupCacheTest, WhatWasUsedLastStays) {
  RowGroupCache cache(2 * kEach);
  Loads loads;
  for (const uint64_t number : {1, 2, 1, 2, 1}) EXPECT_TRUE(cache.Get(number, kEach, loads()).ok());
  EXPECT_EQ(loads.count, 2);
  EXPECT_TRUE(cache.Get(3, kEach, loads()).ok());  // in place of 2
  EXPECT_TRUE(cache.Get(1, kEach, loads()).ok());
  EXPECT_EQ(loads.count, 3);
  EXPECT_TRUE(cache.Get(2, kEach, loads()).ok());
  EXPECT_EQ(loads.count, 4);
}

TEST(RowGroupCacheTest, OneOfManyThreadsLoads) {
  RowGroupCache cache(10 * kEach);
  std::atomic<int> loads = 0;
  absl::Notification go_on;
  const auto slow = [&]() -> absl::StatusOr<std::unique_ptr<const RowGroup>> {
    ++loads;
    go_on.WaitForNotification();
    return GroupOf(1000);
  };
  std::vector<std::thread> threads;
  std::atomic<int> begun = 0, got = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      ++begun;
      const auto group = cache.Get(7, kEach, slow);
      if (group.ok() && (*group)->SizeOf(0, 0) == 1000) ++got;
    });
  while (begun < 4) std::this_thread::yield();
  go_on.Notify();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, 4);
  EXPECT_EQ(loads, 1);
}

TEST(RowGroupCacheTest, WhatIsUsedIsNotDroppedAndOthersWait) {
  RowGroupCache cache(kEach);
  Loads loads;
  auto first = cache.Get(1, kEach, loads());
  ASSERT_TRUE(first.ok());
  std::atomic<bool> got = false;
  std::thread other([&] {
    EXPECT_TRUE(cache.Get(2, kEach, loads()).ok());
    got = true;
  });
  // While the first is used, it stays, and there is no room for the second.
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  EXPECT_FALSE(got);
  EXPECT_EQ((*first)->ValueOf(0, 0).size(), 1000);
  { const auto released = *std::move(first); }
  other.join();
  EXPECT_EQ(loads.count, 2);
}

TEST(RowGroupCacheTest, OneThatIsLargerThanAllPasses) {
  RowGroupCache cache(10);
  Loads loads;
  for (const uint64_t number : {1, 2, 1}) EXPECT_TRUE(cache.Get(number, kEach, loads()).ok());
  EXPECT_EQ(loads.count, 3);
}

TEST(RowGroupCacheTest, WrongBytesStayWrongAndAFaultOfTheMachineDoesNot) {
  RowGroupCache cache(10 * kEach);
  Loads loads;
  int failures = 0;
  const auto failing = [&](absl::Status status) {
    return [&failures, status]() -> absl::StatusOr<std::unique_ptr<const RowGroup>> {
      ++failures;
      return status;
    };
  };
  EXPECT_EQ(cache.Get(1, kEach, failing(absl::DataLossError("x"))).status(), absl::DataLossError("x"));
  EXPECT_EQ(cache.Get(1, kEach, loads()).status(), absl::DataLossError("x"));
  EXPECT_EQ(cache.Get(2, kEach, failing(absl::UnavailableError("y"))).status(), absl::UnavailableError("y"));
  EXPECT_TRUE(cache.Get(2, kEach, loads()).ok());
  EXPECT_EQ(failures, 2);
}

TEST(RowGroupCacheTest, ManyThreadsShareLittleRoom) {
  RowGroupCache cache(3 * kEach);
  Loads loads;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 500; ++i)
        if (!cache.Get((t * 7 + i * 3) % 11, kEach, loads()).ok()) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace stoker
