#include "common/pipeline/device_pipeline.h"

#include "common/pipeline/ops.h"
#include "common/pipeline/server_pipeline.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

std::vector<v1::Field> ImageAndLabel() {
  v1::Field image, label;
  image.set_name("image"), image.set_dtype(v1::DTYPE_UINT8);
  for (int extent : {4, 6, 3}) image.add_shape(extent);
  label.set_name("label"), label.set_dtype(v1::DTYPE_INT64);
  return {image, label};
}

absl::StatusOr<DevicePipeline> Create(const std::string& text) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  return DevicePipeline::Create(pipeline, ImageAndLabel());
}

TEST(DevicePipelineTest, WithoutDeviceOpsBatchesStayAsTheyCame) {
  const auto device = Create("ops { center_crop { size: 4 } }");
  ASSERT_TRUE(device.ok());
  EXPECT_TRUE(device->identity());
}

TEST(DevicePipelineTest, FoldsCastScaleAndNormalizeIntoOneMultiplication) {
  const auto device = Create(
      "ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true } } ops { normalize { mean: [0.5, 0.25, 0] std: [0.5, 1, 2] } "
      "} "
      "ops { to_memory_format {} }");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_FLOAT_EQ(device->image().scale[0] * 255 + device->image().bias[0], 1);
  EXPECT_FLOAT_EQ(device->image().bias[1], -0.25);
  EXPECT_FLOAT_EQ(device->image().scale[2], 1 / 510.0);
  EXPECT_THAT(device->fields()[0].shape(), testing::ElementsAre(3, 4, 6));
  EXPECT_EQ(device->fields()[0].dtype(), v1::DTYPE_FLOAT32);
  EXPECT_EQ(device->fields()[1].dtype(), v1::DTYPE_INT64);
}

TEST(DevicePipelineTest, RefusesNormalizeOnWholeNumbers) {
  EXPECT_EQ(Create("ops { normalize { mean: 0 std: 1 } }").status().message(),
            "pipeline.ops[0]: Normalize: needs ToDtype to float32, float16 or bfloat16 before it");
}

TEST(DevicePipelineTest, DrawsTheFlipsThatTheServerWouldDraw) {
  const auto device = Create("ops { placement: PLACEMENT_DEVICE random_horizontal_flip {} }");
  ASSERT_TRUE(device.ok());
  v1::Pipeline on_server;
  on_server.add_ops()->mutable_random_horizontal_flip();
  const auto server =
      ServerPipeline::Create(on_server, {{.name = "image", .dtype = v1::DTYPE_UINT8, .shape = {4, 6, 3}}});
  for (uint64_t position = 0; position < 100; ++position)
    EXPECT_EQ(device->Draw(7, 1, position).flips.horizontal,
              !server->Draw(server->outputs()[0], 0, {4, 6}, 7, 1, position)->empty());
}

}  // namespace
}  // namespace stoker
