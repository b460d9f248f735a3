#include "client/loader/device_stage.h"

#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/loader/fake_device.h"

namespace stoker {
namespace {

using testing::ElementsAre;

// Fields of 2 and of 8 bytes a sample.
DevicePipeline Pipeline() {
  v1::Field bytes, label;
  bytes.set_name("bytes"), bytes.set_dtype(v1::DTYPE_UINT8), bytes.add_shape(2);
  label.set_name("label"), label.set_dtype(v1::DTYPE_INT64);
  auto pipeline = DevicePipeline::Create({}, {bytes, label});
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return *pipeline;
}

// Three rows, of epoch 4, in a slab whose bytes count from 0.
LandedBatch Landed() {
  LandedBatch batch;
  batch.spec = {.cursor = {4, 0}, .runs = {{7, 3, 0}}, .rows = 3, .real = 3};
  batch.slab = std::make_shared<FakeSlab>(30);
  std::iota(batch.slab->bytes().begin(), batch.slab->bytes().end(), 0);
  batch.positions = {7, 8, 9};
  batch.drawn_positions = {7, 20, 9};
  return batch;
}

class DeviceStageTest : public testing::Test {
 protected:
  const std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
  DeviceStage stage_{device_, Pipeline(), SlabLayout({2, 8}), /*seed=*/5};
};

TEST_F(DeviceStageTest, ServerTensorsAreTheSlabFieldByField) {
  const LandedBatch batch = Landed();
  const auto tensors = stage_.ServerTensors(batch);
  ASSERT_EQ(tensors.size(), 2);
  EXPECT_EQ(tensors[0].name, "bytes");
  EXPECT_THAT(tensors[0].shape, ElementsAre(3, 2));
  EXPECT_EQ(tensors[0].data, batch.slab->bytes().data());
  EXPECT_EQ(tensors[0].bytes, 6);
  EXPECT_EQ(tensors[1].dtype, v1::DTYPE_INT64);
  EXPECT_THAT(tensors[1].shape, ElementsAre(3));
  EXPECT_EQ(tensors[1].data, batch.slab->bytes().data() + 6);
  EXPECT_EQ(tensors[1].bytes, 24);
}

TEST_F(DeviceStageTest, ServerTensorsKeepTheSlab) {
  std::weak_ptr<HostSlab> slab;
  std::vector<Tensor> tensors;
  {
    const LandedBatch batch = Landed();
    slab = batch.slab;
    tensors = stage_.ServerTensors(batch);
  }
  EXPECT_FALSE(slab.expired());
  tensors.pop_back();
  EXPECT_FALSE(slab.expired());
  tensors.clear();
  EXPECT_TRUE(slab.expired());
}

TEST_F(DeviceStageTest, TheDeviceGetsEachRowsDrawsAndTheFirstRowsOwnPosition) {
  LandedBatch batch = Landed();
  batch.drawn_positions[0] = 30;
  const auto tensors = stage_.Submit(batch);
  ASSERT_TRUE(tensors.ok());
  EXPECT_EQ(tensors->at(0).name, "made");
  ASSERT_TRUE(device_->submitted.has_value());
  EXPECT_EQ(device_->submitted->seed, 5);
  EXPECT_EQ(device_->submitted->epoch, 4);
  EXPECT_THAT(device_->positions, ElementsAre(30, 20, 9));
  EXPECT_EQ(device_->submitted->FirstPosition(), 7);
  EXPECT_EQ(device_->submitted->slab, batch.slab);
  ASSERT_EQ(device_->submitted->fields.size(), 2);
  EXPECT_THAT(device_->submitted->fields[0], ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(device_->submitted->fields[1].size(), 24);
  EXPECT_EQ(device_->submitted->fields[1][0], 6);
}

TEST_F(DeviceStageTest, TheDevicesErrorIsTold) {
  device_->status = absl::FailedPreconditionError("the GPU is lost");
  EXPECT_EQ(stage_.Submit(Landed()).status(), device_->status);
}

}  // namespace
}  // namespace stoker
