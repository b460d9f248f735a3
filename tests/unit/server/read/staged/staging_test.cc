#include "server/read/staged/staging.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/staged/staged_store.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"
#include "tests/unit/server/read/formats/stored_folder/fake_bucket.h"
#include "tests/unit/server/read/staged/compressed.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Calls a function before each read, and counts them.
class WatchedBucket final : public Store {
 public:
  std::string description() const override { return bucket.description(); }
  bool is_remote() const override { return true; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) override { return bucket.List(listing); }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override {
    return bucket.Describe(names);
  }
  void Read(const Range& range, Done done) override {
    ++reads;
    before();
    bucket.Read(range, std::move(done));
  }

  FakeBucket bucket;
  std::atomic<int> reads = 0;
  std::function<void()> before = [] {};
};

class StagingTest : public testing::Test {
 protected:
  StagingTest() {
    for (int i = 0; i < 200'000; ++i) plain_ += static_cast<char>(i % 251);
    Put("a.tar.gz", Gzipped(plain_));
    Put("b.tar.zst", Zstandard("b"));
  }

  void Put(const std::string& name, const std::string& bytes, const std::string& version = "1") {
    store_->bucket.objects[name] = {bytes, version};
  }

  std::shared_ptr<Staging> Open(uint64_t size_bytes = uint64_t{1} << 30) {
    auto opened = Staging::Open({.path = folder_.path("staged"), .size_bytes = size_bytes, .threads = 2});
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }

  Staging::Compressed Compressed(const std::string& name) {
    return {store_->Describe({name}).value()[0], *CompressionOf(name)};
  }

  // The files in the folder.
  std::vector<fs::path> Files() const {
    return {fs::directory_iterator(folder_.path("staged")), fs::directory_iterator()};
  }

  static std::string ReadAll(Store& store, const ObjectInfo& object) {
    std::string bytes(object.size, '\0');
    const absl::Status read = ReadNow(store, {&object, 0, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}});
    return read.ok() ? bytes : std::string(read.message());
  }

  TemporaryFolder folder_;
  std::shared_ptr<WatchedBucket> store_ = std::make_shared<WatchedBucket>();
  std::string plain_;
};

TEST_F(StagingTest, TellsWhatItTakesBeforeItIsWritten) {
  std::vector<uint64_t> told;
  const auto open = [&] {
    return *Staging::Open(
        {.path = folder_.path("staged"), .size_bytes = uint64_t{1} << 30, .threads = 1, .on_room = [&](uint64_t bytes) {
           uint64_t written = 0;
           for (const fs::path& file : Files()) written += fs::file_size(file);
           EXPECT_LE(written, std::max(bytes, told.empty() ? 0 : told.back()));
           told.push_back(bytes);
         }});
  };
  {
    const auto staging = open();
    EXPECT_EQ(told, std::vector<uint64_t>{0});
    ASSERT_TRUE(staging->Stage(*store_, {Compressed("a.tar.gz")}).ok());
    ASSERT_GE(told.size(), 3);
    EXPECT_GE(told[1], plain_.size());
    EXPECT_EQ(told.back(), staging->bytes());
    EXPECT_GE(told.back(), plain_.size());
  }
  told.clear();
  const auto staging = open();
  EXPECT_EQ(told, std::vector<uint64_t>{Staging::BytesIn(folder_.path("staged"))}) << "what is there is told at once";
}

TEST_F(StagingTest, IsDoneOnceForAllStarts) {
  for (int start = 0; start < 2; ++start) {
    const auto staging = Open();
    const auto files = staging->Stage(*store_, {Compressed("a.tar.gz"), Compressed("b.tar.zst")});
    ASSERT_TRUE(files.ok()) << files.status();
    ASSERT_EQ(files->at(0)->size(), plain_.size());
    ASSERT_EQ(files->at(1)->size(), 1);
    std::string part(100'000, '\0');
    ASSERT_TRUE(files->at(0)->Read(65'000, {reinterpret_cast<uint8_t*>(part.data()), part.size()}).ok());
    EXPECT_EQ(part, plain_.substr(65'000, part.size()));
    EXPECT_EQ(store_->reads, 2);
    EXPECT_EQ(Files().size(), 2) << "no lock, nothing half";
    EXPECT_GE(staging->bytes(), plain_.size());
  }
}

TEST_F(StagingTest, AnotherVersionIsAnotherFile) {
  const auto staging = Open();
  ASSERT_TRUE(staging->Stage(*store_, {Compressed("a.tar.gz")}).ok());
  Put("a.tar.gz", Gzipped("other"), "2");
  const auto files = staging->Stage(*store_, {Compressed("a.tar.gz")});
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->at(0)->size(), 5);
}

TEST_F(StagingTest, AStoreGivesPlainObjects) {
  Put("c.tar", "plain");
  StagedStore staged(store_, Open());
  const auto objects = staged.Stage(store_->List({}).value(), false);
  ASSERT_TRUE(objects.ok()) << objects.status();
  ASSERT_EQ(objects->size(), 3);
  EXPECT_EQ(objects->at(0).name, "a.tar");
  EXPECT_EQ(objects->at(0).size, plain_.size());
  EXPECT_EQ(ReadAll(staged, objects->at(0)), plain_);
  EXPECT_EQ(ReadAll(staged, objects->at(1)), "b");
  EXPECT_EQ(ReadAll(staged, objects->at(2)), "plain");
  EXPECT_FALSE(staged.is_remote());
  Put("b.tar", "plain");
  EXPECT_THAT(StagedStore(store_, Open()).Stage(store_->List({}).value(), false).status().message(),
              HasSubstr("b.tar: is there twice"));
}

TEST_F(StagingTest, WithoutAFolderItSaysHowMuchIsNeeded) {
  StagedStore staged(store_, nullptr);
  const absl::Status refused = staged.Stage(store_->List({}).value(), false).status();
  EXPECT_TRUE(absl::IsUnimplemented(refused));
  const size_t bytes =
      store_->bucket.objects["a.tar.gz"].bytes.size() + store_->bucket.objects["b.tar.zst"].bytes.size();
  EXPECT_THAT(refused.message(), HasSubstr(absl::StrCat("2 shards of ", bytes, " bytes")));
  EXPECT_THAT(refused.message(), HasSubstr("raw_cache: {disk:"));
}

TEST_F(StagingTest, WhatHasToBeLocalIsCopied) {
  Put("c.h5", plain_);
  StagedStore staged(store_, Open());
  const auto objects = staged.StageWhole(store_->Describe({"a.tar.gz", "c.h5"}).value());
  ASSERT_TRUE(objects.ok()) << objects.status();
  ASSERT_EQ(objects->size(), 2);
  EXPECT_FALSE(staged.is_remote());
  const int reads = store_->reads;
  EXPECT_EQ((*objects)[1].name, "c.h5");
  EXPECT_EQ(ReadAll(staged, (*objects)[0]), plain_);
  EXPECT_EQ(ReadAll(staged, (*objects)[1]), plain_);
  EXPECT_EQ(store_->reads, reads);
  StagedStore none(store_, nullptr);
  EXPECT_THAT(none.StageWhole(store_->Describe({"c.h5"}).value()).status().message(),
              HasSubstr("c.h5: is read by many small reads, for which it has to be local, as are 1 files of 200000"));
}

TEST_F(StagingTest, DamageOnTheDiskIsMadeGood) {
  StagedStore staged(store_, Open());
  const auto objects = staged.Stage({Compressed("a.tar.gz").object}, false);
  ASSERT_TRUE(objects.ok());
  for (const uint64_t at : {uint64_t{0}, uint64_t{199'999}, uint64_t{200'001}}) {
    std::fstream file(Files()[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put('\xff');
    file.close();
    EXPECT_EQ(ReadAll(staged, objects->at(0)), plain_) << at;
  }
  EXPECT_EQ(store_->reads, 1 + 3);
}

TEST_F(StagingTest, AFileThatIsCutOrFlippedIsNotOpened) {
  ASSERT_TRUE(Open()->Stage(*store_, {Compressed("b.tar.zst")}).ok());
  const fs::path path = Files()[0];
  const std::string whole = folder_.Read("staged/" + path.filename().string());
  const std::string key = absl::HexStringToBytes(path.filename().string());
  ASSERT_TRUE(StagedFile::Open(path, key).ok());
  EXPECT_TRUE(absl::IsDataLoss(StagedFile::Open(path, std::string(32, 'k')).status()));
  for (size_t i = 0; i < whole.size(); ++i) {
    folder_.Write("staged/cut", whole.substr(0, i));
    EXPECT_FALSE(StagedFile::Open(folder_.path("staged/cut"), key).ok()) << i;
    if (i == 0) continue;  // the plain byte, which each read checks
    std::string flipped = whole;
    flipped[i] ^= 1;
    folder_.Write("staged/cut", flipped);
    EXPECT_FALSE(StagedFile::Open(folder_.path("staged/cut"), key).ok()) << i;
  }
}

TEST_F(StagingTest, TheFolderMayBeDeletedAtAnyTime) {
  StagedStore staged(store_, Open());
  const auto objects = staged.Stage({Compressed("a.tar.gz").object}, false);
  fs::remove_all(folder_.path("staged"));
  EXPECT_EQ(ReadAll(staged, objects->at(0)), plain_);
  EXPECT_TRUE(staged.Stage({Compressed("b.tar.zst").object}, false).ok());
}

TEST_F(StagingTest, BombsAreRefused) {
  std::string bomb;
  for (int i = 0; i < 200; ++i) bomb += Zstandard(std::string(1 << 20, '\0'));
  Put("bomb.tar.zst", bomb);
  const auto ratio = Open()->Stage(*store_, {Compressed("bomb.tar.zst")});
  EXPECT_TRUE(absl::IsResourceExhausted(ratio.status()));
  EXPECT_THAT(ratio.status().message(), testing::AllOf(HasSubstr("bomb.tar.zst"), HasSubstr("made to fill disks")));
  const auto size = Open(uint64_t{40} << 20)->Stage(*store_, {Compressed("bomb.tar.zst")});
  EXPECT_TRUE(absl::IsResourceExhausted(size.status()));
  EXPECT_THAT(size.status().message(), HasSubstr("raw_cache.disk.size"));
  EXPECT_TRUE(Files().empty());
}

TEST_F(StagingTest, WhatNobodyUsesMakesRoom) {
  constexpr uint64_t kRoomForOne = uint64_t{20} << 20;
  Put("x.gz", Gzipped(std::string(6 << 20, 'x')));
  Put("y.gz", Gzipped(std::string(6 << 20, 'y')));
  const auto staging = Open(kRoomForOne);
  {
    const auto used = staging->Stage(*store_, {Compressed("x.gz")});
    ASSERT_TRUE(used.ok()) << used.status();
    EXPECT_TRUE(absl::IsResourceExhausted(staging->Stage(*store_, {Compressed("y.gz")}).status()));
  }
  EXPECT_TRUE(staging->Stage(*store_, {Compressed("y.gz")}).ok());
  EXPECT_EQ(Files().size(), 1);
  EXPECT_TRUE(absl::IsResourceExhausted(Open(10)->Stage(*store_, {Compressed("x.gz")}).status()));
}

TEST_F(StagingTest, ErrorsNameTheObjectAndLeaveNothing) {
  Put("cut.gz", Gzipped(plain_).substr(0, 100));
  const auto cut = Open()->Stage(*store_, {Compressed("cut.gz")});
  EXPECT_TRUE(absl::IsDataLoss(cut.status()));
  EXPECT_THAT(cut.status().message(), HasSubstr("cut.gz: cannot be decompressed: it ends early"));
  const auto object = Compressed("a.tar.gz");
  Put("a.tar.gz", Gzipped("other"), "2");
  EXPECT_TRUE(absl::IsFailedPrecondition(Open()->Stage(*store_, {object}).status()));
  EXPECT_TRUE(Files().empty());
}

TEST_F(StagingTest, ADiskThatTakesNoMoreIsAnErrorAndLeavesNothing) {
  const auto object = Compressed("a.tar.gz");
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {70'000, 70'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const absl::Status staged = Open()->Stage(*store_, {object}).status();
    _exit(absl::IsUnavailable(staged) && Files().empty() ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(StagingTest, AKilledProcessLeavesNothingInTheWay) {
  Put("long.gz", [] {
    std::string random;
    for (uint32_t i = 0; i < 6 << 20; ++i) random += static_cast<char>((i * 2654435761u) >> 24 ^ i >> 13);
    return Gzipped(random);
  }());
  const auto object = Compressed("long.gz");
  for (int kill_at = 1; kill_at <= 2; ++kill_at) {
    const pid_t child = fork();
    if (child == 0) {
      store_->before = [&] {
        if (store_->reads == kill_at) kill(getpid(), SIGKILL);
      };
      (void)Open()->Stage(*store_, {object});
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status)) break;  // It has fewer reads.
    EXPECT_FALSE(Files().empty()) << "a file that is not whole";
    const auto staging = Open();
    EXPECT_TRUE(Files().empty());
    const auto files = staging->Stage(*store_, {object});
    ASSERT_TRUE(files.ok()) << files.status();
    fs::remove_all(folder_.path("staged"));
  }
}

TEST_F(StagingTest, TwoProcessesMakeAFileOnce) {
  const auto object = Compressed("a.tar.gz");
  // The child takes the lock, and goes on when the parent has begun to wait for it, or later: which of both has no say
  // in the result.
  int begun[2], go_on[2];
  ASSERT_EQ(pipe(begun), 0);
  ASSERT_EQ(pipe(go_on), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    store_->before = [&] {
      STOKER_CHECK(write(begun[1], "x", 1) == 1);
      STOKER_CHECK(read(go_on[0], &byte, 1) == 1);
    };
    _exit(Open()->Stage(*store_, {object}).ok() ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(read(begun[0], &byte, 1), 1);
  std::thread other([&] { ASSERT_EQ(write(go_on[1], "x", 1), 1); });
  const auto files = Open()->Stage(*store_, {object});
  other.join();
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->at(0)->size(), plain_.size());
  EXPECT_EQ(store_->reads, 0) << "the other one read it";
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Files().size(), 1);
  for (const int end : {begun[0], begun[1], go_on[0], go_on[1]}) close(end);
}

}  // namespace
}  // namespace stoker
