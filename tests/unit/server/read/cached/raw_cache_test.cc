#include "server/read/cached/raw_cache.h"

#include <filesystem>
#include <thread>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/read/cached/sample_keys.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

constexpr uint64_t kRawBytes = 1000;

class RawCacheUnitTest : public testing::Test {
 protected:
  RawCache::Options OnDisk(uint64_t memory_bytes = 0) {
    RawCache::Options options{.memory_bytes = memory_bytes};
    options.disk = {.path = folder_.path(), .size_bytes = 1 << 24, .most_records = 10000, .warn = Warn()};
    options.waits = true;
    return options;
  }

  std::function<void(const std::string&)> Warn() {
    return [this](const std::string& line) { warnings_.push_back(line); };
  }

  static bool Hits(RawCache& cache, uint64_t number) {
    std::vector<uint8_t> bytes(kRawBytes);
    if (!cache.Read(KeyNumber(number), bytes)) return false;
    EXPECT_EQ(bytes, BytesOf(number, kRawBytes)) << number;
    return true;
  }

  TemporaryFolder folder_;
  std::vector<std::string> warnings_;
};

TEST_F(RawCacheUnitTest, MemoryComesFirstAndTheDiskOutlivesIt) {
  {
    RawCache cache(OnDisk(1 << 20));
    EXPECT_FALSE(Hits(cache, 1));
    cache.Put(KeyNumber(1), BytesOf(1, kRawBytes));
    EXPECT_TRUE(Hits(cache, 1));
    EXPECT_EQ(cache.stats().memory_hits, 1);
  }
  RawCache cache(OnDisk(1 << 20));
  EXPECT_TRUE(cache.Has(KeyNumber(1)));
  EXPECT_EQ(cache.GetFromMemory(KeyNumber(1), kRawBytes), nullptr);
  EXPECT_TRUE(Hits(cache, 1));
  EXPECT_EQ(cache.stats().disk_hits, 1);
  EXPECT_NE(cache.GetFromMemory(KeyNumber(1), kRawBytes), nullptr) << "what the disk gave is in memory now";
  EXPECT_EQ(cache.stats().misses, 0);
}

TEST_F(RawCacheUnitTest, ReadsFromTheDiskEndOnOtherThreads) {
  { RawCache(OnDisk()).Put(KeyNumber(1), BytesOf(1, kRawBytes)); }
  RawCache cache(OnDisk());
  for (const uint64_t number : {1, 2}) {
    std::vector<uint8_t> bytes(kRawBytes);
    absl::Notification ended;
    bool was_kept = false;
    std::thread::id thread;
    cache.ReadFromDisk(KeyNumber(number), bytes, [&](bool kept) {
      was_kept = kept;
      thread = std::this_thread::get_id();
      ended.Notify();
    });
    ended.WaitForNotification();
    EXPECT_EQ(was_kept, number == 1);
    EXPECT_NE(thread, std::this_thread::get_id());
  }
  EXPECT_EQ(cache.stats().misses, 1);
}

TEST_F(RawCacheUnitTest, WithoutAUsableDiskItGoesOnWithAWarning) {
  RawCache::Options options = OnDisk(1 << 20);
  options.disk->path = folder_.path("file");
  folder_.Write("file", "no folder");
  RawCache cache(options);
  EXPECT_FALSE(cache.has_disk());
  ASSERT_EQ(warnings_.size(), 1);
  EXPECT_THAT(warnings_[0], testing::HasSubstr("goes on without the disk"));
  cache.Put(KeyNumber(1), BytesOf(1, kRawBytes));
  EXPECT_TRUE(Hits(cache, 1));
  EXPECT_EQ(cache.most_bytes(), 1 << 20);
}

TEST_F(RawCacheUnitTest, WhatComesFasterThanTheDiskIsDropped) {
  RawCache::Options options = OnDisk();
  options.waits = false;
  options.queue_bytes = kRawBytes;
  {
    RawCache cache(options);
    for (uint64_t i = 0; i < 1000; ++i) cache.Put(KeyNumber(i), BytesOf(i, kRawBytes));
  }
  RawCache cache(options);
  uint64_t hits = 0;
  for (uint64_t i = 0; i < 1000; ++i) hits += Hits(cache, i) ? 1 : 0;
  EXPECT_GT(hits, 0);
}

TEST_F(RawCacheUnitTest, ItTellsWhatItDid) {
  RawCache cache(OnDisk(1 << 20));
  EXPECT_FALSE(Hits(cache, 1));
  const RawCache::Stats was = cache.stats();
  cache.Put(KeyNumber(1), BytesOf(1, kRawBytes));
  EXPECT_TRUE(Hits(cache, 1));
  EXPECT_THAT(cache.Text(was),
              testing::HasSubstr("1 samples from memory, 0 from disk, 0 from stores; 1.2KiB in memory"));
}

TEST_F(RawCacheUnitTest, ManyThreadsReadPutAndEvict) {
  RawCache::Options options = OnDisk(100 * kRawBytes);
  options.disk->size_bytes = 1 << 20;
  options.disk->segment_bytes = 1 << 16;
  options.waits = false;
  RawCache cache(options);
  cache.AddDataset(2000 * kRawBytes);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < 4000; ++i) {
        const uint64_t number = (i * 7 + thread * 500) % 2000;
        if (!Hits(cache, number)) cache.Put(KeyNumber(number), BytesOf(number, kRawBytes));
      }
    });
  for (std::thread& thread : threads) thread.join();
  const RawCache::Stats stats = cache.stats();
  EXPECT_EQ(stats.memory_hits + stats.disk_hits + stats.misses, 16000);
  EXPECT_EQ(stats.disk.damaged, 0);
  EXPECT_LE(stats.memory.bytes, 100 * kRawBytes);
  EXPECT_LE(stats.disk.bytes, 1 << 20);
  cache.RemoveDataset(2000 * kRawBytes);
}

}  // namespace
}  // namespace stoker
