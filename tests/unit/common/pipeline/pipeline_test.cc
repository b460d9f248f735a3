#include "common/pipeline/pipeline.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

v1::Pipeline Parse(const std::string& text) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  return pipeline;
}

const char kCropFlip[] = "ops { random_resized_crop { size: 224 } } ops { random_horizontal_flip {} }";
const char kCropDeviceFlip[] =
    "ops { random_resized_crop { size: 224 } } ops { placement: PLACEMENT_DEVICE random_horizontal_flip {} }";

TEST(PipelineTest, TheDefaultIsCropAndFlip) {
  EXPECT_EQ(DefaultPipeline().SerializeAsString(), Parse(kCropFlip).SerializeAsString());
  EXPECT_TRUE(ValidatePipeline(DefaultPipeline()).ok());
}

TEST(PipelineTest, ErrorsNameTheOp) {
  EXPECT_EQ(ValidatePipeline(Parse("ops { center_crop { size: 8 } } ops { random_crop {} }")).message(),
            "pipeline.ops[1]: RandomCrop.size: give one number or height and width; found 0 numbers");
  EXPECT_EQ(
      ValidatePipeline(Parse("ops { placement: PLACEMENT_DEVICE convert_color { to: COLOR_SPACE_YCBCR } }")).message(),
      "pipeline.ops[0]: ConvertColor.placement: runs on the server only");
  EXPECT_EQ(
      ValidatePipeline(Parse("ops { to_dtype { dtype: DTYPE_FLOAT32 } } ops { center_crop { size: 8 } }")).message(),
      "pipeline.ops[1]: CenterCrop.placement: a server op cannot follow a device op; move it up or place it "
      "on the device");
  EXPECT_EQ(
      ValidatePipeline(Parse("ops { to_dtype { dtype: DTYPE_FLOAT32 } } ops { random_horizontal_flip {} }")).message(),
      "pipeline.ops[1]: RandomHorizontalFlip.placement: a server op cannot follow a device op; move it up or "
      "place it on the device");
  for (const char* op : {"adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_hue", "random_posterize",
                         "random_solarize", "random_adjust_sharpness"})
    EXPECT_TRUE(
        absl::StrContains(ValidatePipeline(Parse(absl::StrCat("ops { ", op, " {} }"))).message(), "must be given"))
        << op;
  EXPECT_EQ(ValidatePipeline(Parse("ops { placement: PLACEMENT_DEVICE aug_mix {} }")).message(),
            "pipeline.ops[0]: AugMix.placement: runs on the server only");
  EXPECT_EQ(ValidatePipeline(Parse("jpeg_scaling: 9")).message(), "pipeline.jpeg_scaling: unknown value 9");
  EXPECT_EQ(ValidatePipeline(Parse("limits { max_pixels: 0 }")).message(),
            "pipeline.limits.max_pixels: 0 refuses every image");
}

TEST(PipelineTest, MovingAnOpToTheDeviceKeepsTheCursorsHashOnly) {
  EXPECT_EQ(WholeHash(Parse(kCropFlip)), WholeHash(Parse(kCropDeviceFlip)));
  EXPECT_NE(ServerPart(Parse(kCropFlip)), ServerPart(Parse(kCropDeviceFlip)));
  for (const char* op : {"random_erasing {}", "color_jitter { hue: 0.1 }", "gaussian_blur { kernel_size: 3 }",
                         "random_choice { transforms { random_rotation { degrees: 9 } } }"}) {
    const std::string server = absl::StrCat(kCropFlip, "ops { ", op, " }");
    const std::string device = absl::StrCat(kCropFlip, "ops { placement: PLACEMENT_DEVICE ", op, " }");
    EXPECT_EQ(WholeHash(Parse(server)), WholeHash(Parse(device))) << op;
    EXPECT_NE(ServerPart(Parse(server)), ServerPart(Parse(device))) << op;
  }
}

TEST(PipelineTest, WhatChangesBytesChangesTheServersHash) {
  const std::string hash = ServerPart(Parse(kCropFlip));
  EXPECT_EQ(ServerPart(Parse(std::string(kCropFlip) + "ops { to_dtype { dtype: DTYPE_FLOAT32 } }")), hash);
  EXPECT_EQ(ServerPart(Parse(std::string(kCropFlip) + "limits { max_scans: 100 }")), hash);
  EXPECT_EQ(ServerPart(Parse(std::string(kCropFlip) + "jpeg_scaling: JPEG_SCALING_K2")), hash);
  for (const char* change : {"limits { max_pixels: 9 }", "bad_samples: BAD_SAMPLES_SUBSTITUTE", "fields: 'image'",
                             "decode_warnings: DECODE_WARNINGS_IGNORE", "jpeg_scaling: JPEG_SCALING_EXACT",
                             "ops { random_vertical_flip {} }"})
    EXPECT_NE(ServerPart(Parse(std::string(kCropFlip) + change)), hash) << change;
}

}  // namespace
}  // namespace stoker
