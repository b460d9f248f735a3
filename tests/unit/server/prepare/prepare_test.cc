// What prepare does with folders: its own, unfinished ones, and those of others.

#include "server/prepare/prepare.h"

#include <atomic>
#include <csignal>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/prepare/prepare_fixture.h"

namespace stoker {
namespace {

using testing::HasSubstr;

TEST_F(PrepareTest, MakesAFolderOfTheSameNamesLabelsAndOrder) {
  const PrepareReport report = Prepared(Lossless());
  EXPECT_EQ(report.progress.files, 12u);
  EXPECT_EQ(report.progress.made, 12u);
  EXPECT_FALSE(report.was_complete);
  const auto in = Open("in"), out = Open("out");
  ASSERT_TRUE(out.ok()) << out.status();
  ASSERT_EQ((*out)->size(), (*in)->size());
  SampleBytes from, to;
  for (uint64_t id = 0; id < (*in)->size(); ++id) {
    EXPECT_EQ((*out)->SampleName(id), (*in)->SampleName(id));
    ASSERT_TRUE((*in)->Read(id, from).ok() && (*out)->Read(id, to).ok());
    EXPECT_EQ(to.fields[1], from.fields[1]);
  }
  EXPECT_TRUE((*out)->warnings().empty());
  EXPECT_TRUE((*out)->schema()[0].prepared.empty());
}

TEST_F(PrepareTest, AFinishedFolderIsLeftAsItIs) {
  for (const PrepareOptions& options : {Lossless(), ShortSide(32), Pipeline()}) {
    std::filesystem::remove_all(folder_.path("out"));
    Prepared(options);
    const auto content = Content("out");
    const auto times = Times("out");
    const PrepareReport again = Prepared(options);
    EXPECT_TRUE(again.was_complete);
    EXPECT_EQ(again.progress.made, 0u);
    EXPECT_EQ(Content("out"), content);
    EXPECT_EQ(Times("out"), times);
  }
}

TEST_F(PrepareTest, AFileThatWasLostIsMadeAgain) {
  Prepared(Lossless());
  const auto content = Content("out");
  std::filesystem::remove_all(folder_.path("out/b"));
  folder_.Write("out/c/b.webp", "");  // As after a loss of power.
  const PrepareReport again = Prepared(Lossless());
  EXPECT_FALSE(again.was_complete);
  EXPECT_EQ(again.progress.made, 5u);
  EXPECT_EQ(Content("out"), content);
}

TEST_F(PrepareTest, ProgressCountsEveryFileOnce) {
  PrepareOptions options = Lossless();
  std::vector<uint64_t> done;
  options.progress = [&](const PrepareProgress& progress) { done.push_back(progress.done); };
  Prepared(options);
  ASSERT_EQ(done.size(), 13u);
  for (uint64_t i = 0; i < done.size(); ++i) EXPECT_EQ(done[i], i);
}

TEST_F(PrepareTest, AStoppedRunGoesOnWhereItWas) {
  Prepared(Lossless());
  const auto undisturbed = Content("out");
  std::filesystem::remove_all(folder_.path("out"));
  std::atomic<bool> stop = false;
  PrepareOptions options = Lossless();
  options.stop = &stop;
  options.progress = [&](const PrepareProgress& progress) { stop = progress.done >= 5; };
  const PrepareReport stopped = Prepared(options);
  EXPECT_TRUE(stopped.stopped);
  EXPECT_GE(stopped.progress.made, 5u);
  EXPECT_LE(stopped.progress.made, 6u);  // Two workers.
  EXPECT_EQ(Open("out").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Open("out").status().message(), HasSubstr("run the same `stokerd prepare` again"));
  const PrepareReport resumed = Prepared(Lossless());
  EXPECT_EQ(resumed.progress.made, 12 - stopped.progress.made);
  EXPECT_EQ(Content("out"), undisturbed);
}

using PrepareDeathTest = PrepareTest;

// Prepares until `files` files are done, and is killed then as by kill -9.
void PrepareAndDie(PrepareOptions options, uint64_t files) {
  options.progress = [files](const PrepareProgress& progress) {
    if (progress.done == files) raise(SIGKILL);
  };
  Prepare(options).IgnoreError();
}

TEST_F(PrepareDeathTest, AKilledRunIsResumedToTheSameResult) {
  for (const PrepareOptions& options : {Lossless(), Pipeline()}) {
    std::filesystem::remove_all(folder_.path("out"));
    Prepared(options);
    const auto undisturbed = Content("out");
    for (uint64_t files : {0, 1, 7, 12}) {
      std::filesystem::remove_all(folder_.path("out"));
      EXPECT_EXIT(PrepareAndDie(options, files), testing::KilledBySignal(SIGKILL), "");
      folder_.Write("out/.prepare-1.part", "what a worker was writing");
      EXPECT_FALSE(Open("out").ok());
      Prepared(options);
      EXPECT_EQ(Content("out"), undisturbed) << "killed after " << files;
    }
  }
}

TEST_F(PrepareDeathTest, AKilledOverwriteLeavesNoFileOfTheOldSettings) {
  Prepared(ShortSide(32));
  const auto undisturbed = Content("out");
  std::filesystem::remove_all(folder_.path("out"));
  Prepared(Lossless());
  PrepareOptions options = ShortSide(32);
  options.overwrite = true;
  EXPECT_EXIT(PrepareAndDie(options, 4), testing::KilledBySignal(SIGKILL), "");
  Prepared(ShortSide(32));
  EXPECT_EQ(Content("out"), undisturbed);
}

TEST_F(PrepareTest, RefusesAFolderThatHoldsSomethingElse) {
  folder_.Write("out/thesis.tex", "years of work");
  EXPECT_THAT(Refusal(Lossless()), HasSubstr("is not empty, and holds no prepared.yaml of an earlier run; name "
                                             "another --out, or replace what it holds by --overwrite"));
  EXPECT_EQ(Content("out").size(), 1u);
}

TEST_F(PrepareTest, RefusesOtherSettingsAndAnotherSource) {
  Prepared(Lossless());
  const auto content = Content("out");
  PrepareOptions other = Lossless();
  other.mode.mutable_lossless()->set_restart_interval(8);
  EXPECT_THAT(Refusal(other), HasSubstr("restart_interval: 4 -> 8"));
  EXPECT_THAT(Refusal(ShortSide(32)), HasSubstr("losslessly, not with --short-side"));
  folder_.Write("in/a/new.png", EmbeddedFile("PNG"));
  EXPECT_THAT(Refusal(Lossless()), HasSubstr("another source, or one that has changed"));
  EXPECT_EQ(Content("out"), content);
}

TEST_F(PrepareTest, OverwriteReplacesFilesOfTheSameNamesAlone) {
  Prepared(ShortSide(32));
  folder_.Write("out/thesis.tex", "years of work");
  folder_.Write("out/a/thesis.tex", "more of it");
  PrepareOptions options = Lossless();
  options.overwrite = true;
  EXPECT_EQ(Prepared(options).progress.made, 12u);
  auto content = Content("out");
  EXPECT_EQ(content.extract("thesis.tex").mapped(), "years of work");
  EXPECT_EQ(content.extract("a/thesis.tex").mapped(), "more of it");
  std::filesystem::remove_all(folder_.path("out"));
  Prepared(Lossless());
  EXPECT_EQ(content, Content("out"));
}

TEST_F(PrepareTest, AnImageThatTheSourceLacksIsNamedAndKept) {
  folder_.Write("out/a/sub/mine.jpg", "x");
  PrepareOptions options = Lossless();
  options.overwrite = true;
  const auto content = Content("out");
  EXPECT_THAT(Refusal(options), HasSubstr("holds 1 images that --data lacks, such as 'a/sub/mine.jpg'"));
  EXPECT_EQ(Content("out"), content) << "nothing was touched";
}

TEST_F(PrepareTest, AFolderWhoseFilesHaveChangedIsMadeAnewOnRequest) {
  Prepared(Lossless());
  const auto content = Content("out");
  folder_.Write("out/c/b.webp", "shorter");
  EXPECT_THAT(Refusal(Lossless()), HasSubstr("its files have changed since it was prepared"));
  PrepareOptions options = Lossless();
  options.overwrite = true;
  Prepared(options);
  EXPECT_EQ(Content("out"), content);
}

TEST_F(PrepareTest, AnOverwriteThatWasStoppedGoesOn) {
  Prepared(ShortSide(32));
  std::atomic<bool> stop = false;
  PrepareOptions options = Lossless();
  options.overwrite = true;
  options.stop = &stop;
  options.progress = [&](const PrepareProgress& progress) { stop = progress.done >= 5; };
  const PrepareReport stopped = Prepared(options);
  stop = false;
  options.progress = nullptr;
  EXPECT_EQ(Prepared(options).progress.made, 12 - stopped.progress.made);
}

TEST_F(PrepareTest, AFileThatWasCutShortByALossOfPowerIsMadeAgain) {
  for (const PrepareOptions& options : {Lossless(), Pipeline()}) {
    std::filesystem::remove_all(folder_.path("out"));
    Prepared(options);
    const auto content = Content("out");
    std::string state = content.at("prepared.yaml");
    state.replace(state.find("complete"), 8, "unfinished");
    folder_.Write("out/prepared.yaml", state);
    folder_.Write("out/a/sub/0.jpg", content.at("a/sub/0.jpg").substr(0, 100));
    // Of stored reasons it cannot be told.
    EXPECT_EQ(Prepared(options).progress.made, options.mode.has_pipeline() ? 2u : 1u);
    EXPECT_EQ(Content("out"), content);
  }
}

TEST_F(PrepareTest, LaterRunsNameWhatEarlierOnesCouldNotPrepare) {
  const auto problems = Prepared(Lossless()).problems;
  ASSERT_FALSE(problems.empty());
  const PrepareReport again = Prepared(Lossless());
  EXPECT_TRUE(again.was_complete);
  ASSERT_EQ(again.problems.size(), problems.size());
  EXPECT_EQ(again.problems[0].file, problems[0].file);
}

TEST_F(PrepareTest, NeverWritesToTheSource) {
  const auto content = Content("in");
  folder_.Link("in", "alias");
  for (const char* out : {"in", "in/out", "alias", "alias/x/y", ".", "in/../in"}) {
    PrepareOptions options = Lossless();
    options.out = folder_.path(out);
    options.overwrite = true;
    EXPECT_THAT(Refusal(options), HasSubstr("is, holds or lies in --data")) << out;
  }
  EXPECT_EQ(Content("in"), content);
}

TEST_F(PrepareTest, OverwriteNoticesTheSourcesFilesBehindALink) {
  const auto content = Content("in");
  folder_.MakeFolder("out");
  folder_.Link(folder_.path("in/a"), "out/a");
  PrepareOptions options = Lossless();
  options.overwrite = true;
  EXPECT_THAT(Refusal(options), HasSubstr("is the very file that --data has"));
  EXPECT_EQ(Content("in"), content);
}

TEST_F(PrepareTest, AFolderIsPreparedByOneProcessAtATime) {
  PrepareOptions options = Lossless();
  std::string inner;
  options.progress = [&](const PrepareProgress& progress) {
    if (progress.done == 1) inner = Refusal(Lossless());
  };
  Prepared(options);
  EXPECT_THAT(inner, HasSubstr("another stokerd prepare is at work on it"));
}

TEST_F(PrepareTest, AFullOrForbiddenFolderIsNamed) {
  folder_.Write("file", "x");
  PrepareOptions options = Lossless();
  options.out = folder_.path("file/out");
  EXPECT_THAT(Refusal(options), HasSubstr("file/out"));
}

}  // namespace
}  // namespace stoker
