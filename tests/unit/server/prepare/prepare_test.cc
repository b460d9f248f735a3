#include "server/prepare/prepare.h"

#include <sys/stat.h>

#include <csignal>
#include <map>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/augment/self_check_images.h"
#include "server/decode/decoder.h"
#include "server/decode/magic.h"
#include "server/read/image_folder.h"
#include "tests/unit/server/prepare/jpeg_files.h"
#include "tests/unit/server/read/temporary_folder.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Text(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

// Of the embedded ones, of 29×19 pixels: "PNG", "lossy WebP".
std::string EmbeddedFile(const std::string& name) {
  for (const SelfCheckImage& image : kSelfCheckImages)
    if (image.name == name) return absl::HexStringToBytes(image.file);
  ADD_FAILURE() << name;
  return "";
}

absl::StatusOr<ImageSize> SizeOf(const std::string& file) {
  return Decoder().Open({reinterpret_cast<const uint8_t*>(file.data()), file.size()}, {});
}

JpegMarkers MarkersOf(const std::string& file) {
  return ReadMarkers({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
}

// A source "in" of 12 files in 3 classes, and an "out" that does not exist yet.
class PrepareTest : public testing::Test {
 protected:
  PrepareTest() {
    const std::vector<JpegKind> kinds = AllJpegKinds();
    for (int i = 0; i < 9; ++i)
      folder_.Write("in/" + std::string(1, 'a' + i / 4) + "/sub/" + std::to_string(i) + ".jpg",
                    Text(MakeJpeg(kinds[i], {40 + i, 64 - 3 * i}, i + 1)));
    folder_.Write("in/c/a picture.PNG", EmbeddedFile("PNG"));
    folder_.Write("in/c/b.webp", EmbeddedFile("lossy WebP"));
    folder_.Write("in/c/damaged.jpeg", Text(MakeJpeg({}, {64, 64})).substr(0, 900));
    folder_.Write("in/c/notes.txt", "not an image");
  }

  PrepareOptions Lossless() const {
    PrepareOptions options = {.data = folder_.path("in"), .out = folder_.path("out"), .workers = 2, .tool = "a test"};
    options.mode.mutable_lossless()->set_restart_interval(4);
    return options;
  }

  PrepareOptions ShortSide(uint32_t size) const {
    PrepareOptions options = Lossless();
    options.mode.mutable_short_side()->set_size(size);
    options.mode.mutable_short_side()->set_quality(95);
    options.mode.mutable_short_side()->set_restart_interval(4);
    return options;
  }

  // Resize to 24, CenterCrop to 20.
  PrepareOptions Pipeline() const {
    PrepareOptions options = Lossless();
    options.mode.mutable_pipeline()->add_ops()->mutable_resize()->add_size(24);
    options.mode.mutable_pipeline()->add_ops()->mutable_center_crop()->add_size(20);
    return options;
  }

  PrepareReport Prepared(const PrepareOptions& options) const {
    auto report = Prepare(options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *report : PrepareReport{};
  }

  std::string Refusal(const PrepareOptions& options) const {
    const auto report = Prepare(options);
    EXPECT_FALSE(report.ok());
    return std::string(report.status().message());
  }

  absl::StatusOr<std::unique_ptr<ImageFolder>> Open(const std::string& name) const {
    v1::ImageFolder config;
    config.set_path(folder_.path(name));
    return ImageFolder::Open(config, {});
  }

  // Bytes by path below `name`.
  std::map<std::string, std::string> Content(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path(name))) {
      const std::string below = entry.path().lexically_relative(folder_.path(name));
      if (entry.is_regular_file()) files[below] = folder_.Read(name + "/" + below);
    }
    return files;
  }

  // When each file and folder below `name` was changed, in nanoseconds.
  std::map<std::string, int64_t> Times(const std::string& name) const {
    std::map<std::string, int64_t> times;
    const auto add = [&](const std::string& path) {
      struct stat status;
      EXPECT_EQ(stat(path.c_str(), &status), 0);
      times[path] = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
    };
    add(folder_.path(name));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path(name))) add(entry.path());
    return times;
  }

  TemporaryFolder folder_;
};

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

TEST_F(PrepareTest, LosslessLaysJpegsOutAnewAndCopiesTheRest) {
  const PrepareReport report = Prepared(Lossless());
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].file, "c/damaged.jpeg");
  EXPECT_FALSE(report.problems[0].reason.empty());
  const auto in = Content("in"), out = Content("out");
  EXPECT_EQ(out.size(), 13u);  // And prepared.yaml.
  for (const char* copied : {"c/a picture.PNG", "c/b.webp", "c/damaged.jpeg"}) EXPECT_EQ(out.at(copied), in.at(copied));
  EXPECT_GT(MarkersOf(out.at("a/sub/0.jpg")).restarts, 0);
  EXPECT_EQ(MarkersOf(out.at("c/sub/8.jpg")).frame, 0xc0);  // It was progressive.
  uint64_t bytes_in = 0, bytes_out = 0;
  for (const auto& [name, bytes] : out) {
    if (name == "prepared.yaml") continue;
    bytes_in += in.at(name).size();
    bytes_out += bytes.size();
  }
  EXPECT_EQ(report.progress.bytes_in, bytes_in);
  EXPECT_EQ(report.progress.bytes_out, bytes_out);
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

TEST_F(PrepareTest, ShortSideReducesWhatIsLargerAndKeepsTheRest) {
  const PrepareReport report = Prepared(ShortSide(45));
  ASSERT_EQ(report.problems.size(), 1u);
  for (const auto& [name, bytes] : Content("in")) {
    const auto before = SizeOf(bytes), after = SizeOf(folder_.Read("out/" + name));
    if (name == "c/notes.txt" || name == "c/damaged.jpeg") continue;
    const int64_t least = std::min(before->height, before->width);
    if (least <= 45) {
      EXPECT_EQ(*after, *before) << name;
    } else {
      const int64_t most = 45 * std::max(before->height, before->width) / least;
      const bool tall = before->height >= before->width;
      EXPECT_EQ(*after, (tall ? ImageSize{most, 45} : ImageSize{45, most})) << name;
      EXPECT_GT(MarkersOf(folder_.Read("out/" + name)).restarts, 0) << name;
    }
  }
}

TEST_F(PrepareTest, ShortSideMakesAJpegOfALargePng) {
  Prepared(ShortSide(8));
  const std::string made = folder_.Read("out/c/a picture.PNG");
  EXPECT_TRUE(IsJpeg(made));
  const auto size = SizeOf(made);
  ASSERT_TRUE(size.ok()) << size.status();
  EXPECT_EQ(std::min(size->height, size->width), 8);
}

TEST_F(PrepareTest, APipelineIsStoredAsPixelsAndSaysItsOps) {
  const PrepareReport report = Prepared(Pipeline());
  EXPECT_EQ(report.problems.size(), 1u);
  const auto out = Open("out");
  ASSERT_TRUE(out.ok()) << out.status();
  ASSERT_EQ((*out)->schema()[0].prepared.size(), 2u);
  EXPECT_TRUE((*out)->schema()[0].prepared[0].has_resize());
  EXPECT_EQ((*out)->schema()[0].prepared[1].center_crop().size(0), 20);
  EXPECT_THAT((*out)->description(), HasSubstr("prepared with Resize, CenterCrop"));
  SampleBytes sample;
  for (uint64_t id = 0; id < (*out)->size(); ++id) {
    ASSERT_TRUE((*out)->Read(id, sample).ok());
    const auto size = Decoder().Open(sample.fields[0], {});
    if ((*out)->SampleName(id) == "c/damaged.jpeg") {
      EXPECT_TRUE(absl::IsDataLoss(size.status()));
      EXPECT_EQ(size.status().message(), report.problems[0].reason);
    } else {
      EXPECT_EQ(*size, (ImageSize{20, 20}));
    }
  }
}

TEST_F(PrepareTest, ThePipelineMayLeaveImagesOfDifferentSizes) {
  PrepareOptions options = Pipeline();
  options.mode.mutable_pipeline()->mutable_ops()->RemoveLast();
  Prepared(options);
  EXPECT_EQ(*SizeOf(folder_.Read("out/a/sub/0.jpg")), (ImageSize{24, 38}));
  EXPECT_EQ(*SizeOf(folder_.Read("out/c/sub/8.jpg")), (ImageSize{28, 24}));
}

TEST_F(PrepareTest, RandomOpsAreRefusedByName) {
  PrepareOptions options = Pipeline();
  options.mode.mutable_pipeline()->add_ops()->mutable_random_horizontal_flip();
  options.mode.mutable_pipeline()->add_ops()->mutable_to_dtype()->set_dtype(v1::DTYPE_FLOAT32);
  EXPECT_THAT(Refusal(options), HasSubstr("pipeline.ops[2]: RandomHorizontalFlip is random"));
  EXPECT_THAT(Refusal(options), HasSubstr("give prepare the ops before it"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("out")));
}

TEST_F(PrepareTest, AFlipThatAlwaysHappensIsNotRandom) {
  PrepareOptions options = Pipeline();
  options.mode.mutable_pipeline()->add_ops()->mutable_random_horizontal_flip()->set_p(1);
  EXPECT_EQ(Prepared(options).progress.made, 12u);
}

TEST_F(PrepareTest, DeviceOpsAreLeftToTheDevice) {
  PrepareOptions options = Pipeline();
  options.mode.mutable_pipeline()->add_ops()->mutable_to_dtype()->set_dtype(v1::DTYPE_FLOAT32);
  Prepared(options);
  EXPECT_EQ((*Open("out"))->schema()[0].prepared.size(), 2u);
  EXPECT_TRUE(Prepared(Pipeline()).was_complete);  // The same settings, then.
}

TEST_F(PrepareTest, APipelineWithoutServerOpsHasNothingToPrepare) {
  PrepareOptions options = Lossless();
  options.mode.mutable_pipeline()->add_ops()->mutable_to_dtype()->set_dtype(v1::DTYPE_FLOAT32);
  EXPECT_THAT(Refusal(options), HasSubstr("no server op"));
}

TEST_F(PrepareTest, AnImageThatThePipelineCannotTakeIsNamed) {
  PrepareOptions options = Lossless();
  options.mode.mutable_pipeline()->add_ops()->mutable_resize()->add_size(16384);
  EXPECT_THAT(Refusal(options), HasSubstr(".jpg: pipeline.ops"));
}

TEST_F(PrepareTest, ImagesThatMightBeScaledOnlineAreCounted) {
  EXPECT_EQ(Prepared(Pipeline()).might_be_scaled, 0u);
  PrepareOptions options = Lossless();
  options.overwrite = true;
  options.mode.mutable_pipeline()->add_ops()->mutable_center_crop()->add_size(20);
  EXPECT_EQ(Prepared(options).might_be_scaled, 9u);
  options.mode.mutable_pipeline()->set_jpeg_scaling(v1::JPEG_SCALING_EXACT);
  EXPECT_EQ(Prepared(options).might_be_scaled, 0u);
}

TEST_F(PrepareTest, AnotherPixelVersionMustBePreparedAgain) {
  Prepared(Pipeline());
  std::string text = folder_.Read("out/prepared.yaml");
  const std::string key = "pixel_version: ";
  ASSERT_NE(text.find(key), std::string::npos);
  text.insert(text.find(key) + key.size(), "9");
  folder_.Write("out/prepared.yaml", text);
  EXPECT_EQ(Open("out").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Open("out").status().message(), HasSubstr("prepare it again"));
}

TEST_F(PrepareTest, AFolderOfPixelsThatHasChangedIsNotServed) {
  Prepared(Pipeline());
  folder_.Write("out/a/sub/another.jpg", Text(MakeJpeg({}, {20, 20})));
  EXPECT_THAT(Open("out").status().message(), HasSubstr("has changed since it was prepared"));
}

TEST_F(PrepareTest, OtherOpsOfTheSameSizesHaveAnotherFingerprint) {
  Prepared(Pipeline());
  const std::string fingerprint = (*Open("out"))->fingerprint();
  EXPECT_NE(fingerprint, (*Open("in"))->fingerprint());
  PrepareOptions options = Pipeline();
  options.overwrite = true;
  options.mode.mutable_pipeline()->mutable_ops(0)->mutable_resize()->set_size(0, 22);
  Prepared(options);
  EXPECT_NE((*Open("out"))->fingerprint(), fingerprint);
}

TEST_F(PrepareTest, PixelsAreNotPreparedTwice) {
  Prepared(Pipeline());
  PrepareOptions options = Lossless();
  options.data = folder_.path("out");
  options.out = folder_.path("again");
  EXPECT_THAT(Refusal(options), HasSubstr("went through a pipeline already; prepare the original"));
}

TEST_F(PrepareTest, SettingsThatAreNoneAreNamed) {
  PrepareOptions options = Lossless();
  options.mode.mutable_lossless()->set_restart_interval(0);
  EXPECT_THAT(Refusal(options), HasSubstr("--restart-interval: 0 is not between 1 and 65535"));
  options = ShortSide(20000);
  EXPECT_THAT(Refusal(options), HasSubstr("--short-side: 20000"));
  options = ShortSide(20);
  options.mode.mutable_short_side()->set_quality(101);
  EXPECT_THAT(Refusal(options), HasSubstr("--quality: 101"));
  options = Lossless();
  options.data = folder_.path("nowhere");
  EXPECT_THAT(Refusal(options), HasSubstr("nowhere"));
}

TEST_F(PrepareTest, AFullOrForbiddenFolderIsNamed) {
  folder_.Write("file", "x");
  PrepareOptions options = Lossless();
  options.out = folder_.path("file/out");
  EXPECT_THAT(Refusal(options), HasSubstr("file/out"));
}

}  // namespace
}  // namespace stoker
