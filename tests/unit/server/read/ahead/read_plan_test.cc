#include "server/read/ahead/read_plan.h"

#include <map>
#include <numeric>
#include <random>

#include "common/identity/epoch_order.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

// Samples at places that a test chooses.
class Places final : public StoredSamples {
 public:
  // Adds a sample and returns its id.
  uint64_t Add(uint64_t object, uint64_t offset, uint64_t size) {
    places_.push_back({object, offset, size});
    return places_.size() - 1;
  }
  Store& StoreOf(uint64_t) const override { std::abort(); }
  Place PlaceOf(uint64_t id, FieldSet) const override { return places_[id]; }
  ObjectInfo ObjectAt(uint64_t) const override { std::abort(); }
  absl::Status Parse(uint64_t, std::span<const uint8_t>, SampleBytes&) const override { return absl::OkStatus(); }
  absl::Status ReadError(uint64_t, const absl::Status& status) const override { return status; }

 private:
  std::vector<Place> places_;
};

std::vector<uint64_t> AllOf(const ReadPlan& plan) {
  std::vector<uint64_t> ids;
  for (const auto& sample : plan.samples) ids.push_back(sample.id);
  return ids;
}

TEST(ReadPlanTest, NeighboursAreReadTogetherWhereGapsAreSmall) {
  Places places;
  places.Add(0, 0, 1000);
  places.Add(0, 1000 + kAnyGapBytes, 500);
  places.Add(0, 1500 + 2 * kAnyGapBytes + 1, 500);
  const ReadPlan plan = PlanReads(places, std::vector<uint64_t>{0, 1, 2}, 1 << 30);
  ASSERT_EQ(plan.reads.size(), 2);
  EXPECT_EQ(plan.reads[0].size, 1500 + kAnyGapBytes);
  EXPECT_EQ(plan.reads[0].samples, 2);
  EXPECT_EQ(plan.reads[1].size, 500);
  EXPECT_EQ(plan.bytes, 2000 + kAnyGapBytes);
  EXPECT_EQ(plan.samples[1].offset, 1000 + kAnyGapBytes);
}

TEST(ReadPlanTest, LongGapsAreReadOverWhereTheyAreASmallPart) {
  const uint64_t sample = kMostGapBytes * kGapPart;
  Places places;
  places.Add(0, 0, sample);
  places.Add(0, sample + kMostGapBytes, sample);
  places.Add(0, 2 * sample + 2 * kMostGapBytes + 1, sample);  // The gap before it is too long.
  places.Add(1, 0, 1000);
  places.Add(1, 1000 + kMostGapBytes, 1000);
  EXPECT_EQ(PlanReads(places, std::vector<uint64_t>{0, 1, 2}, 1 << 30).reads.size(), 2);
  EXPECT_EQ(PlanReads(places, std::vector<uint64_t>{3, 4}, 1 << 30).reads.size(), 2) << "the gap is most of it";
  const ReadPlan all = PlanReads(places, std::vector<uint64_t>{0, 1, 2, 3, 4}, 1 << 30);
  EXPECT_LE(all.bytes, (3 * sample + 2000) * (kGapPart + 1) / kGapPart);
  EXPECT_EQ(PlanReads(places, std::vector<uint64_t>{0, 3, 1}, 1 << 30,
                      [](const StoredSamples::Place& place) { return place.object == 1; })
                .reads.size(),
            2)
      << "what is kept does not count";
}

TEST(ReadPlanTest, ABlockShuffleFetchesHardlyMoreThanItNeeds) {
  // Whichever servers make an epoch's spans, each span is read by itself.
  constexpr uint64_t kShardSamples = 1000, kSamples = 20'000;
  // Records have a few bytes between them; members of a tar file three blocks, which are a large part of small samples.
  for (const auto& [sample_bytes, between] :
       {std::pair<uint64_t, uint64_t>(3'000, 16), {20'000, 1536}, {110'000, 1536}, {700'000, 1536}}) {
    Places places;
    std::mt19937_64 random(sample_bytes);
    std::vector<uint64_t> ends(kSamples / kShardSamples);
    for (uint64_t id = 0; id < kSamples; ++id) {
      uint64_t& end = ends[id / kShardSamples];
      const uint64_t size = sample_bytes / 2 + random() % sample_bytes;
      places.Add(id / kShardSamples, end, size);
      end += size + between;
    }
    for (const auto& [block, window] : {std::pair(1024, 16), {64, 4}, {1024, 1}}) {
      v1::Shuffle shuffle;
      shuffle.set_mode(v1::SHUFFLE_MODE_BLOCK);
      shuffle.set_block_samples(block);
      shuffle.set_window_blocks(window);
      const EpochOrder order(kSamples, shuffle, /*seed=*/1, /*epoch=*/0);
      for (const uint64_t span : {8, 64, 512}) {
        uint64_t needed = 0, fetched = 0;
        for (uint64_t first = 0; first < kSamples; first += span) {
          std::vector<uint64_t> ids;
          for (uint64_t position = first; position < std::min(first + span, kSamples); ++position)
            ids.push_back(order.SampleAt(position));
          for (const uint64_t id : ids) needed += places.PlaceOf(id, FieldSet::All()).size;
          fetched += PlanReads(places, ids, ~uint64_t{}).bytes;
        }
        EXPECT_LE(static_cast<double>(fetched), 1.1 * static_cast<double>(needed))
            << sample_bytes << " bytes a sample, blocks of " << block << ", " << window << " a window, spans of "
            << span;
      }
    }
  }
}

TEST(ReadPlanTest, WhatIsKeptIsReadByItselfAndItsNeighboursWithoutIt) {
  Places places;
  for (int i = 0; i < 5; ++i) places.Add(0, i * 1000, 1000);
  const ReadPlan plan = PlanReads(places, std::vector<uint64_t>{4, 3, 2, 1, 0}, 1 << 30,
                                  [](const StoredSamples::Place& place) { return place.offset % 2000 == 1000; });
  ASSERT_EQ(plan.reads.size(), 3);
  EXPECT_FALSE(plan.reads[0].kept);
  EXPECT_EQ(plan.reads[0].samples, 3);
  EXPECT_EQ(plan.reads[0].size, 5000);
  for (int i = 1; i < 3; ++i) {
    EXPECT_TRUE(plan.reads[i].kept);
    EXPECT_EQ(plan.reads[i].samples, 1);
    EXPECT_EQ(plan.reads[i].offset, i == 1 ? 3000 : 1000);
    EXPECT_EQ(plan.reads[i].size, 1000);
  }
}

TEST(ReadPlanTest, NoReadOfNeighboursIsAboveItsBound) {
  Places places;
  for (int i = 0; i < 10; ++i) places.Add(0, i * (kMostReadBytes / 2), kMostReadBytes / 2);
  places.Add(0, 10 * (kMostReadBytes / 2), 3 * kMostReadBytes);
  std::vector<uint64_t> ids(11);
  std::iota(ids.begin(), ids.end(), 0);
  const ReadPlan plan = PlanReads(places, ids, ~uint64_t{});
  ASSERT_EQ(plan.reads.size(), 6);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(plan.reads[i].size, kMostReadBytes);
  EXPECT_EQ(plan.reads[5].size, 3 * kMostReadBytes) << "one sample is one read, whatever its size";
}

TEST(ReadPlanTest, ObjectsAreReadApartAndInTheOrderOfNeed) {
  Places places;
  places.Add(0, 0, 10);
  places.Add(1, 0, 10);
  places.Add(0, 10, 10);
  const ReadPlan plan = PlanReads(places, std::vector<uint64_t>{1, 2, 0}, 1 << 30);
  ASSERT_EQ(plan.reads.size(), 2);
  EXPECT_EQ(plan.reads[0].object, 1);
  EXPECT_EQ(plan.reads[1].object, 0);
  EXPECT_EQ(plan.samples[0].read, 1);
  EXPECT_EQ(plan.samples[1].read, 0);
  EXPECT_EQ(plan.samples[2].read, 1);
  EXPECT_EQ(plan.samples[2].offset, 10);
}

TEST(ReadPlanTest, WhatIsNeededLastIsLeftOutWhereTheBytesAreTooMany) {
  Places places;
  for (int i = 0; i < 4; ++i) places.Add(0, 100 * (3 - i), 100);
  EXPECT_THAT(AllOf(PlanReads(places, std::vector<uint64_t>{0, 1, 2, 3}, 250)), testing::ElementsAre(0, 1));
  EXPECT_THAT(AllOf(PlanReads(places, std::vector<uint64_t>{0, 1}, 99)), testing::IsEmpty());
}

TEST(ReadPlanTest, EveryPlaceLiesInItsRead) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    Places places;
    std::vector<uint64_t> ids;
    for (int i = 0; i < 64; ++i)
      ids.push_back(places.Add(random() % 2, random() % (64 * kMostReadBytes), random() % kMostReadBytes));
    for (int i = 0; i < 8; ++i) ids.push_back(ids[random() % 64]);  // some twice
    std::shuffle(ids.begin(), ids.end(), random);
    const ReadPlan plan = PlanReads(places, ids, ~uint64_t{});
    ASSERT_EQ(plan.samples.size(), ids.size());
    uint64_t bytes = 0, samples = 0;
    for (const auto& read : plan.reads) bytes += read.size, samples += read.samples;
    EXPECT_EQ(bytes, plan.bytes);
    EXPECT_EQ(samples, ids.size());
    for (const auto& sample : plan.samples) {
      const auto place = places.PlaceOf(sample.id, FieldSet::All());
      const auto& read = plan.reads[sample.read];
      ASSERT_EQ(read.object, place.object);
      ASSERT_EQ(read.offset + sample.offset, place.offset);
      ASSERT_EQ(sample.size, place.size);
      ASSERT_LE(sample.offset + sample.size, read.size);
    }
  }
}

TEST(ReadPlanTest, WhatIsNotStoredIsLeftOut) {
  class Some final : public StoredSamples {
   public:
    bool Has(uint64_t id, FieldSet) const override { return id % 2 == 0; }
    Place PlaceOf(uint64_t id, FieldSet) const override {
      EXPECT_TRUE(Has(id, FieldSet::All()));
      return {id, 0, 10};
    }
    Store& StoreOf(uint64_t) const override { std::abort(); }
    ObjectInfo ObjectAt(uint64_t) const override { std::abort(); }
    absl::Status Parse(uint64_t, std::span<const uint8_t>, SampleBytes&) const override { std::abort(); }
    absl::Status ReadError(uint64_t, const absl::Status& status) const override { return status; }
  };
  const std::vector<uint64_t> ids = {1, 2, 3, 4, 5};
  const ReadPlan plan = PlanReads(Some(), ids, 1000, nullptr);
  ASSERT_EQ(plan.samples.size(), 2);
  EXPECT_EQ(plan.samples[0].id, 2);
  EXPECT_EQ(plan.samples[1].id, 4);
  EXPECT_EQ(plan.bytes, 20);
}

}  // namespace
}  // namespace stoker
