#include "server/work/decoded_cache.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/work/span_maker.h"
#include "server/work/worker_pool.h"
#include "tests/unit/server/work/photos.h"

namespace stoker {
namespace {

constexpr uint64_t kMaxPixels = 1 << 20;

// Crops are made at several reduced sizes, of the same images.
constexpr char kCrops[] =
    "views { name: 'global' count: 2 ops { random_resized_crop { size: 96 scale: 0.3 scale: 1 } } "
    "        ops { random_horizontal_flip {} } } "
    "views { name: 'local' count: 3 ops { random_resized_crop { size: 40 scale: 0.05 scale: 0.3 } } } "
    "views { name: 'pixels' ops { random_crop { size: 32 pad_if_needed: true } } } "
    "bad_samples: BAD_SAMPLES_SUBSTITUTE ";
constexpr char kOther[] =
    "ops { resize { size: 64 interpolation: INTERPOLATION_BICUBIC } } ops { center_crop { size: 64 } } "
    "bad_samples: BAD_SAMPLES_SUBSTITUTE ";

// Photographs of several sizes, one of each kind of file, and some that are damaged.
std::vector<Bytes> Files() {
  std::vector<Bytes> files;
  for (uint64_t i = 0; i < 8; ++i) files.push_back(Jpeg(i, {200 + 61 * static_cast<int64_t>(i), 401}));
  for (const SelfCheckImage& image : kSelfCheckImages) files.push_back(SmallFile(image.name));
  for (const size_t part : {2, 3, 5}) {
    Bytes cut = Jpeg(100 + part, {300, 300});
    cut.resize(cut.size() - cut.size() / part);
    files.push_back(std::move(cut));
  }
  files.push_back({'n', 'o', 'n', 'e'});
  return files;
}

struct Made {
  std::string header;
  Bytes bytes;
  friend bool operator==(const Made&, const Made&) = default;
};

Made Make(SpanMaker& maker, const StreamPlan& plan, const Dataset& dataset, const SpanId& span,
          const DecodedCache::Images* kept) {
  Made made;
  made.bytes.assign(plan.SpanBytes(span), 0xcd);
  v1::SpanHeader header = maker.Make(plan, dataset, span, made.bytes, Interrupt(), nullptr, kept);
  if (header.has_error()) made.bytes.clear();
  header.clear_times();
  made.header = header.DebugString();
  return made;
}

SpanId All(const Dataset& dataset, uint64_t epoch) { return {epoch, 0, static_cast<uint32_t>(dataset.size())}; }

TEST(DecodedCacheTest, SpansAreWhatTheyAreWithoutIt) {
  const auto photos = std::make_shared<const Photos>(Files());
  const StreamPlan plans[] = {Plan(kCrops, *photos), Plan(kOther, *photos)};
  for (const uint64_t budget : {uint64_t{3} << 20, uint64_t{1} << 30}) {
    DecodedCache cache(budget);
    const auto kept = cache.Open(photos);
    SpanMaker with({kMaxPixels}), without({kMaxPixels});
    for (uint64_t epoch = 0; epoch < 4; ++epoch)
      for (const StreamPlan& plan : plans) {
        const Made plain = Make(without, plan, *photos, All(*photos, epoch), nullptr);
        EXPECT_FALSE(plain.bytes.empty()) << plain.header;
        EXPECT_THAT(plain.header, testing::HasSubstr("substitutions"));
        EXPECT_EQ(Make(with, plan, *photos, All(*photos, epoch), kept.get()), plain) << epoch;
        EXPECT_LE(cache.stats().memory.bytes, budget);
      }
    EXPECT_GT(cache.stats().hits, 0);
    EXPECT_GT(cache.stats().memory.samples, 0);
  }
}

TEST(DecodedCacheTest, WhatIsKeptIsNotDecodedAgain) {
  const auto photos = std::make_shared<const Photos>(std::vector<Bytes>{Jpeg(1, {90, 120}), Jpeg(2, {80, 80})});
  const StreamPlan plan = Plan(kOther, *photos);
  DecodedCache cache(uint64_t{1} << 20);
  SpanMaker maker({kMaxPixels});
  Make(maker, plan, *photos, All(*photos, 0), cache.Open(photos).get());
  EXPECT_EQ(cache.stats().misses, 2);
  EXPECT_EQ(cache.stats().memory.samples, 2);
  EXPECT_EQ(cache.stats().memory.bytes, (90 * 120 + 80 * 80) * 3 + 2 * MemoryTier::kEntryBytes);
  Make(maker, plan, *photos, All(*photos, 1), cache.Open(photos).get());
  EXPECT_EQ(cache.stats().misses, 2);
  EXPECT_EQ(cache.stats().hits, 2);
}

// A decode of the whole fails; one of the crop does not, where the crop lies above the damage.
TEST(DecodedCacheTest, WhatIsDamagedBelowTheCropIsNotKept) {
  Bytes file = Jpeg(3, {256, 256});
  file.resize(file.size() / 2);
  const auto photos = std::make_shared<const Photos>(std::vector<Bytes>{file});
  const StreamPlan plan = Plan("ops { random_crop { size: 32 } } ", *photos);
  DecodedCache cache(uint64_t{1} << 20);
  const auto kept = cache.Open(photos);
  SpanMaker maker({kMaxPixels});
  int good = 0;
  for (uint64_t epoch = 0; epoch < 32; ++epoch) {
    const Made plain = Make(maker, plan, *photos, All(*photos, epoch), nullptr);
    good += plain.bytes.empty() ? 0 : 1;
    EXPECT_EQ(Make(maker, plan, *photos, All(*photos, epoch), kept.get()), plain);
  }
  EXPECT_THAT(good, testing::AllOf(testing::Gt(0), testing::Lt(32)));
  EXPECT_EQ(cache.stats().memory.bytes, 0);
}

TEST(DecodedCacheTest, WhatAnotherPipelineToleratesIsNoneOfThisOnes) {
  Bytes file = Jpeg(4, {256, 256});
  file.resize(file.size() - file.size() / 4);
  const auto photos = std::make_shared<const Photos>(std::vector<Bytes>{file});
  const std::string whole = "ops { resize { size: 64 size: 64 } } ";
  const StreamPlan strict = Plan(whole, *photos);
  const StreamPlan lax = Plan(whole + "decode_warnings: DECODE_WARNINGS_IGNORE ", *photos);
  DecodedCache cache(uint64_t{1} << 20);
  const auto kept = cache.Open(photos);
  SpanMaker maker({kMaxPixels});
  EXPECT_FALSE(Make(maker, lax, *photos, All(*photos, 0), kept.get()).bytes.empty());
  EXPECT_EQ(cache.stats().memory.samples, 1);
  EXPECT_TRUE(Make(maker, strict, *photos, All(*photos, 0), kept.get()).bytes.empty());
}

TEST(DecodedCacheTest, ADatasetThatIsOpenedAnewHasNothing) {
  const std::vector<Bytes> files = {Jpeg(5, {64, 64})};
  DecodedCache cache(uint64_t{1} << 20);
  SpanMaker maker({kMaxPixels});
  for (int i = 0; i < 3; ++i) {
    const auto photos = std::make_shared<const Photos>(files);
    const StreamPlan plan = Plan(kOther, *photos);
    const auto kept = cache.Open(photos);
    EXPECT_EQ(cache.Open(photos), kept);
    Make(maker, plan, *photos, All(*photos, 0), kept.get());
  }
  EXPECT_EQ(cache.stats().hits, 0);
  EXPECT_EQ(cache.stats().memory.samples, 3);
}

TEST(DecodedCacheTest, WithoutABudgetThereIsNone) {
  DecodedCache cache(0);
  EXPECT_FALSE(cache.enabled());
  EXPECT_EQ(cache.Open(std::make_shared<const Photos>(std::vector<Bytes>{Jpeg(6, {8, 8})})), nullptr);
}

// Wants `spans` of a pool's stream one after the other, and returns their payloads' hashes.
std::vector<uint64_t> Hashes(WorkerPool& pool, const std::shared_ptr<const Dataset>& dataset, const StreamPlan& plan,
                             int spans, bool anew) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<uint64_t> hashes;
  const auto stream = *pool.AddStream(dataset, plan, [&](const FinishedSpan& span) {
    std::lock_guard lock(mutex);
    hashes.push_back(span.payload_hash);
    changed.notify_all();
  });
  for (int i = 0; i < spans; ++i) {
    EXPECT_TRUE(stream->Want(All(*dataset, i), anew).ok());
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return hashes.size() > static_cast<size_t>(i); });
  }
  return hashes;
}

TEST(DecodedCacheTest, WhatIsWantedAnewIsDecodedAnew) {
  const auto photos = std::make_shared<const Photos>(std::vector<Bytes>{Jpeg(7, {90, 120}), Jpeg(8, {80, 80})});
  const StreamPlan plan = Plan(kCrops, *photos);
  WorkerPool pool({.workers = 1, .slab_bytes = uint64_t{256} << 20, .decoded_bytes = uint64_t{16} << 20});
  const std::vector<uint64_t> kept = Hashes(pool, photos, plan, 3, false);
  const DecodedCache::Stats before = pool.decoded().stats();
  EXPECT_GT(before.hits, 0);
  EXPECT_EQ(Hashes(pool, photos, plan, 3, true), kept);
  EXPECT_EQ(pool.decoded().stats().hits, before.hits);
  EXPECT_EQ(pool.decoded().stats().misses, before.misses);
}

TEST(DecodedCacheTest, ThreadsShareWhatIsKept) {
  const auto photos = std::make_shared<const Photos>(Files());
  const StreamPlan plan = Plan(kCrops, *photos);
  DecodedCache cache(uint64_t{4} << 20);
  SpanMaker alone({kMaxPixels});
  std::vector<Made> plain;
  for (uint64_t epoch = 0; epoch < 3; ++epoch)
    plain.push_back(Make(alone, plan, *photos, All(*photos, epoch), nullptr));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      SpanMaker maker({kMaxPixels});
      const auto kept = cache.Open(photos);
      for (uint64_t epoch = 0; epoch < 3; ++epoch)
        EXPECT_EQ(Make(maker, plan, *photos, All(*photos, epoch), kept.get()), plain[epoch]);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.stats().memory.bytes, uint64_t{4} << 20);
}

}  // namespace
}  // namespace stoker
