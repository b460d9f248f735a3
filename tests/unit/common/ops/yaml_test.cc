// Ops as people write them.

#include "common/config/yaml_proto.h"
#include "common/pipeline/pipeline.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

v1::Pipeline Read(const std::string& yaml) {
  v1::Pipeline pipeline;
  const absl::Status status = ParseYaml(yaml, "pipeline.yaml", pipeline);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(ValidatePipeline(pipeline).ok()) << ValidatePipeline(pipeline);
  return pipeline;
}

v1::Pipeline Parse(const std::string& text) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  return pipeline;
}

TEST(OpYamlTest, ANumberStandsForAListOfOne) {
  EXPECT_EQ(Read("ops: [ColorJitter: {brightness: 0.4, hue: [-0.1, 0.2]}]").DebugString(),
            Parse("ops { color_jitter { brightness: 0.4 hue: [-0.1, 0.2] } }").DebugString());
}

TEST(OpYamlTest, OpsStandInsideOfOps) {
  const v1::Pipeline pipeline = Read(R"(
ops:
  - RandomResizedCrop: {size: 224}
  - RandomApply:
      p: 0.8
      transforms:
        - ColorJitter: {brightness: 0.4, contrast: 0.4, saturation: 0.2, hue: 0.1}
        - RandomChoice:
            transforms:
              - GaussianBlur: {kernel_size: 23}
              - RandomSolarize: {threshold: 128, p: 1}
            p: [0.9, 0.1]
  - RandomErasing:
)");
  EXPECT_EQ(pipeline.DebugString(),
            Parse("ops { random_resized_crop { size: 224 } } ops { random_apply { p: 0.8 transforms { color_jitter { "
                  "brightness: 0.4 contrast: 0.4 saturation: 0.2 hue: 0.1 } } transforms { random_choice { transforms "
                  "{ gaussian_blur { kernel_size: 23 } } transforms { random_solarize { threshold: 128 p: 1 } } p: "
                  "[0.9, 0.1] } } } } ops { random_erasing {} }")
                .DebugString());
}

TEST(OpYamlTest, ViewsAreGroupsOfOps) {
  const v1::Pipeline pipeline = Read(R"(
jpeg_scaling: exact
views:
  - name: global
    count: 2
    ops:
      - RandomResizedCrop: {size: 224, scale: [0.4, 1], interpolation: bicubic}
      - Pad: {padding: 4, padding_mode: reflect}
      - CenterCrop: {size: 224}
  - name: local
    count: 6
    ops: [RandomResizedCrop: {size: 96, scale: [0.05, 0.4]}]
)");
  EXPECT_EQ(pipeline.views_size(), 2);
  EXPECT_EQ(pipeline.views(0).ops(1).pad().padding_mode(), v1::PADDING_MODE_REFLECT);
  EXPECT_EQ(pipeline.views(1).count(), 6);
  EXPECT_EQ(pipeline.jpeg_scaling(), v1::JPEG_SCALING_EXACT);
}

// The text that a server prints is the pipeline that it runs.
TEST(OpYamlTest, EveryOpReadsBackFromItsText) {
  const auto* choice = v1::Op::descriptor()->FindOneofByName("op");
  for (int i = 0; i < choice->field_count(); ++i) {
    v1::Pipeline pipeline;
    v1::Op& op = *pipeline.add_ops();
    op.GetReflection()->MutableMessage(&op, choice->field(i));
    if (op.has_random_apply()) op.mutable_random_apply()->add_transforms()->mutable_random_invert()->set_p(0.25);
    v1::Pipeline read;
    const absl::Status status = ParseYaml(ToYaml(pipeline), "pipeline.yaml", read);
    EXPECT_TRUE(status.ok()) << status << "\n" << ToYaml(pipeline);
    EXPECT_EQ(read.SerializeAsString(), pipeline.SerializeAsString()) << ToYaml(pipeline);
  }
}

}  // namespace
}  // namespace stoker
