// Shards that prepare writes: their samples, and what becomes of them when runs are stopped and sources grow.

#include "server/prepare/shards.h"

#include <sys/resource.h>

#include <atomic>
#include <csignal>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/registry/open_dataset.h"
#include "tests/unit/server/prepare/prepare_fixture.h"

namespace stoker {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Key;
using testing::Not;

class ShardsTest : public PrepareTest, public testing::WithParamInterface<PreparedFormat> {
 protected:
  PrepareOptions Shards(PrepareOptions options, uint64_t shard_bytes = 6000) const {
    options.format = GetParam();
    options.shard_bytes = shard_bytes;
    return options;
  }

  absl::StatusOr<OpenedDataset> OpenShards() const {
    v1::DatasetConfig config;
    config.set_data(folder_.path("out"));
    return OpenDataset(config, {});
  }

  // Without what says which run wrote it.
  std::map<std::string, std::string> ShardContent() const {
    auto content = Content("out");
    content.erase("prepared.yaml");
    return content;
  }

  static std::string ShardName(int number) {
    return GetParam() == PreparedFormat::kMds ? "shard.0000" + std::to_string(number) + ".mds"
                                              : "shard-00000" + std::to_string(number) + ".tar";
  }
};

INSTANTIATE_TEST_SUITE_P(Formats, ShardsTest, testing::Values(PreparedFormat::kWebDataset, PreparedFormat::kMds),
                         [](const auto& info) {
                           return info.param == PreparedFormat::kMds ? std::string("Mds") : std::string("WebDataset");
                         });

TEST_P(ShardsTest, HaveTheSamplesOfThePreparedFolder) {
  for (const PrepareOptions& options : {Lossless(), ShortSide(32)}) {
    std::filesystem::remove_all(folder_.path("out"));
    Prepared(options);
    const auto folder = Open("out");
    ASSERT_TRUE(folder.ok()) << folder.status();
    std::filesystem::rename(folder_.path("out"), folder_.path("folder-" + std::to_string(options.mode.mode_case())));
    const PrepareReport report = Prepared(Shards(options));
    EXPECT_EQ(report.progress.made, 12);
    EXPECT_GT(report.shards, 1);
    ASSERT_EQ(report.problems.size(), 1);
    EXPECT_EQ(report.problems[0].file, "c/damaged.jpeg");
    const auto shards = OpenShards();
    ASSERT_TRUE(shards.ok()) << shards.status();
    EXPECT_THAT(shards->warnings, IsEmpty());
    ASSERT_EQ(shards->dataset->size(), 12);
    SampleBytes wanted, got;
    for (uint64_t id = 0; id < 12; ++id) {
      ASSERT_EQ((*folder)->Read(id, wanted), absl::OkStatus());
      ASSERT_EQ(shards->dataset->Read(id, got), absl::OkStatus());
      EXPECT_EQ(got.fields, wanted.fields) << id;
    }
    EXPECT_EQ(folder_.Read("out/classes.txt"), "a\nb\nc\n");
    EXPECT_TRUE(Prepared(Shards(options)).was_complete);
  }
}

TEST_P(ShardsTest, PixelsOfAPipelineSayWhichOpsWereRun) {
  Prepared(Pipeline());
  const auto folder = Open("out");
  ASSERT_TRUE(folder.ok()) << folder.status();
  std::filesystem::rename(folder_.path("out"), folder_.path("folder"));
  Prepared(Shards(Pipeline()));
  const auto shards = OpenShards();
  ASSERT_TRUE(shards.ok()) << shards.status();
  const SourceField &wanted_field = (*folder)->schema()[0], &field = shards->dataset->schema()[0];
  ASSERT_EQ(field.prepared.size(), wanted_field.prepared.size());
  for (size_t i = 0; i < field.prepared.size(); ++i)
    EXPECT_EQ(field.prepared[i].SerializeAsString(), wanted_field.prepared[i].SerializeAsString());
  EXPECT_EQ(field.prepared_settings.SerializeAsString(), wanted_field.prepared_settings.SerializeAsString());
  SampleBytes wanted, got;
  for (uint64_t id = 0; id < 12; ++id) {
    ASSERT_EQ((*folder)->Read(id, wanted), absl::OkStatus());
    ASSERT_EQ(shards->dataset->Read(id, got), absl::OkStatus());
    EXPECT_EQ(got.fields, wanted.fields) << id;
  }
  // Pixels of other images in files of the same sizes are another dataset.
  const std::string fingerprint = shards->dataset->fingerprint();
  folder_.Write("in/a/sub/0.jpg", Text(MakeJpeg(AllJpegKinds()[0], {40, 64}, 99)));
  PrepareOptions anew = Shards(Pipeline());
  anew.overwrite = true;
  Prepared(anew);
  const auto others = OpenShards();
  ASSERT_TRUE(others.ok()) << others.status();
  EXPECT_NE(others->dataset->fingerprint(), fingerprint);
}

TEST_P(ShardsTest, AreServedWhenTheyAreComplete) {
  std::atomic<bool> stop = false;
  PrepareOptions options = Shards(Lossless());
  Prepared(options);
  folder_.Write("in/c/one more.jpg", Text(MakeJpeg({}, {30, 30}, 77)));
  options.stop = &stop;
  options.progress = [&](const PrepareProgress&) { stop = true; };
  EXPECT_TRUE(Prepared(options).stopped);
  EXPECT_THAT(std::string(OpenShards().status().message()), HasSubstr("was not prepared to its end"));
}

TEST_P(ShardsTest, NoShardIsLargerThanAsked) {
  Prepared(Shards(Lossless(), 9000));
  const auto content = Content("out");
  EXPECT_THAT(content, Contains(Key(ShardName(1))));
  for (const auto& [name, bytes] : content) EXPECT_LE(bytes.size(), 9000) << name;
  std::filesystem::remove_all(folder_.path("out"));
  EXPECT_EQ(Prepared(Shards(Lossless(), 1)).shards, 12);  // A sample that is larger has a shard of its own.
}

TEST_P(ShardsTest, BytesDependNeitherOnWorkersNorOnStops) {
  PrepareOptions options = Shards(Lossless());
  options.workers = 1;
  Prepared(options);
  const auto wanted = ShardContent();
  std::filesystem::remove_all(folder_.path("out"));
  options.workers = 5;
  Prepared(options);
  EXPECT_EQ(ShardContent(), wanted);

  std::filesystem::remove_all(folder_.path("out"));
  for (int made = 1; made < 12; made += 3) {
    std::atomic<bool> stop = false;
    PrepareOptions stopped = options;
    stopped.stop = &stop;
    stopped.progress = [&](const PrepareProgress& progress) { stop = progress.made >= static_cast<uint64_t>(made); };
    const PrepareReport report = Prepared(stopped);
    if (!report.stopped) break;
    folder_.Write("out/" + ShardName(7) + ".0123456789abcdef.tmp", "what a killed run left");
  }
  Prepared(options);
  EXPECT_EQ(ShardContent(), wanted);
}

// A run that was killed after a shard was put there and before the ledger said so writes it again.
TEST_P(ShardsTest, AShardThatTheLedgerLacksIsWrittenAgain) {
  Prepared(Shards(Lossless()));
  const auto wanted = ShardContent();
  std::string ledger = folder_.Read("out/prepared.shards");
  folder_.Write("out/prepared.shards", ledger.substr(0, ledger.size() - 1));
  const PrepareReport report = Prepared(Shards(Lossless()));
  EXPECT_FALSE(report.was_complete);
  EXPECT_LT(report.progress.made, 12);
  EXPECT_GT(report.progress.made, 0);
  EXPECT_EQ(ShardContent(), wanted);
}

TEST_P(ShardsTest, WhatASourceGotSinceGoesIntoNewShards) {
  const uint64_t before = Prepared(Shards(Lossless())).shards;
  auto held = ShardContent();
  const auto times = Times("out");
  for (const char* changing : {"prepared.shards", "index.json", "classes.txt"}) held.erase(changing);
  folder_.Write("in/a/new.jpg", Text(MakeJpeg({}, {30, 30}, 77)));
  folder_.Write("in/d/first of its class.jpg", Text(MakeJpeg({}, {31, 30}, 78)));
  const PrepareReport grown = Prepared(Shards(Lossless()));
  EXPECT_EQ(grown.progress.made, 2);
  EXPECT_EQ(grown.progress.files, 14);
  EXPECT_GT(grown.shards, before);
  EXPECT_THAT(ShardContent(), IsSupersetOf(held));
  for (const auto& [name, bytes] : held)
    EXPECT_EQ(Times("out").at(folder_.path("out/" + name)), times.at(folder_.path("out/" + name))) << name;
  EXPECT_EQ(folder_.Read("out/classes.txt"), "a\nb\nc\nd\n");
  const auto shards = OpenShards();
  ASSERT_TRUE(shards.ok()) << shards.status();
  ASSERT_EQ(shards->dataset->size(), 14);
  SampleBytes sample;
  for (const auto& [id, label] : {std::pair(12, 0), std::pair(13, 3)}) {
    ASSERT_EQ(shards->dataset->Read(id, sample), absl::OkStatus());
    EXPECT_EQ(WholeNumberAt(sample.fields[1].data(), v1::DTYPE_INT64, 0), label);
  }
  EXPECT_TRUE(Prepared(Shards(Lossless())).was_complete);
}

TEST_P(ShardsTest, WhatIsInShardsMayNotChange) {
  Prepared(Shards(Lossless()));
  const auto held = Content("out");
  const std::string picture = folder_.Read("in/c/b.webp");
  folder_.Write("in/c/b.webp", picture + "!");
  EXPECT_THAT(Refusal(Shards(Lossless())), HasSubstr("hold 'c/b.webp', which --data has with another size"));
  std::filesystem::remove(folder_.path("in/c/b.webp"));
  EXPECT_THAT(Refusal(Shards(Lossless())), HasSubstr("hold 'c/b.webp', which --data lacks now"));
  folder_.Write("in/c/b.webp", picture);
  folder_.Write("in/aa/between.jpg", Text(MakeJpeg({}, {30, 30}, 77)));
  EXPECT_THAT(Refusal(Shards(Lossless())), HasSubstr("the class 'b' with the label 1"));
  EXPECT_EQ(Content("out"), held);

  PrepareOptions anew = Shards(Lossless());
  anew.overwrite = true;
  EXPECT_EQ(Prepared(anew).progress.made, 13);
  EXPECT_EQ(folder_.Read("out/classes.txt"), "a\naa\nb\nc\n");
}

TEST_P(ShardsTest, ALostShardIsNoticed) {
  Prepared(Shards(Lossless()));
  std::filesystem::remove(folder_.path("out/" + ShardName(1)));
  EXPECT_THAT(Refusal(Shards(Lossless())), HasSubstr(ShardName(1) + " is gone, or has another size"));
}

TEST_P(ShardsTest, OtherSettingsNeedOverwriteAndOtherFilesAreRefused) {
  Prepared(Shards(Lossless()));
  EXPECT_THAT(Refusal(Shards(ShortSide(32))), HasSubstr("losslessly, not with --short-side"));
  EXPECT_THAT(Refusal(Shards(Lossless(), 7000)), HasSubstr("with other settings"));
  EXPECT_THAT(Refusal(Lossless()), HasSubstr(", not as a folder"));
  folder_.Write("out/mine.txt", "mine");
  EXPECT_THAT(Refusal(Shards(Lossless())), HasSubstr("holds 'mine.txt', which is none of the shards"));
  std::filesystem::remove(folder_.path("out/mine.txt"));
  PrepareOptions anew = Shards(ShortSide(24), 1 << 20);
  anew.overwrite = true;
  EXPECT_EQ(Prepared(anew).shards, 1);
  EXPECT_THAT(Content("out"), Not(Contains(Key(ShardName(1)))));
}

// The limit on files' sizes stands for a disk that is full: write(2) fails in the midst of a shard.
TEST_P(ShardsTest, AFullDiskIsAnErrorThatNamesTheShardAndTheNextRunGoesOn) {
  Prepared(Shards(Lossless(), 20000));
  const auto wanted = ShardContent();
  std::filesystem::remove_all(folder_.path("out"));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 8000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string refusal = Refusal(Shards(Lossless(), 20000));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(refusal, HasSubstr("out/" + ShardName(0) + ": "));
  EXPECT_THAT(refusal, HasSubstr("File too large"));
  EXPECT_THAT(Content("out"), Not(Contains(Key(ShardName(0)))));
  Prepared(Shards(Lossless(), 20000));
  EXPECT_EQ(ShardContent(), wanted);
}

}  // namespace
}  // namespace stoker
