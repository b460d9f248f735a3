#include "server/read/content/content_dataset.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/held_store.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

// What the fake datasets below read: samples of an image and a label.
struct Disk {
  std::vector<SampleBytes> samples;
  std::atomic<int> reads = 0;
  std::set<uint64_t> failing;
};

class FakeDataset : public Dataset {
 public:
  explicit FakeDataset(Disk* disk) : disk_(disk) {}

  uint64_t size() const override { return disk_->samples.size(); }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return 0; }
  std::string description() const override { return "fake"; }
  std::string SampleName(uint64_t id) const override { return "fake/" + std::to_string(id); }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override {
    ++disk_->reads;
    sample = disk_->samples[id];
    return disk_->failing.contains(id) ? absl::UnavailableError("EIO") : absl::OkStatus();
  }

 private:
  Disk* const disk_;
  const SourceSchema schema_ = {{.name = "image", .kind = SourceField::Kind::kEncodedImage}, {.name = "label"}};
  const std::string fingerprint_ = std::string(32, 'f');
};

class ContentDatasetTest : public testing::Test {
 protected:
  void SetUp() override {
    cache_ = testing::TempDir() + "content-" + std::to_string(getpid());
    fs::remove_all(cache_);
    for (uint8_t id = 0; id < 200; ++id)
      disk_.samples.push_back({.fields = {std::vector<uint8_t>(100 + id, id), std::vector<uint8_t>{id}}});
  }
  void TearDown() override { fs::remove_all(cache_); }

  std::unique_ptr<ContentDataset> Open() {
    auto opened = ContentDataset::Open(std::make_unique<FakeDataset>(&disk_),
                                       {.name = "photos", .cache_dir = cache_, .threads = 4});
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }

  // The one file in the cache folder.
  fs::path File() const {
    const fs::directory_iterator files(cache_);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
    return fs::directory_iterator(cache_)->path();
  }

  std::string cache_;
  Disk disk_;
};

TEST_F(ContentDatasetTest, BytesThatWereReadAheadAreComparedToo) {
  auto slow = std::make_unique<HeldDataset>(10, 100, 0);
  const HeldDataset& below = *slow;
  const auto known = *ContentDataset::Open(std::move(slow), {.name = "slow"});
  ASSERT_NE(known->stored(), nullptr);
  const StoredSamples& stored = *known->stored();
  EXPECT_EQ(&stored.StoreOf(stored.PlaceOf(3, FieldSet::All()).object), &below.store());
  EXPECT_EQ(stored.PlaceOf(3, FieldSet::All()).offset, 300);
  SampleBytes sample;
  const std::vector<uint8_t> right = {HeldDataset::FieldOf(below, 3)}, wrong = {static_cast<uint8_t>(right[0] + 1)};
  EXPECT_TRUE(stored.Parse(3, right, sample).ok());
  sample.wanted = FieldSet();
  EXPECT_TRUE(stored.Parse(3, right, sample).ok()) << "all is compared, whatever is wanted";
  EXPECT_EQ(sample.wanted, FieldSet());
  const absl::Status status = stored.Parse(3, wrong, sample);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("changed since it was indexed"));
  EXPECT_THAT(stored.ReadError(3, absl::UnavailableError("reset")).message(), HasSubstr("reset"));
  EXPECT_EQ(Open()->stored(), nullptr) << "what is not slow below is not slow";
}

TEST_F(ContentDatasetTest, EqualBytesHaveEqualContentAndOthersDoNot) {
  const std::string content = Open()->content();
  EXPECT_EQ(content.size(), 32u);
  fs::remove_all(cache_);
  EXPECT_EQ(Open()->content(), content);
  fs::remove_all(cache_);
  disk_.samples[150].fields[0][7] ^= 1;
  EXPECT_NE(Open()->content(), content);
}

TEST_F(ContentDatasetTest, ContentIsWhatItsHeaderSays) {
  const std::vector<SampleHashes> none;
  EXPECT_NE(ContentOf(none), ContentOf({HashesOf(disk_.samples[0])}));
  SampleBytes moved = disk_.samples[0];  // A byte goes from one field to the next.
  moved.fields[1].insert(moved.fields[1].begin(), moved.fields[0].back());
  moved.fields[0].pop_back();
  EXPECT_NE(HashesOf(moved).digest, HashesOf(disk_.samples[0]).digest);
  EXPECT_NE(HashesOf(moved).quick, HashesOf(disk_.samples[0]).quick);
}

TEST_F(ContentDatasetTest, AllBytesAreReadOnce) {
  const std::string content = Open()->content();
  EXPECT_EQ(disk_.reads, 200);
  const auto again = Open();
  EXPECT_EQ(disk_.reads, 200);
  EXPECT_EQ(again->content(), content);
  EXPECT_THAT(again->warnings(), IsEmpty());
  SampleBytes sample;
  EXPECT_TRUE(again->Read(3, sample).ok());
}

TEST_F(ContentDatasetTest, ASampleWhoseBytesChangedIsTheMachinesFaultAndNamed) {
  Open();
  disk_.samples[7].fields[0][50] ^= 0x40;
  const auto dataset = Open();  // It is opened again, as a restart does.
  SampleBytes sample;
  EXPECT_TRUE(dataset->Read(6, sample).ok());
  const absl::Status status = dataset->Read(7, sample);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("photos: fake/7: changed since it was indexed"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(File().string()));
}

TEST_F(ContentDatasetTest, WhatCannotBeReadIsNotIndexed) {
  disk_.failing.insert(9);
  const auto opened = ContentDataset::Open(std::make_unique<FakeDataset>(&disk_), {.cache_dir = cache_});
  EXPECT_TRUE(absl::IsUnavailable(opened.status())) << opened.status();
  EXPECT_FALSE(fs::exists(cache_));
}

TEST_F(ContentDatasetTest, ADamagedFileOfHashesIsMadeAnew) {
  const std::string content = Open()->content();
  {
    std::fstream file(File(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(500);
    file.put('x');
  }
  const auto dataset = Open();
  EXPECT_EQ(dataset->content(), content);
  ASSERT_EQ(dataset->warnings().size(), 1);
  EXPECT_THAT(dataset->warnings()[0], HasSubstr("it is damaged"));
  fs::resize_file(File(), 100);
  EXPECT_EQ(Open()->content(), content);
  EXPECT_THAT(Open()->warnings(), IsEmpty());
}

TEST_F(ContentDatasetTest, AFileOfHashesThatOthersMayWriteIsNotTrusted) {
  Open();
  ASSERT_EQ(chmod(File().c_str(), 0664), 0);
  disk_.reads = 0;
  const auto dataset = Open();
  EXPECT_EQ(disk_.reads, 200);
  ASSERT_EQ(dataset->warnings().size(), 1);
  EXPECT_THAT(dataset->warnings()[0], HasSubstr("others may write to it"));
}

TEST_F(ContentDatasetTest, ProgressIsTold) {
  uint64_t told = 0;
  const auto opened = ContentDataset::Open(std::make_unique<FakeDataset>(&disk_),
                                           {.threads = 1, .progress = [&](uint64_t samples) { told = samples; }});
  EXPECT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(told, 192);
}

}  // namespace
}  // namespace stoker
