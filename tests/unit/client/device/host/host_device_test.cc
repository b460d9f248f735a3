#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/device/device.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

// So that an absurd allocation fails as it does without AddressSanitizer.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace stoker {
namespace {

constexpr uint64_t kSeed = 7, kEpoch = 3;

// Images and labels as servers send them.
class ServerBatch {
 public:
  ServerBatch(int64_t rows, int64_t height, int64_t width) : height_(height), width_(width) {
    std::mt19937 random(static_cast<uint32_t>(rows * 31 + height * 7 + width));
    // Without spare capacity, so that AddressSanitizer sees a read beyond the last image.
    images_ = std::vector<uint8_t>(rows * height * width * 3);
    for (uint8_t& value : images_) value = static_cast<uint8_t>(random());
    labels_.resize(rows * sizeof(int64_t));
    positions_.resize(rows);
    std::iota(positions_.begin(), positions_.end(), 100);
  }

  HostBatch batch() const { return {kSeed, kEpoch, positions_, {images_, labels_}, nullptr}; }

  std::vector<v1::Field> fields() const {
    v1::Field image, label;
    image.set_name("image"), image.set_dtype(v1::DTYPE_UINT8);
    for (int64_t extent : {height_, width_, int64_t{3}}) image.add_shape(extent);
    label.set_name("label"), label.set_dtype(v1::DTYPE_INT64);
    return {image, label};
  }

  uint8_t At(int64_t row, int64_t y, int64_t x, int64_t channel) const {
    return images_[((row * height_ + y) * width_ + x) * 3 + channel];
  }

 private:
  const int64_t height_, width_;
  std::vector<uint8_t> images_, labels_;
  std::vector<uint64_t> positions_;
};

DevicePipeline Pipeline(const std::string& text, const ServerBatch& from) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  auto device = DevicePipeline::Create(pipeline, from.fields());
  EXPECT_TRUE(device.ok()) << device.status();
  return *device;
}

std::vector<Tensor> Submit(Device& device, const DevicePipeline& pipeline, const HostBatch& batch) {
  auto result = device.Submit(pipeline, batch);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

// What `program` makes of one image, element by element.
template <typename T>
std::vector<T> Expected(const ServerBatch& from, int64_t row, const DevicePipeline& pipeline) {
  const DevicePipeline::ImageProgram& program = pipeline.image();
  const auto flips = pipeline.Draw(kSeed, kEpoch, 100 + row).flips;
  std::vector<T> expected(program.height * program.width * 3);
  for (int64_t y = 0; y < program.height; ++y)
    for (int64_t x = 0; x < program.width; ++x)
      for (int64_t c = 0; c < 3; ++c) {
        const int64_t to =
            program.channels_first ? (c * program.height + y) * program.width + x : (y * program.width + x) * 3 + c;
        const uint8_t value =
            from.At(row, flips.vertical ? program.height - 1 - y : y, flips.horizontal ? program.width - 1 - x : x, c);
        expected[to] = sizeof(T) == 1 ? value : static_cast<float>(value) * program.scale[c] + program.bias[c];
      }
  return expected;
}

template <typename T>
void ExpectEveryRowAsExpected(const ServerBatch& from, const DevicePipeline& pipeline) {
  const auto device = HostDevice();
  const auto result = Submit(*device, pipeline, from.batch());
  const Tensor& image = result[0];
  const int64_t elements = pipeline.image().height * pipeline.image().width * 3;
  ASSERT_EQ(image.bytes, from.batch().rows() * elements * sizeof(T));
  for (int64_t row = 0; row < from.batch().rows(); ++row) {
    const T* made = static_cast<const T*>(image.data) + row * elements;
    ASSERT_EQ(std::vector<T>(made, made + elements), Expected<T>(from, row, pipeline)) << "row " << row;
  }
}

constexpr char kFlips[][100] = {
    "",
    "ops { placement: PLACEMENT_DEVICE random_horizontal_flip { p: 1 } }",
    "ops { placement: PLACEMENT_DEVICE random_vertical_flip { p: 1 } }",
    "ops { placement: PLACEMENT_DEVICE random_horizontal_flip {} }",
};
constexpr char kBothFlips[] =
    "ops { placement: PLACEMENT_DEVICE random_horizontal_flip {} } "
    "ops { placement: PLACEMENT_DEVICE random_vertical_flip {} }";
constexpr char kLayouts[][100] = {"", "ops { to_memory_format { memory_format: MEMORY_FORMAT_CHANNELS_LAST } }",
                                  "ops { to_memory_format {} }"};
constexpr char kFloats[][200] = {
    "ops { to_dtype { dtype: DTYPE_FLOAT32 } }",
    "ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true } }",
    ("ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true } } "
     "ops { normalize { mean: [0.485, 0.456, 0.406] std: [0.229, 0.224, 0.225] } }"),
};

std::vector<std::string> AllFlips() {
  std::vector<std::string> flips(std::begin(kFlips), std::end(kFlips));
  flips.push_back(kBothFlips);
  return flips;
}

// Below, at and above the sizes at which the loops change, with odd sides and single rows and columns.
std::vector<ServerBatch> AllSizes() {
  std::vector<ServerBatch> batches;
  for (auto [height, width] : std::vector<std::pair<int, int>>{
           {1, 1}, {1, 2}, {2, 1}, {3, 5}, {7, 9}, {8, 8}, {1, 65}, {5, 13}, {16, 8}, {43, 3}, {37, 41}, {64, 2}})
    batches.emplace_back(6, height, width);
  return batches;
}

TEST(HostDeviceTest, MakesTheFloatsOfTheReferenceForEveryFlipLayoutAndSize) {
  for (const ServerBatch& from : AllSizes())
    for (const std::string& flip : AllFlips())
      for (const char* layout : kLayouts)
        for (const char* floats : kFloats) {
          const std::string text = absl::StrCat(flip, floats, layout);
          SCOPED_TRACE(absl::StrCat(text, " on ", from.fields()[0].ShortDebugString()));
          ExpectEveryRowAsExpected<float>(from, Pipeline(text, from));
        }
}

TEST(HostDeviceTest, MakesTheBytesOfTheReferenceForEveryFlipLayoutAndSize) {
  for (const ServerBatch& from : AllSizes())
    for (const std::string& flip : AllFlips())
      for (const char* layout : kLayouts) {
        const std::string text = absl::StrCat(flip, layout);
        if (text.empty()) continue;
        SCOPED_TRACE(absl::StrCat(text, " on ", from.fields()[0].ShortDebugString()));
        ExpectEveryRowAsExpected<uint8_t>(from, Pipeline(text, from));
      }
}

TEST(HostDeviceTest, FlipsSomeRowsAndNotOthers) {
  const ServerBatch from(64, 4, 4);
  const DevicePipeline pipeline = Pipeline(kBothFlips, from);
  int horizontal = 0, vertical = 0;
  for (uint64_t position : from.batch().positions) {
    horizontal += pipeline.Draw(kSeed, kEpoch, position).flips.horizontal;
    vertical += pipeline.Draw(kSeed, kEpoch, position).flips.vertical;
  }
  // The reference that the tests above compare with flips by these draws.
  EXPECT_THAT(horizontal, testing::AllOf(testing::Gt(0), testing::Lt(64)));
  EXPECT_THAT(vertical, testing::AllOf(testing::Gt(0), testing::Lt(64)));
  ExpectEveryRowAsExpected<uint8_t>(from, pipeline);
}

TEST(HostDeviceTest, HandsOutTheBatchsOwnBytesWhereNothingIsToBeDone) {
  const ServerBatch from(3, 4, 5);
  const HostBatch batch = from.batch();
  const auto result = Submit(*HostDevice(), Pipeline("", from), batch);
  ASSERT_EQ(result.size(), 2);
  EXPECT_EQ(result[0].data, batch.fields[0].data());
  EXPECT_EQ(result[0].bytes, batch.fields[0].size());
  EXPECT_EQ(result[1].data, batch.fields[1].data());
}

TEST(HostDeviceTest, HandsOutLabelsAsTheyCameBesideAChangedImage) {
  const ServerBatch from(3, 4, 5);
  const HostBatch batch = from.batch();
  const auto result = Submit(*HostDevice(), Pipeline("ops { to_dtype { dtype: DTYPE_FLOAT32 } }", from), batch);
  EXPECT_NE(result[0].data, batch.fields[0].data());
  EXPECT_EQ(result[1].data, batch.fields[1].data());
  EXPECT_EQ(result[1].bytes, batch.fields[1].size());
}

TEST(HostDeviceTest, DescribesTensorsWithSamplesFirst) {
  const ServerBatch from(3, 4, 5);
  const auto result =
      Submit(*HostDevice(), Pipeline("ops { to_dtype { dtype: DTYPE_FLOAT32 } } ops { to_memory_format {} }", from),
             from.batch());
  const Tensor& image = result[0];
  EXPECT_EQ(image.name, "image");
  EXPECT_EQ(image.dtype, v1::DTYPE_FLOAT32);
  EXPECT_THAT(image.shape, testing::ElementsAre(3, 3, 4, 5));
  const Tensor& label = result[1];
  EXPECT_EQ(label.name, "label");
  EXPECT_EQ(label.dtype, v1::DTYPE_INT64);
  EXPECT_THAT(label.shape, testing::ElementsAre(3));
}

TEST(HostDeviceTest, TakesBatchesWithoutRows) {
  const ServerBatch from(0, 4, 5);
  for (const char* text : {"", "ops { to_dtype { dtype: DTYPE_FLOAT32 } } ops { to_memory_format {} }"}) {
    const auto result = Submit(*HostDevice(), Pipeline(text, from), from.batch());
    EXPECT_EQ(result[0].bytes, 0);
    EXPECT_EQ(result[0].shape[0], 0);
  }
}

TEST(HostDeviceTest, LeavesBatchesThatAreInUseAloneWhileItMakesOthers) {
  const ServerBatch from(2, 5, 7);
  const DevicePipeline pipeline = Pipeline(kFloats[0], from);
  const auto device = HostDevice();
  std::vector<std::vector<Tensor>> batches;
  for (int i = 0; i < 5; ++i) {
    batches.push_back(Submit(*device, pipeline, from.batch()));
    if (i == 2) batches.erase(batches.begin());  // Its memory may be used again.
  }
  std::vector<const void*> places;
  for (const auto& batch : batches) places.push_back(batch[0].data);
  std::sort(places.begin(), places.end());
  EXPECT_EQ(std::adjacent_find(places.begin(), places.end()), places.end());
}

TEST(HostDeviceTest, BatchesOutliveTheirDevice) {
  const ServerBatch from(2, 5, 7);
  const DevicePipeline pipeline = Pipeline(kFloats[0], from);
  const auto result = Submit(*HostDevice(), pipeline, from.batch());
  const std::vector<float> expected = Expected<float>(from, 0, pipeline);
  EXPECT_EQ(std::memcmp(result[0].data, expected.data(), expected.size() * sizeof(float)), 0);
}

TEST(HostDeviceTest, AlignsSlabsAndWhatItMakes) {
  const auto device = HostDevice();
  for (uint64_t bytes : {1, 255, 4097}) {
    const auto slab = device->AllocateSlab(bytes, true);
    ASSERT_TRUE(slab.ok());
    ASSERT_EQ((*slab)->bytes().size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*slab)->bytes().data()) % 256, 0);
    std::memset((*slab)->bytes().data(), 1, bytes);
  }
  const ServerBatch from(1, 3, 3);
  const auto result = Submit(*device, Pipeline(kFloats[0], from), from.batch());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(result[0].data) % 256, 0);
}

TEST(HostDeviceTest, SaysThatThereIsNoMemoryForASlab) {
  const auto slab = HostDevice()->AllocateSlab(uint64_t{1} << 60, true);
  EXPECT_EQ(slab.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(slab.status().message()), testing::HasSubstr("1152921504606846976 bytes"));
}

}  // namespace
}  // namespace stoker
