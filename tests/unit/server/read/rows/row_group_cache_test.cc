#include "server/read/rows/row_group_cache.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;

// A row group of `rows` rows, of which the first has so many bytes, and the others none.
std::unique_ptr<const RowGroup> GroupOf(uint32_t size, uint64_t rows = 50) {
  ChildAnswer answer{ChildVerdict::kDone, std::make_unique<uint8_t[]>(size), size};
  const std::string_view bytes(reinterpret_cast<const char*>(answer.data.get()), size);
  DecodedColumns columns{.rows = rows, .columns = {{.sizes = std::vector<uint32_t>(rows), .bytes = bytes}}};
  columns.columns[0].sizes[0] = size;
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

// Whether a row group begins to be loaded ahead at once; `done` counts those who need not wait any more.
bool Begin(RowGroupCache& cache, uint64_t number, int& done, const RowGroupCache::Size& size = {.loaded = kEach}) {
  const auto begun = std::make_shared<bool>(false);
  cache.LoadAhead(
      number, size, [begun] { *begun = true; }, [&done] { ++done; });
  return *begun;
}

TEST(RowGroupCacheTest, WhatWasUsedLastStays) {
  RowGroupCache cache(2 * kEach);
  Loads loads;
  for (const uint64_t number : {1, 2, 1, 2, 1}) EXPECT_TRUE(cache.Get(number, {.loaded = kEach}, loads()).ok());
  EXPECT_EQ(loads.count, 2);
  EXPECT_TRUE(cache.Get(3, {.loaded = kEach}, loads()).ok());  // in place of 2
  EXPECT_TRUE(cache.Get(1, {.loaded = kEach}, loads()).ok());
  EXPECT_EQ(loads.count, 3);
  EXPECT_TRUE(cache.Get(2, {.loaded = kEach}, loads()).ok());
  EXPECT_EQ(loads.count, 4);
}

TEST(RowGroupCacheTest, WhatWasUsedUpIsDroppedBeforeTheOthersAndTheLastOfThemFirst) {
  RowGroupCache cache(4 * kEach);
  Loads loads;
  const auto use = [&](uint64_t number, int rows) {
    const int before = loads.count;
    for (int row = 0; row < rows; ++row) EXPECT_TRUE(cache.Get(number, {.loaded = kEach}, loads()).ok());
    return loads.count - before;  // how often it was loaded
  };
  use(1, 49);
  use(2, 50);
  use(3, 50);
  use(4, 1);
  EXPECT_EQ(use(5, 1), 1);  // in place of 3
  EXPECT_EQ(use(1, 1) + use(2, 1) + use(4, 1), 0);
  EXPECT_EQ(use(3, 1), 1);  // in place of 1, whose last row was just used
  EXPECT_EQ(use(2, 1) + use(4, 1) + use(5, 1), 0);
  EXPECT_EQ(use(1, 1), 1);
}

TEST(RowGroupCacheTest, LoadingTakesMoreRoomThanWhatIsLoaded) {
  RowGroupCache cache(4 * kEach);
  int done = 0;
  EXPECT_TRUE(Begin(cache, 1, done, {.loaded = kEach, .loading = kEach}));
  EXPECT_TRUE(Begin(cache, 2, done, {.loaded = kEach, .loading = kEach})) << "what both will take is half of the room";
  cache.EndAhead(1, GroupOf(1000));
  cache.EndAhead(2, GroupOf(1000));
  RowGroupCache small(3 * kEach);
  EXPECT_TRUE(Begin(small, 1, done, {.loaded = kEach, .loading = kEach}));
  bool has_begun = false;
  small.LoadAhead(
      2, {.loaded = kEach / 4, .loading = kEach}, [&has_begun] { has_begun = true; }, [] {});
  EXPECT_FALSE(has_begun) << "there is no room yet";
  small.EndAhead(1, GroupOf(1000));
  EXPECT_TRUE(has_begun);
  small.EndAhead(2, GroupOf(100));
}

TEST(RowGroupCacheTest, WhatHadNoRoomIsLoadedOnceThereIsSome) {
  RowGroupCache cache(2 * kEach);
  Loads loads;
  std::vector<uint64_t> begun;
  int done = 0;
  const auto load_ahead = [&](uint64_t number) {
    cache.LoadAhead(
        number, {.loaded = kEach}, [&begun, number] { begun.push_back(number); }, [&done] { ++done; });
  };
  for (const uint64_t number : {1, 2, 3, 4, 3, 5}) load_ahead(number);
  EXPECT_THAT(begun, ElementsAre(1, 2));
  EXPECT_EQ(done, 4) << "nobody waits for room";
  for (const uint64_t number : {1, 2}) cache.EndAhead(number, GroupOf(1000));
  EXPECT_THAT(begun, ElementsAre(1, 2));
  cache.LetGo(1);
  EXPECT_THAT(begun, ElementsAre(1, 2, 3));
  cache.LetGo(4);
  cache.EndAhead(3, absl::UnavailableError("the store hung up"));
  EXPECT_THAT(begun, ElementsAre(1, 2, 3, 5)) << "what failed takes no room, and 4 nobody wants any more";
  load_ahead(6);
  cache.EndAhead(5, GroupOf(1000));
  EXPECT_TRUE(cache.Get(6, {.loaded = kEach}, loads()).ok()) << "by who needed it sooner";
  cache.LetGo(2);
  EXPECT_THAT(begun, ElementsAre(1, 2, 3, 5));
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
      const auto group = cache.Get(7, {.loaded = kEach}, slow);
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
  auto first = cache.Get(1, {.loaded = kEach}, loads());
  ASSERT_TRUE(first.ok());
  std::atomic<bool> got = false;
  std::thread other([&] {
    EXPECT_TRUE(cache.Get(2, {.loaded = kEach}, loads()).ok());
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
  for (const uint64_t number : {1, 2, 1}) EXPECT_TRUE(cache.Get(number, {.loaded = kEach}, loads()).ok());
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
  EXPECT_EQ(cache.Get(1, {.loaded = kEach}, failing(absl::DataLossError("x"))).status(), absl::DataLossError("x"));
  EXPECT_EQ(cache.Get(1, {.loaded = kEach}, loads()).status(), absl::DataLossError("x"));
  EXPECT_EQ(cache.Get(2, {.loaded = kEach}, failing(absl::UnavailableError("y"))).status(),
            absl::UnavailableError("y"));
  EXPECT_TRUE(cache.Get(2, {.loaded = kEach}, loads()).ok());
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
        if (!cache.Get((t * 7 + i * 3) % 11, {.loaded = kEach}, loads()).ok()) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(RowGroupCacheTest, WhatIsLoadedAheadIsThereWhenItIsUsed) {
  RowGroupCache cache(4 * kEach);
  Loads loads;
  int done = 0;
  EXPECT_TRUE(Begin(cache, 1, done));
  EXPECT_FALSE(Begin(cache, 1, done)) << "it is on its way";
  EXPECT_EQ(done, 0);
  cache.EndAhead(1, GroupOf(1000));
  EXPECT_EQ(done, 2);
  EXPECT_FALSE(Begin(cache, 1, done)) << "it is there";
  EXPECT_EQ(done, 3);
  EXPECT_TRUE(cache.Get(1, {.loaded = kEach}, loads()).ok());
  EXPECT_EQ(loads.count, 0);
}

TEST(RowGroupCacheTest, AWorkerWaitsForWhatIsLoadedAhead) {
  RowGroupCache cache(4 * kEach);
  Loads loads;
  int done = 0;
  ASSERT_TRUE(Begin(cache, 1, done));
  std::thread worker([&] { EXPECT_TRUE(cache.Get(1, {.loaded = kEach}, loads()).ok()); });
  cache.EndAhead(1, GroupOf(1000));
  worker.join();
  EXPECT_EQ(loads.count, 0);
}

TEST(RowGroupCacheTest, WhatAWorkerLoadsIsWaitedFor) {
  RowGroupCache cache(4 * kEach);
  int done = 0;
  const auto load = [&]() -> absl::StatusOr<std::unique_ptr<const RowGroup>> {
    EXPECT_FALSE(Begin(cache, 1, done));
    EXPECT_EQ(done, 0);
    return GroupOf(1000);
  };
  EXPECT_TRUE(cache.Get(1, {.loaded = kEach}, load).ok());
  EXPECT_EQ(done, 1);
}

TEST(RowGroupCacheTest, NothingThatIsWantedIsDroppedForWhatIsLoadedAhead) {
  RowGroupCache cache(3 * kEach);
  Loads loads;
  int done = 0;
  EXPECT_TRUE(cache.Get(1, {.loaded = kEach}, loads()).ok());
  EXPECT_FALSE(Begin(cache, 1, done)) << "it is there";
  for (const uint64_t number : {2, 3}) {
    EXPECT_TRUE(Begin(cache, number, done));
    cache.EndAhead(number, GroupOf(1000));
  }
  EXPECT_FALSE(Begin(cache, 4, done));
  for (const uint64_t number : {1, 2, 3}) EXPECT_TRUE(cache.Get(number, {.loaded = kEach}, loads()).ok());
  EXPECT_EQ(loads.count, 1);
}

TEST(RowGroupCacheTest, WhatSeveralWantStaysUntilTheLastLetsItGo) {
  RowGroupCache cache(2 * kEach);
  int done = 0;
  EXPECT_TRUE(Begin(cache, 1, done));
  EXPECT_FALSE(Begin(cache, 1, done)) << "it is on its way";
  cache.EndAhead(1, GroupOf(1000));
  EXPECT_TRUE(Begin(cache, 2, done));
  cache.LetGo(1);
  EXPECT_FALSE(Begin(cache, 3, done));
  cache.LetGo(3);
  cache.LetGo(1);
  EXPECT_TRUE(Begin(cache, 3, done));
  for (const uint64_t number : {2, 3}) cache.EndAhead(number, GroupOf(1000));
}

TEST(RowGroupCacheTest, WhoeverNeedsRoomGetsIt) {
  RowGroupCache cache(kEach * 2);
  Loads loads;
  int done = 0;
  EXPECT_TRUE(Begin(cache, 1, done));
  cache.EndAhead(1, GroupOf(1000));
  EXPECT_TRUE(cache.Get(2, {.loaded = 2 * kEach}, loads()).ok())
      << "though nothing else than what is wanted can be dropped";
  EXPECT_FALSE(Begin(cache, 3, done, {.loaded = 3 * kEach})) << "there never is so much room";
  cache.LetGo(1);
  EXPECT_TRUE(Begin(cache, 1, done)) << "nor does anything wait for it";
  cache.EndAhead(1, GroupOf(1000));
}

TEST(RowGroupCacheTest, OfWhatIsWantedTheOneNeededLastMakesRoom) {
  RowGroupCache cache(3 * kEach);
  Loads loads;
  int done = 0;
  for (const uint64_t number : {1, 2, 3}) {
    EXPECT_TRUE(Begin(cache, number, done));
    cache.EndAhead(number, GroupOf(1000));
  }
  EXPECT_TRUE(cache.Get(4, {.loaded = kEach}, loads()).ok());  // in place of 3
  for (const uint64_t number : {1, 2}) EXPECT_TRUE(cache.Get(number, {.loaded = kEach}, loads()).ok());
  EXPECT_EQ(loads.count, 1);
}

TEST(RowGroupCacheTest, WhoWaitsForRoomGetsItBeforeWhatIsLoadedAhead) {
  RowGroupCache cache(3 * kEach);
  Loads loads;
  int done = 0;
  bool has_begun = false;
  EXPECT_TRUE(Begin(cache, 1, done, {.loaded = 2 * kEach}));
  cache.LoadAhead(
      2, {.loaded = 2 * kEach}, [&has_begun] { has_begun = true; }, [] {});
  std::thread worker([&] { EXPECT_TRUE(cache.Get(3, {.loaded = 3 * kEach}, loads()).ok()); });
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  cache.EndAhead(1, absl::UnavailableError("the store hung up"));
  worker.join();
  EXPECT_EQ(loads.count, 1);
  EXPECT_TRUE(has_begun) << "once it is loaded";
  cache.EndAhead(2, GroupOf(1000));
}

TEST(RowGroupCacheTest, WhatFailsAheadIsLoadedByWhoNeedsIt) {
  RowGroupCache cache(4 * kEach);
  Loads loads;
  int done = 0;
  EXPECT_TRUE(Begin(cache, 1, done));
  cache.EndAhead(1, absl::UnavailableError("the store hung up"));
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(cache.Get(1, {.loaded = kEach}, loads()).ok());
  EXPECT_EQ(loads.count, 1);
}

}  // namespace
}  // namespace stoker
