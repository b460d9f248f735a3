// `stokerd prepare` as its user meets it.

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"
#include "tests/support/photo_folder.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

using testing::HasSubstr;

class PrepareCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "stokerd-prepare-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    ASSERT_TRUE(WritePhotoFolder(Path("in"), {.classes = 2, .images = 3, .size = {80, 100}}).ok());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  Finished Prepare(std::vector<std::string> flags) const {
    std::vector<std::string> arguments = {"stokerd", "prepare", "--data", Path("in"), "--out", Path("out")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return RunProgram(arguments);
  }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }

  std::string folder_;
};

TEST_F(PrepareCommandTest, HelpTeaches) {
  const Finished help = RunProgram({"stokerd", "prepare", "--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* text :
       {"--data", "--out", "--restart-interval", "--strip", "--short-side", "--quality", "--pipeline", "--format",
        "--shard-size", "--workers", "--overwrite", "Examples:", "goes on\nwhere it was stopped"})
    EXPECT_THAT(help.out, HasSubstr(text));
}

TEST_F(PrepareCommandTest, PreparesOnceAndSaysSoTheSecondTime) {
  const Finished first = Prepare({});
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("out: 6 files, 6 of them made now ("));
  const Finished second = Prepare({});
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("complete already, 6 files; nothing to do"));
  const Finished other = Prepare({"--restart-interval", "9"});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("--overwrite"));
  EXPECT_EQ(Prepare({"--restart-interval", "9", "--overwrite"}).status, 0);
}

TEST_F(PrepareCommandTest, NamesDamagedFilesAndSucceeds) {
  std::filesystem::resize_file(Path("in/class-01/image-0001.jpg"), 700);
  const Finished run = Prepare({});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, HasSubstr("not prepared: class-01/image-0001.jpg: "));
  EXPECT_THAT(run.out, HasSubstr("1 files could not be prepared, see above: they are copies of the originals"));
}

TEST_F(PrepareCommandTest, TheCopyIsServed) {
  ASSERT_EQ(Prepare({"--short-side", "64", "--quality", "90"}).status, 0);
  StokerdProcess server({"--data", Path("out"), "--cache-dir", Path("cache")});
  v1::Pipeline pipeline;
  pipeline.add_ops()->mutable_center_crop()->add_size(64);
  const EpochResult epoch = RunEpoch({.servers = {server.address()}, .pipeline = pipeline, .batch_size = 3});
  EXPECT_TRUE(epoch.status.ok()) << epoch.status;
  EXPECT_EQ(epoch.sample_ids.size(), 6u);
}

TEST_F(PrepareCommandTest, RunsThePipelineOfAFileAndRefusesRandomOps) {
  const std::string fixed = Write("fixed.yaml", "ops:\n  - Resize: {size: 48}\n  - CenterCrop: {size: 32}\n");
  const Finished run = Prepare({"--pipeline", fixed});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(std::filesystem::file_size(Path("out/class-00/image-0000.jpg")), 28u + 32 * 32 * 3);
  const Finished random = Prepare({"--pipeline", Write("random.yaml", "ops:\n  - RandomResizedCrop: {size: 48}\n")});
  EXPECT_EQ(random.status, 1);
  EXPECT_THAT(random.err, HasSubstr("pipeline.ops[0]: RandomResizedCrop is random"));
  const Finished typo = Prepare({"--pipeline", Write("typo.yaml", "ops:\n  - Resise: {size: 48}\n")});
  EXPECT_EQ(typo.status, 1);
  EXPECT_THAT(typo.err, HasSubstr("typo.yaml:2:"));
}

TEST_F(PrepareCommandTest, FlagsThatExcludeEachOtherAreRefused) {
  for (const auto& flags : std::vector<std::vector<std::string>>{
           {"--quality", "90"}, {"--pipeline", "x.yaml", "--short-side", "64"}, {"--pipeline", "x.yaml", "--strip"}})
    EXPECT_NE(Prepare(flags).status, 0) << flags[0];
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

// So many files that no machine is through with them before the signal arrives.
TEST_F(PrepareCommandTest, CtrlCEndsItCleanlyAndSaysHowToGoOn) {
  for (int i = 0; i < 20000; ++i)
    std::filesystem::create_symlink("image-0000.jpg", absl::StrCat(Path("in/class-00/link-"), i, ".jpg"));
  Process run({ProgramPath("stokerd"), "prepare", "--workers", "1", "--data", Path("in"), "--out", Path("out")});
  while (!std::filesystem::exists(Path("out/class-00/image-0000.jpg")) && run.PeakMemory() > 0)
    absl::SleepFor(absl::Milliseconds(2));
  run.Signal(SIGINT);
  EXPECT_EQ(run.Wait(), 130) << run.Stderr();
  EXPECT_THAT(run.Stdout(), HasSubstr("of 20006 files; the same command goes on from here"));
  for (const auto& entry : std::filesystem::directory_iterator(Path("out")))
    EXPECT_THAT(entry.path().extension(), testing::AnyOf("", ".yaml")) << "left behind: " << entry.path();
  const Finished serve = RunProgram({"stokerd", "serve", "--listen", "127.0.0.1:0", "--data", Path("out")});
  EXPECT_EQ(serve.status, 1);
  EXPECT_THAT(serve.err, HasSubstr("was not prepared to its end"));
}

// Kills runs once one more shard is there, until one comes to its end.
TEST_F(PrepareCommandTest, ShardsOfARunThatWasKilledAreThoseOfOneThatWasNot) {
  for (int i = 0; i < 400; ++i)
    std::filesystem::create_symlink("image-0000.jpg", absl::StrCat(Path("in/class-00/link-"), i, ".jpg"));
  const auto content = [&](const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(Path(folder))) {
      std::ifstream file(entry.path(), std::ios::binary);
      if (entry.path().filename() != "prepared.yaml")
        files[entry.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return files;
  };
  // The folder's tar shards are prepared again, as MDS shards and as tar shards.
  for (const auto& [data, format] : std::vector<std::pair<std::string, std::string>>{
           {"in", "webdataset"}, {"in", "mds"}, {"tars", "mds"}, {"tars", "webdataset"}}) {
    std::vector<std::string> arguments = {"stokerd",     "prepare",     "--data",       Path(data),  "--out",
                                          Path("out"),   "--format",    format,         "--workers", "2",
                                          "--cache-dir", Path("cache"), "--shard-size", "100KB"};
    const auto prepare = [&] { return RunProgram(arguments); };
    const Finished first = prepare();
    ASSERT_EQ(first.status, 0) << first.err;
    std::filesystem::rename(Path("out"), Path("whole"));
    std::vector<std::string> killed = arguments;
    killed[0] = ProgramPath("stokerd");
    int kills = 0;
    for (int number = 0;; ++number) {
      const std::string shard = format == "mds" ? absl::StrFormat("out/shard.%05d.mds", number)
                                                : absl::StrFormat("out/shard-%06d.tar", number);
      Process run(killed);
      while (!run.Ended() && !std::filesystem::exists(Path(shard))) absl::SleepFor(absl::Milliseconds(1));
      if (run.Ended()) break;
      run.Signal(SIGKILL);
      kills += run.Wait() == -SIGKILL;
    }
    EXPECT_GT(kills, 0);
    EXPECT_THAT(prepare().out, HasSubstr("complete already, 406 files in "));
    EXPECT_EQ(content("out"), content("whole"));
    std::filesystem::remove_all(Path("out"));
    if (!std::filesystem::exists(Path("tars"))) std::filesystem::copy(Path("whole"), Path("tars"));
    std::filesystem::remove_all(Path("whole"));
  }
}

TEST_F(PrepareCommandTest, ShardsOfPixelsGiveTheDigestOfTheOriginals) {
  const std::string fixed = Write("fixed.yaml", "ops:\n  - Resize: {size: 48}\n  - CenterCrop: {size: 32}\n");
  v1::Pipeline pipeline;
  pipeline.add_ops()->mutable_resize()->add_size(48);
  pipeline.add_ops()->mutable_center_crop()->add_size(32);
  pipeline.add_ops()->mutable_random_horizontal_flip();
  const auto digest = [&](const std::string& data) {
    StokerdProcess server({"--data", Path(data), "--cache-dir", Path("cache")});
    const EpochResult epoch = RunEpoch({.servers = {server.address()}, .pipeline = pipeline, .batch_size = 3});
    EXPECT_TRUE(epoch.status.ok()) << epoch.status;
    return epoch.digest;
  };
  const auto originals = digest("in");
  for (const char* format : {"webdataset", "mds"}) {
    const Finished run = Prepare({"--pipeline", fixed, "--format", format});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(digest("out"), originals) << format;
    std::filesystem::remove_all(Path("out"));
  }
}

// A configuration maps what the shards of the folder have to other fields, and names no class.
TEST_F(PrepareCommandTest, PreparesADatasetOfAConfiguration) {
  ASSERT_EQ(Prepare({"--format", "webdataset"}).status, 0);
  std::filesystem::rename(Path("out"), Path("tars"));
  const std::string config = Write("stokerd.yaml", absl::StrCat(R"(datasets:
  - {name: labels, webdataset: {path: )",
                                                                Path("tars"), R"(, fields: {label: cls}}}
  - {name: photos, webdataset: {path: )",
                                                                Path("tars"), R"(, fields: {photo: jpg, label: cls}}}
  - {name: twice, mix: [{dataset: photos}, {dataset: photos}]}
)"));
  const auto prepare = [&](const std::string& dataset, std::vector<std::string> flags) {
    std::vector<std::string> arguments = {"stokerd", "prepare", "--config",  config,        "--dataset",
                                          dataset,   "--out",   Path("out"), "--cache-dir", Path("cache")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return RunProgram(arguments);
  };
  EXPECT_THAT(prepare("labels", {}).err, HasSubstr("--format folder: the dataset has no image"));
  EXPECT_THAT(prepare("labels", {"--short-side", "48"}).err, HasSubstr("--data labels: its samples have no image"));
  EXPECT_THAT(prepare("phots", {}).err, HasSubstr("--dataset phots: the configuration has labels, photos, twice"));
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
  EXPECT_THAT(RunProgram({"stokerd", "prepare", "--config", config, "--dataset", "photos", "--out", Path("tars")}).err,
              HasSubstr("is, holds or lies in --data"));
  const Finished folder = prepare("photos", {});
  EXPECT_EQ(folder.status, 0) << folder.err;
  EXPECT_TRUE(std::filesystem::exists(Path("out/0/class-00/image-0000.jpg")));
  std::filesystem::remove_all(Path("out"));
  const Finished shards = prepare("twice", {"--format", "webdataset", "--short-side", "48"});
  EXPECT_EQ(shards.status, 0) << shards.err;
  EXPECT_THAT(shards.out, HasSubstr("12 files in 1 shards, 12 of them made now"));
  StokerdProcess server({"--data", Path("out"), "--cache-dir", Path("cache")});
  const Finished described = RunProgram({"stoker", "describe", "--servers", server.address()});
  EXPECT_THAT(described.out, HasSubstr("photo"));
}

TEST_F(PrepareCommandTest, SaysWhatItIsToPrepare) {
  EXPECT_THAT(RunProgram({"stokerd", "prepare", "--out", Path("out")}).err,
              HasSubstr("--data is required, or --config"));
  EXPECT_THAT(RunProgram({"stokerd", "prepare", "--data", Path("none"), "--out", Path("out")}).err,
              HasSubstr("--data " + Path("none") + ": "));
}

TEST_F(PrepareCommandTest, ShardsAreServed) {
  const Finished run = Prepare({"--format", "webdataset"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("6 files in 1 shards, 6 of them made now"));
  StokerdProcess server({"--data", Path("out"), "--cache-dir", Path("cache")});
  const EpochResult epoch = RunEpoch({.servers = {server.address()}, .batch_size = 3});
  EXPECT_TRUE(epoch.status.ok()) << epoch.status;
  EXPECT_EQ(epoch.sample_ids.size(), 6u);
  EXPECT_THAT(Prepare({"--format", "zip"}).err, HasSubstr("--format zip: is none of folder, webdataset and mds"));
  EXPECT_THAT(Prepare({"--format", "folder", "--shard-size", "1MiB"}).err, HasSubstr("a folder has no shards"));
}

}  // namespace
}  // namespace stoker
