// MixUp, CutMix and RandomErasing against torchvision's, to the bit.

#include "tests/unit/client/device/batch_golden.h"

#include <cstring>

#include "client/device/device.h"
#include "common/ops/mix.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

constexpr uint64_t kSeed = 7, kEpoch = 3;

// As make_batch_golden.py's.
std::vector<uint8_t> Noise() {
  std::vector<uint8_t> noise(kGoldenRows * kGoldenHeight * kGoldenWidth * 3);
  uint32_t state = 1;
  for (uint8_t& value : noise) {
    state = state * 1664525 + 1013904223;
    value = static_cast<uint8_t>(state >> 24);
  }
  return noise;
}

struct Made {
  std::vector<float> images, labels;
};

std::vector<float> Floats(const Tensor& tensor) {
  std::vector<float> floats(tensor.bytes / sizeof(float));
  std::memcpy(floats.data(), tensor.data, tensor.bytes);
  return floats;
}

// What the CPU makes of the noise with `op` between ToDtype and ToMemoryFormat.
Made Make(const std::string& op, uint64_t first_position) {
  v1::Field image, label;
  image.set_name("image"), image.set_dtype(v1::DTYPE_UINT8);
  for (int64_t extent : {kGoldenHeight, kGoldenWidth, int64_t{3}}) image.add_shape(extent);
  label.set_name("label"), label.set_dtype(v1::DTYPE_INT64);
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "ops { to_dtype { dtype: DTYPE_FLOAT32 } } ops { " + op + " } ops { to_memory_format {} }", &pipeline));
  const auto device_pipeline = DevicePipeline::Create(pipeline, {image, label});
  EXPECT_TRUE(device_pipeline.ok()) << device_pipeline.status();
  const std::vector<uint8_t> noise = Noise();
  std::vector<uint8_t> labels(sizeof kGoldenLabels);
  std::memcpy(labels.data(), kGoldenLabels, sizeof kGoldenLabels);
  std::vector<uint64_t> positions;
  for (int64_t row = 0; row < kGoldenRows; ++row) positions.push_back(first_position + row);
  const HostBatch batch = {kSeed, kEpoch, positions, {noise, labels}, nullptr};
  const auto tensors = HostDevice()->Submit(*device_pipeline, batch);
  EXPECT_TRUE(tensors.ok()) << tensors.status();
  return {Floats((*tensors)[0]), Floats((*tensors)[1])};
}

TEST(BatchGoldenTest, MixUpIsTorchvisions) {
  for (const GoldenMix& golden : kGoldenMixUps) {
    const Made made = Make("mix_up { num_classes: 4 alpha: 0.8 }", golden.first_position);
    EXPECT_EQ(made.images, golden.images) << golden.first_position;
    EXPECT_EQ(made.labels, golden.labels) << golden.first_position;
  }
}

TEST(BatchGoldenTest, CutMixIsTorchvisions) {
  for (const GoldenMix& golden : kGoldenCutMixes) {
    const Made made = Make("cut_mix { num_classes: 4 }", golden.first_position);
    EXPECT_EQ(made.images, golden.images) << golden.first_position;
    EXPECT_EQ(made.labels, golden.labels) << golden.first_position;
  }
}

TEST(BatchGoldenTest, RandomErasingIsTorchvisions) {
  const Made made = Make("placement: PLACEMENT_DEVICE random_erasing { p: 1 value: [0.5, -1, 2] }", 100);
  EXPECT_EQ(made.images, kGoldenErased);
}

}  // namespace
}  // namespace stoker
