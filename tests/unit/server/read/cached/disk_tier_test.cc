#include "server/read/cached/disk_tier.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/read/cached/sample_keys.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uint64_t kSample = 1000;

class DiskTierTest : public testing::Test {
 protected:
  DiskTier::Options Options(uint64_t size_bytes = 1 << 20, uint64_t segment_bytes = 1 << 16) {
    return {.path = folder_.path("disk"),
            .size_bytes = size_bytes,
            .segment_bytes = segment_bytes,
            .warn = [this](const std::string& line) { warnings_.push_back(line); },
            .clock = [this] { return now_; }};
  }

  std::unique_ptr<DiskTier> Open(const DiskTier::Options& options) {
    auto tier = DiskTier::Open(options);
    EXPECT_TRUE(tier.ok()) << tier.status();
    if (!tier.ok()) return nullptr;
    (*tier)->ExpectBytes(uint64_t{1} << 30);
    return *std::move(tier);
  }
  std::unique_ptr<DiskTier> Open() { return Open(Options()); }

  static void Put(DiskTier& tier, uint64_t number, uint64_t size = kSample) {
    if (tier.Wants(KeyNumber(number), size)) tier.Write(KeyNumber(number), BytesOf(number, size));
  }

  // Whether the tier has the sample. Any bytes but its own fail the test.
  static bool Hits(DiskTier& tier, uint64_t number, uint64_t size = kSample) {
    std::vector<uint8_t> bytes(size);
    if (!tier.Read(KeyNumber(number), bytes)) return false;
    EXPECT_EQ(bytes, BytesOf(number, size)) << number;
    return true;
  }

  static int CountHits(DiskTier& tier, uint64_t begin, uint64_t end) {
    int hits = 0;
    for (uint64_t i = begin; i < end; ++i) hits += Hits(tier, i) ? 1 : 0;
    return hits;
  }

  std::string Below(const std::string& name) { return folder_.path("disk/stoker-raw-cache/" + name); }

  std::vector<std::string> Files(const std::string& ending) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(Below("")))
      if (entry.path().extension() == ending) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  uint64_t BytesOnDisk() {
    uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(Below(""))) bytes += entry.file_size();
    return bytes;
  }

  TemporaryFolder folder_;
  std::vector<std::string> warnings_;
  std::chrono::steady_clock::time_point now_ = {};
};

TEST_F(DiskTierTest, ReturnsWhatWasWrittenAlsoAfterANewStart) {
  auto tier = Open();
  for (uint64_t i = 0; i < 200; ++i) Put(*tier, i);
  EXPECT_EQ(CountHits(*tier, 0, 300), 200);
  tier = nullptr;
  EXPECT_EQ(Files(".table").size(), Files(".segment").size());
  tier = Open();
  EXPECT_EQ(CountHits(*tier, 0, 300), 200);
  for (uint64_t i = 200; i < 300; ++i) Put(*tier, i);
  EXPECT_EQ(CountHits(*tier, 0, 300), 300);
  EXPECT_EQ(tier->stats().damaged, 0);
}

TEST_F(DiskTierTest, SamplesOfAnySizeUpToASegment) {
  auto tier = Open();
  const std::vector<uint64_t> sizes = {0, 1, 63, 64, 65, 65536 - 16 - 64, 65536 - 16 - 63, 1 << 17};
  for (const uint64_t size : sizes) Put(*tier, size, size);
  for (const uint64_t size : sizes) EXPECT_EQ(Hits(*tier, size, size), size <= 65536 - 80) << size;
}

TEST_F(DiskTierTest, AnotherSizeIsAnotherSample) {
  auto tier = Open();
  Put(*tier, 1);
  std::vector<uint8_t> bytes(kSample - 1);
  EXPECT_FALSE(tier->Read(KeyNumber(1), bytes));
}

TEST_F(DiskTierTest, AKeyThatBeginsAlikeIsAMissAndDamagesNothing) {
  auto tier = Open();
  Put(*tier, 1);
  SampleKey other = KeyNumber(1);
  other[31] ^= 1;
  std::vector<uint8_t> bytes(kSample);
  EXPECT_FALSE(tier->Read(other, bytes));
  EXPECT_TRUE(Hits(*tier, 1));
  EXPECT_EQ(tier->stats().damaged, 0);
}

TEST_F(DiskTierTest, FilesNeverTakeMoreThanTheirBound) {
  auto tier = Open(Options(1 << 19));
  tier->ExpectBytes(0);  // Hence all that was not used just now may go.
  for (uint64_t i = 0; i < 3000; ++i) {
    tier->Ask(kSample);
    Put(*tier, i);
    ASSERT_LE(BytesOnDisk(), 1 << 19);
    ASSERT_EQ(BytesOnDisk() <= tier->stats().bytes, true);
  }
  EXPECT_GT(CountHits(*tier, 2700, 3000), 250) << "what is new replaces what is stale";
  tier = nullptr;
  EXPECT_LE(BytesOnDisk(), 1 << 19);
  tier = Open(Options(1 << 18));
  EXPECT_LE(BytesOnDisk(), 1 << 18) << "a smaller bound holds from the next start on";
  EXPECT_GT(CountHits(*tier, 2700, 3000), 150) << "what is newest stays";
}

TEST_F(DiskTierTest, GivesRoomToOthersAtOnce) {
  constexpr uint64_t kSegment = 1 << 14;
  DiskTier::Options options = Options(1 << 19, kSegment);
  options.others_bytes = 1 << 18;
  auto tier = Open(options);
  const auto put = [&](uint64_t first) {
    tier->ExpectBytes(0);  // Hence all that was not used just now may go.
    for (uint64_t i = first; i < first + 1000; ++i) {
      tier->Ask(kSample);
      Put(*tier, i);
    }
  };
  put(0);
  EXPECT_LE(BytesOnDisk(), 1 << 18);
  EXPECT_GT(BytesOnDisk(), 1 << 17);
  tier->SetOthers((1 << 19) - (1 << 17));
  EXPECT_LE(BytesOnDisk(), 1 << 17);
  EXPECT_GT(CountHits(*tier, 900, 1000), 50) << "what is newest stays";
  tier->SetOthers(1 << 20);
  EXPECT_LE(BytesOnDisk(), kSegment) << "the segment that is written to";
  tier->SetOthers(0);
  put(1000);
  EXPECT_GT(BytesOnDisk(), 1 << 18) << "room that is given back is used";
}

TEST_F(DiskTierTest, ItKeepsNoMoreRecordsThanItsTableHas) {
  DiskTier::Options options = Options();
  options.most_records = 100;
  auto tier = Open(options);
  tier->ExpectBytes(0);
  for (uint64_t i = 0; i < 1000; ++i) {
    tier->Ask(1);
    Put(*tier, i);
    ASSERT_LE(tier->stats().samples, 100);
  }
}

// LRU would find nothing: what is read next was given up just before.
TEST_F(DiskTierTest, EpochsOverASetTwiceAsLargeFindNearlyHalfOfIt) {
  constexpr uint64_t kSamples = 4000;
  auto tier = Open(Options(kSamples / 2 * (kSample + 80)));
  tier->ExpectBytes(kSamples * kSample);
  std::mt19937 random(1);
  std::vector<uint64_t> order(kSamples);
  std::iota(order.begin(), order.end(), 0);
  for (int epoch = 0; epoch < 6; ++epoch) {
    if (epoch > 2) std::shuffle(order.begin(), order.end(), random);
    int hits = 0;
    for (const uint64_t i : order) {
      if (Hits(*tier, i)) {
        ++hits;
      } else {
        tier->Ask(kSample);
        Put(*tier, i);
      }
    }
    EXPECT_GT(hits, epoch == 0 ? -1 : 1650) << epoch;
  }
}

TEST_F(DiskTierTest, FillingKeepsWhatIsUsedAndReplacesTheRest) {
  auto tier = Open(Options(1 << 18));
  for (uint64_t i = 0; i < 500; ++i) Put(*tier, i);
  DiskTier::Options options = Options(1 << 18);
  options.kind = Admission::Kind::kFilling;
  tier = nullptr;
  tier = Open(options);
  std::vector<uint64_t> used;
  for (uint64_t i = 0; i < 60; ++i)
    if (tier->Use(KeyNumber(i))) used.push_back(i);
  EXPECT_FALSE(used.empty());
  for (uint64_t i = 1000; i < 1500; ++i) Put(*tier, i);
  for (const uint64_t i : used) EXPECT_TRUE(Hits(*tier, i)) << i;
  EXPECT_GT(CountHits(*tier, 1000, 1500), 100);
  EXPECT_GT(tier->stats().refused, 0);
  EXPECT_TRUE(Hits(*tier, 1000)) << "what was filled in is not replaced";
}

// What a killed process leaves: files that end anywhere, without the last segment's table.
TEST_F(DiskTierTest, ASegmentTornAtAnyByteGivesRightBytesOrNone) {
  constexpr uint64_t kSmall = 40;
  auto tier = Open();
  for (uint64_t i = 0; i < 3; ++i) Put(*tier, i, kSmall);
  tier = nullptr;
  const std::string segment = Files(".segment")[0], table = Files(".table")[0];
  const std::string whole = folder_.Read(fs::relative(segment, folder_.path()).string());
  ASSERT_EQ(whole.size(), 16 + 3 * (64 + kSmall));
  for (size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    for (const std::string& tail : {std::string(), std::string(12, '\0'), std::string("torn")}) {
      fs::remove_all(Below(""));
      fs::create_directories(Below(""));
      fs::permissions(Below(""), fs::perms::owner_all);
      std::ofstream(segment, std::ios::binary) << whole.substr(0, bytes) << tail;
      const uint64_t records = bytes < 16 ? 0 : (bytes - 16) / (64 + kSmall);
      for (int start = 0; start < 2; ++start) {
        tier = Open();
        for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(Hits(*tier, i, kSmall), i < records) << bytes;
        Put(*tier, 10, kSmall);
        EXPECT_TRUE(Hits(*tier, 10, kSmall));
        tier = nullptr;
      }
    }
  }
}

TEST_F(DiskTierTest, AFlippedByteAnywhereIsAMissAndTheSampleIsKeptAnew) {
  auto tier = Open();
  for (uint64_t i = 0; i < 3; ++i) Put(*tier, i, 40);
  tier = nullptr;
  for (const char* ending : {".segment", ".table"}) {
    const std::string path = Files(ending)[0];
    const std::string whole = folder_.Read(fs::relative(path, folder_.path()).string());
    for (size_t byte = 0; byte < whole.size(); ++byte) {
      std::string flipped = whole;
      flipped[byte] = static_cast<char>(flipped[byte] ^ 0x10);
      std::ofstream(path, std::ios::binary) << flipped;
      tier = Open();
      for (uint64_t i = 0; i < 3; ++i)
        if (!Hits(*tier, i, 40)) {
          Put(*tier, i, 40);
          EXPECT_TRUE(Hits(*tier, i, 40)) << ending << " " << byte;
        }
      tier = nullptr;
      for (const auto& file : Files(".segment"))
        if (file != path) fs::remove(file);
      std::ofstream(path, std::ios::binary) << whole;
    }
  }
}

TEST_F(DiskTierTest, WhatIsDamagedWhileItRunsIsCounted) {
  auto tier = Open();
  Put(*tier, 1);
  {
    std::fstream file(Files(".segment")[0], std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(16 + 64 + 500);
    file.put('!');
    file.put('?');
  }
  EXPECT_FALSE(Hits(*tier, 1));
  EXPECT_EQ(tier->stats().damaged, 1);
  EXPECT_FALSE(tier->Has(KeyNumber(1)));
  Put(*tier, 1);
  EXPECT_TRUE(Hits(*tier, 1));
}

TEST_F(DiskTierTest, ADiskThatIsFullIsToldOnceAndTriedAgainLater) {
  std::signal(SIGXFSZ, SIG_IGN);
  auto tier = Open();
  for (uint64_t i = 0; i < 10; ++i) Put(*tier, i);
  rlimit unlimited;
  getrlimit(RLIMIT_FSIZE, &unlimited);
  const rlimit full = {.rlim_cur = 20000, .rlim_max = unlimited.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  for (uint64_t i = 10; i < 100; ++i) Put(*tier, i);
  EXPECT_TRUE(tier->stats().fails);
  setrlimit(RLIMIT_FSIZE, &unlimited);
  EXPECT_EQ(warnings_.size(), 1);
  EXPECT_THAT(warnings_[0], HasSubstr("takes nothing now: File too large"));
  const int kept = CountHits(*tier, 0, 100);
  EXPECT_GE(kept, 15) << "what was written before is there";
  Put(*tier, 200);
  EXPECT_FALSE(Hits(*tier, 200)) << "a minute has not passed";
  now_ += std::chrono::seconds(61);
  Put(*tier, 200);
  EXPECT_TRUE(Hits(*tier, 200));
  tier = nullptr;
  tier = Open();
  EXPECT_EQ(CountHits(*tier, 0, 100), kept);
  EXPECT_EQ(warnings_.size(), 1);
}

TEST_F(DiskTierTest, GoesOnWhereTheFolderIsDeleted) {
  auto tier = Open();
  for (uint64_t i = 0; i < 100; ++i) Put(*tier, i);
  fs::remove_all(folder_.path("disk"));
  int again = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    if (Hits(*tier, i)) continue;
    ++again;
    Put(*tier, i);
  }
  EXPECT_GT(again, 0);
  for (uint64_t i = 0; i < 100; ++i)
    if (!Hits(*tier, i)) Put(*tier, i);
  EXPECT_EQ(CountHits(*tier, 0, 100), 100);
  EXPECT_TRUE(warnings_.empty());
  EXPECT_GT(BytesOnDisk(), 100 * kSample);
  tier = nullptr;
  tier = Open();
  EXPECT_EQ(CountHits(*tier, 0, 100), 100);
}

TEST_F(DiskTierTest, GoesOnWhereAFileStandsForTheFolder) {
  auto tier = Open();
  Put(*tier, 1);
  fs::remove_all(folder_.path("disk"));
  folder_.Write("disk", "no folder");
  Put(*tier, 2);
  EXPECT_FALSE(Hits(*tier, 2));
  ASSERT_EQ(warnings_.size(), 1);
  EXPECT_THAT(warnings_[0], HasSubstr("takes nothing now"));
}

TEST_F(DiskTierTest, OneProcessHasTheFolderToItself) {
  auto tier = Open();
  const auto second = DiskTier::Open(Options());
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status()));
  EXPECT_THAT(second.status().message(),
              testing::AllOf(HasSubstr("another stokerd uses it"), HasSubstr("a raw_cache.disk.path of its own")));
  tier = nullptr;
  EXPECT_TRUE(DiskTier::Open(Options()).ok());
}

TEST_F(DiskTierTest, AFolderThatOthersMayWriteIsNotUsed) {
  fs::create_directories(Below(""));
  fs::permissions(Below(""), fs::perms::all);
  EXPECT_TRUE(absl::IsPermissionDenied(DiskTier::Open(Options()).status()));
  fs::remove_all(Below(""));
  fs::create_directories(folder_.path("elsewhere"));
  fs::create_directories(folder_.path("disk"));
  fs::create_directory_symlink(folder_.path("elsewhere"), folder_.path("disk/stoker-raw-cache"));
  EXPECT_FALSE(DiskTier::Open(Options()).ok()) << "a link may lead anywhere";
}

TEST_F(DiskTierTest, OthersMayNotReadWhatItKeeps) {
  auto tier = Open();
  Put(*tier, 1);
  struct stat status;
  ASSERT_EQ(stat(Below("").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700);
}

TEST_F(DiskTierTest, APathThatCannotBeMadeIsUnavailable) {
  DiskTier::Options options = Options();
  options.path = "/proc/stoker";
  EXPECT_TRUE(absl::IsUnavailable(DiskTier::Open(options).status()));
}

TEST_F(DiskTierTest, ManySegmentsAreReadThroughFewOpenFiles) {
  auto tier = Open(Options(1 << 20, 2000));
  for (uint64_t i = 0; i < 400; ++i) Put(*tier, i);
  ASSERT_GT(Files(".segment").size(), 2 * DiskTier::kMostOpenFiles);
  EXPECT_EQ(CountHits(*tier, 0, 400), 400);
  const auto open = std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  EXPECT_LT(open, DiskTier::kMostOpenFiles + 50);
}

TEST_F(DiskTierTest, ReadersAndTheWriterGetTheBytesOfTheirKeys) {
  auto tier = Open(Options(1 << 18, 1 << 14));
  tier->ExpectBytes(100 * kSample);
  std::atomic<bool> stop = false;
  std::atomic<int> hits = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&, i] {
      std::mt19937 random(i);
      while (!stop)
        if (Hits(*tier, random() % 600)) ++hits;
    });
  for (uint64_t i = 0; i < 600 || hits < 1000; ++i) {
    tier->Ask(kSample);
    Put(*tier, i % 600);
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(tier->stats().damaged, 0);
}

// A process that writes and evicts all the time is killed anywhere, again and again.
TEST_F(DiskTierTest, AKilledProcessLeavesRightBytesOrNone) {
  const DiskTier::Options options = Options(1 << 18, 1 << 14);
  std::mt19937 random(7);
  int hits = 0;
  for (int round = 0; round < 30; ++round) {
    int told[2];
    ASSERT_EQ(pipe(told), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto tier = DiskTier::Open(options);
      if (!tier.ok()) _exit(1);
      for (uint64_t i = round * 37;; ++i) {
        (*tier)->Ask(kSample);
        Put(**tier, i % 1000, 500 + i % 1000);
        if (write(told[1], "x", 1) != 1) _exit(1);
      }
    }
    close(told[1]);
    const int writes = 1 + static_cast<int>(random() % 400);
    char byte;
    for (int i = 0; i < writes; ++i) ASSERT_EQ(read(told[0], &byte, 1), 1);
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    close(told[0]);
    auto tier = Open(options);
    for (uint64_t i = 0; i < 1000; ++i) hits += Hits(*tier, i, 500 + i % 1000) ? 1 : 0;
    EXPECT_EQ(tier->stats().damaged, 0);
    EXPECT_LE(BytesOnDisk(), 1 << 18);
  }
  EXPECT_GT(hits, 1000);
}

}  // namespace
}  // namespace stoker
