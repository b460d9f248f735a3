// What prepare makes of images: losslessly, of a short side, by a pipeline.

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/decode/magic.h"
#include "tests/unit/server/prepare/prepare_fixture.h"

namespace stoker {
namespace {

using testing::HasSubstr;

using PrepareModeTest = PrepareTest;

TEST_F(PrepareModeTest, LosslessLaysJpegsOutAnewAndCopiesTheRest) {
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

TEST_F(PrepareModeTest, ShortSideReducesWhatIsLargerAndKeepsTheRest) {
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

TEST_F(PrepareModeTest, ShortSideMakesAJpegOfALargePng) {
  Prepared(ShortSide(8));
  const std::string made = folder_.Read("out/c/a picture.PNG");
  EXPECT_TRUE(IsJpeg(made));
  const auto size = SizeOf(made);
  ASSERT_TRUE(size.ok()) << size.status();
  EXPECT_EQ(std::min(size->height, size->width), 8);
}

TEST_F(PrepareModeTest, APipelineIsStoredAsPixelsAndSaysItsOps) {
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

TEST_F(PrepareModeTest, ThePipelineMayLeaveImagesOfDifferentSizes) {
  PrepareOptions options = Pipeline();
  options.mode.mutable_pipeline()->mutable_ops()->RemoveLast();
  Prepared(options);
  EXPECT_EQ(*SizeOf(folder_.Read("out/a/sub/0.jpg")), (ImageSize{24, 38}));
  EXPECT_EQ(*SizeOf(folder_.Read("out/c/sub/8.jpg")), (ImageSize{28, 24}));
}

TEST_F(PrepareModeTest, OpsOnFieldsThatAreNoImageAreRefusedByName) {
  PrepareOptions options = Pipeline();
  v1::Op& cast = *options.mode.mutable_pipeline()->add_ops();
  cast.set_placement(v1::PLACEMENT_SERVER);
  cast.mutable_to_dtype()->set_dtype(v1::DTYPE_FLOAT32);
  cast.mutable_to_dtype()->set_field("label");
  EXPECT_THAT(Refusal(options), HasSubstr("pipeline.ops[2]: ToDtype works on a field that is no image"));
}

TEST_F(PrepareModeTest, RandomOpsAreRefusedByName) {
  PrepareOptions options = Pipeline();
  options.mode.mutable_pipeline()->add_ops()->mutable_random_horizontal_flip();
  options.mode.mutable_pipeline()->add_ops()->mutable_to_dtype()->set_dtype(v1::DTYPE_FLOAT32);
  EXPECT_THAT(Refusal(options), HasSubstr("pipeline.ops[2]: RandomHorizontalFlip is random"));
  EXPECT_THAT(Refusal(options), HasSubstr("give prepare the ops before it"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("out")));
}

TEST_F(PrepareModeTest, AFlipThatAlwaysHappensIsNotRandom) {
  PrepareOptions options = Pipeline();
  options.mode.mutable_pipeline()->add_ops()->mutable_random_horizontal_flip()->set_p(1);
  EXPECT_EQ(Prepared(options).progress.made, 12u);
}

TEST_F(PrepareModeTest, DeviceOpsAreLeftToTheDevice) {
  PrepareOptions options = Pipeline();
  options.mode.mutable_pipeline()->add_ops()->mutable_to_dtype()->set_dtype(v1::DTYPE_FLOAT32);
  Prepared(options);
  EXPECT_EQ((*Open("out"))->schema()[0].prepared.size(), 2u);
  EXPECT_TRUE(Prepared(Pipeline()).was_complete);  // The same settings, then.
}

TEST_F(PrepareModeTest, APipelineWithoutServerOpsHasNothingToPrepare) {
  PrepareOptions options = Lossless();
  options.mode.mutable_pipeline()->add_ops()->mutable_to_dtype()->set_dtype(v1::DTYPE_FLOAT32);
  EXPECT_THAT(Refusal(options), HasSubstr("no server op"));
}

TEST_F(PrepareModeTest, AnImageThatThePipelineCannotTakeIsNamed) {
  PrepareOptions options = Lossless();
  options.mode.mutable_pipeline()->add_ops()->mutable_resize()->add_size(16384);
  EXPECT_THAT(Refusal(options), HasSubstr(".jpg: pipeline.ops"));
}

TEST_F(PrepareModeTest, ImagesThatMightBeScaledOnlineAreCounted) {
  EXPECT_EQ(Prepared(Pipeline()).might_be_scaled, 0u);
  PrepareOptions options = Lossless();
  options.overwrite = true;
  options.mode.mutable_pipeline()->add_ops()->mutable_center_crop()->add_size(20);
  EXPECT_EQ(Prepared(options).might_be_scaled, 9u);
  options.mode.mutable_pipeline()->set_jpeg_scaling(v1::JPEG_SCALING_EXACT);
  EXPECT_EQ(Prepared(options).might_be_scaled, 0u);
}

TEST_F(PrepareModeTest, AnotherPixelVersionMustBePreparedAgain) {
  Prepared(Pipeline());
  std::string text = folder_.Read("out/prepared.yaml");
  const std::string key = "pixel_version: ";
  ASSERT_NE(text.find(key), std::string::npos);
  text.insert(text.find(key) + key.size(), "9");
  folder_.Write("out/prepared.yaml", text);
  EXPECT_EQ(Open("out").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Open("out").status().message(), HasSubstr("prepare it again"));
}

TEST_F(PrepareModeTest, AFolderOfPixelsThatHasChangedIsNotServed) {
  Prepared(Pipeline());
  folder_.Write("out/a/sub/another.jpg", Text(MakeJpeg({}, {20, 20})));
  EXPECT_THAT(Open("out").status().message(), HasSubstr("has changed since it was prepared"));
}

TEST_F(PrepareModeTest, OtherOpsOfTheSameSizesHaveAnotherFingerprint) {
  Prepared(Pipeline());
  const std::string fingerprint = (*Open("out"))->fingerprint();
  EXPECT_NE(fingerprint, (*Open("in"))->fingerprint());
  PrepareOptions options = Pipeline();
  options.overwrite = true;
  options.mode.mutable_pipeline()->mutable_ops(0)->mutable_resize()->set_size(0, 22);
  Prepared(options);
  EXPECT_NE((*Open("out"))->fingerprint(), fingerprint);
}

TEST_F(PrepareModeTest, PixelsAreNotPreparedTwice) {
  Prepared(Pipeline());
  PrepareOptions options = Lossless();
  options.data = folder_.path("out");
  options.out = folder_.path("again");
  EXPECT_THAT(Refusal(options), HasSubstr("went through a pipeline already; prepare the original"));
}

TEST_F(PrepareModeTest, SettingsThatAreNoneAreNamed) {
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

}  // namespace
}  // namespace stoker
