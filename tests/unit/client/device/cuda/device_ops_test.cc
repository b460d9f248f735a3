// Every device op, by the GPU's kernels run on the CPU, against the host device: the same bytes.

#include <random>
#include <string>
#include <vector>

#include "client/device/cuda/cuda_device.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/support/simulated_gpu.h"
#include "tests/unit/client/device/cuda/ops_against_host.h"

namespace stoker {
namespace {

class DeviceOpsTest : public testing::TestWithParam<OpPipelines> {};

TEST_P(DeviceOpsTest, AreTheHosts) {
  std::mt19937_64 random(4);
  for (const std::string& text : GetParam().texts)
    for (int i = 0; i < 8; ++i) {
      const auto gpu = std::make_shared<SimulatedGpu>(random());
      const auto device = OpenCudaDevice(gpu, {});
      ASSERT_TRUE(device.ok());
      ExpectTheHosts(*gpu, **device, text, 24, random());
      EXPECT_THAT(gpu->violations(), testing::IsEmpty());
    }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceOpsTest, testing::ValuesIn(AllOpPipelines()),
                         [](const auto& info) { return info.param.name; });

TEST(DeviceOpsErrorTest, ALabelWithoutAClassIsNamed) {
  v1::Pipeline spec;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "ops { one_hot { field: 'label' num_classes: 11 dtype: DTYPE_FLOAT32 } }", &spec));
  v1::Field label;
  label.set_name("label"), label.set_dtype(v1::DTYPE_UINT8);
  const auto pipeline = DevicePipeline::Create(spec, {label});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const std::vector<uint8_t> labels = {3, 11};
  const std::vector<uint64_t> positions = {0, 1};
  const auto device = OpenCudaDevice(std::make_shared<SimulatedGpu>(1), {});
  ASSERT_TRUE(device.ok());
  const auto made = (*device)->Submit(*pipeline, {1, 0, positions, {labels}, nullptr});
  EXPECT_TRUE(absl::IsInvalidArgument(made.status())) << made.status();
  EXPECT_THAT(std::string(made.status().message()), testing::HasSubstr("11"));
}

TEST(DeviceOpsErrorTest, ViewsOfMoreChannelsThanKernelsTakeAreRefused) {
  v1::Pipeline spec;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "views { name: 'two' count: 2 ops { placement: PLACEMENT_DEVICE random_horizontal_flip {} } }", &spec));
  v1::Field two;  // As a hostile server may describe it.
  two.set_name("two"), two.set_dtype(v1::DTYPE_UINT8);
  for (int64_t extent : {2, 1, 1, 1000}) two.add_shape(extent);
  const auto pipeline = DevicePipeline::Create(spec, {two});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const std::vector<uint8_t> images(2000);
  const std::vector<uint64_t> positions = {0};
  const auto device = OpenCudaDevice(std::make_shared<SimulatedGpu>(1), {});
  ASSERT_TRUE(device.ok());
  const auto made = (*device)->Submit(*pipeline, {1, 0, positions, {images}, nullptr});
  EXPECT_TRUE(absl::IsInvalidArgument(made.status())) << made.status();
  EXPECT_THAT(std::string(made.status().message()), testing::HasSubstr("at most 64 channels, not 1000"));
}

}  // namespace
}  // namespace stoker
