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
  const auto tensors = stage_.Landed(batch)->Tensors();
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
    tensors = stage_.Landed(batch)->Tensors();
  }
  EXPECT_FALSE(slab.expired());
  tensors.pop_back();
  EXPECT_FALSE(slab.expired());
  tensors.clear();
  EXPECT_TRUE(slab.expired());
}

// Rows of two numbers, before and behind a label, of three samples that came in two spans.
LandedBatch LandedRows() {
  LandedBatch batch;
  batch.spec = {.cursor = {4, 0}, .runs = {{7, 3, 0}}, .rows = 3, .real = 3};
  const std::vector<uint32_t> sizes = {4, 0, 2, 0, 0, 3};  // those of "points", and then of "text"
  std::vector<uint8_t> bytes(reinterpret_cast<const uint8_t*>(sizes.data()),
                             reinterpret_cast<const uint8_t*>(sizes.data() + 3));
  bytes.insert(bytes.end(), {5, 6, 7});  // labels
  bytes.insert(bytes.end(), reinterpret_cast<const uint8_t*>(sizes.data() + 3),
               reinterpret_cast<const uint8_t*>(sizes.data() + 6));
  bytes.insert(bytes.end(), {50, 51, 'a', 'b', 'c', 10, 11, 12, 13});  // the later span came first
  batch.slab = std::make_shared<FakeSlab>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), batch.slab->bytes().begin());
  const std::span<const uint8_t> values = batch.slab->bytes().subspan(27);
  batch.values = {{{0, values.subspan(5, 4)}, {2, values.first(2)}}, {{0, {}}, {2, values.subspan(2, 3)}}};
  batch.positions = batch.drawn_positions = {7, 8, 9};
  return batch;
}

DeviceStage StageOfRows(std::shared_ptr<Device> device) {
  std::vector<v1::Field> fields(3);
  fields[0].set_name("points"), fields[0].set_dtype(v1::DTYPE_UINT8), fields[0].add_shape(2);
  fields[0].set_kind(v1::FIELD_KIND_RAGGED), fields[0].set_max_bytes(16);
  fields[1].set_name("label"), fields[1].set_dtype(v1::DTYPE_UINT8);
  fields[2].set_name("text"), fields[2].set_dtype(v1::DTYPE_UINT8);
  fields[2].set_kind(v1::FIELD_KIND_TEXT), fields[2].set_max_bytes(16);
  auto pipeline = DevicePipeline::Create({}, fields);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return {std::move(device), *pipeline, SlabLayout({4, 1, 4}), /*seed=*/5};
}

TEST(DeviceStageOfRowsTest, SamplesAreInOrderWhateverTheOrderOfTheirArrival) {
  const std::shared_ptr<const LandedFields> landed = StageOfRows(HostDevice()).Landed(LandedRows());
  const std::vector<Tensor> tensors = landed->Tensors();
  ASSERT_EQ(tensors.size(), 5);
  EXPECT_THAT(tensors[0].shape, ElementsAre(3, 2));
  EXPECT_THAT(std::span(static_cast<const uint8_t*>(tensors[0].data), tensors[0].bytes),
              ElementsAre(10, 11, 12, 13, 50, 51));
  EXPECT_THAT(std::span(static_cast<const uint8_t*>(tensors[1].data), tensors[1].bytes), ElementsAre(5, 6, 7));
  EXPECT_THAT(std::span(static_cast<const uint8_t*>(tensors[2].data), tensors[2].bytes), ElementsAre('a', 'b', 'c'));
  EXPECT_EQ(tensors[3].name, "points.offsets");
  EXPECT_THAT(std::span(static_cast<const int64_t*>(tensors[3].data), 4), ElementsAre(0, 2, 2, 3));
  EXPECT_EQ(tensors[4].name, "text.offsets");
  EXPECT_THAT(std::span(static_cast<const int64_t*>(tensors[4].data), 4), ElementsAre(0, 0, 0, 3));
}

TEST(DeviceStageOfRowsTest, TheDeviceGetsTheSamplesInTheirPieces) {
  const auto device = std::make_shared<FakeDevice>();
  DeviceStage stage = StageOfRows(device);
  ASSERT_TRUE(stage.Submit(LandedRows()).ok());
  const std::vector<HostBatch::Rows>& variable = device->submitted->variable;
  ASSERT_EQ(variable.size(), 2);
  EXPECT_EQ(variable[0].field, 0);
  ASSERT_EQ(variable[0].parts.size(), 2);
  EXPECT_THAT(variable[0].parts[0], ElementsAre(10, 11, 12, 13));
  EXPECT_THAT(variable[0].parts[1], ElementsAre(50, 51));
  EXPECT_THAT(variable[0].offsets, ElementsAre(0, 2, 2, 3));
  EXPECT_EQ(variable[1].field, 2);
  EXPECT_TRUE(device->submitted->fields[0].empty());
  EXPECT_THAT(device->submitted->fields[1], ElementsAre(5, 6, 7));
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
