// Device ops on the CPU: dtypes, channels, other fields, and what samples draw. How images look is shown by
// tests/integration/device_ops_test.cc, against the server.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "client/device/device.h"
#include "common/fields/half_precision.h"
#include "common/fields/schema.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

v1::Field Field(const std::string& name, v1::Dtype dtype, const std::vector<int64_t>& shape) {
  v1::Field field;
  field.set_name(name), field.set_dtype(dtype);
  for (int64_t extent : shape) field.add_shape(extent);
  return field;
}

// Random images, int32 labels below 10, and 13 bits each.
class ServerBatch {
 public:
  ServerBatch(std::vector<uint64_t> positions, std::vector<int64_t> shape) : positions_(std::move(positions)) {
    fields_ = {Field("image", v1::DTYPE_UINT8, shape), Field("label", v1::DTYPE_INT32, {}),
               Field("bits", v1::DTYPE_UINT8, {2})};
    for (uint64_t position : positions_) {
      std::mt19937 random(static_cast<uint32_t>(position));
      const int64_t bytes = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
      for (int64_t i = 0; i < bytes; ++i) images_.push_back(static_cast<uint8_t>(random()));
      labels_.push_back(static_cast<int32_t>(random() % 10));
      for (int i = 0; i < 2; ++i) bits_.push_back(static_cast<uint8_t>(random()));
    }
  }

  HostBatch batch() const {
    const auto* labels = reinterpret_cast<const uint8_t*>(labels_.data());
    return {7, 3, positions_, {images_, {labels, labels_.size() * 4}, bits_}, nullptr};
  }
  const std::vector<v1::Field>& fields() const { return fields_; }
  std::vector<int32_t>& labels() { return labels_; }
  const std::vector<int32_t>& labels() const { return labels_; }
  const std::vector<uint8_t>& bits() const { return bits_; }
  const std::vector<uint8_t>& images() const { return images_; }

 private:
  std::vector<uint64_t> positions_;
  std::vector<v1::Field> fields_;
  std::vector<uint8_t> images_, bits_;
  std::vector<int32_t> labels_;
};

DevicePipeline Pipeline(const std::string& text, const ServerBatch& from) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  auto device = DevicePipeline::Create(pipeline, from.fields());
  EXPECT_TRUE(device.ok()) << device.status();
  return *device;
}

std::vector<Tensor> Submit(const std::string& text, const ServerBatch& from) {
  auto tensors = HostDevice()->Submit(Pipeline(text, from), from.batch());
  EXPECT_TRUE(tensors.ok()) << tensors.status();
  return *std::move(tensors);
}

template <typename T>
std::vector<T> Elements(const Tensor& tensor) {
  EXPECT_EQ(ByteSize(tensor.dtype), static_cast<int64_t>(sizeof(T)));
  std::vector<T> elements(tensor.bytes / sizeof(T));
  std::memcpy(elements.data(), tensor.data, tensor.bytes);
  return elements;
}

std::string OnDevice(const std::string& op) { return "ops { placement: PLACEMENT_DEVICE " + op + " } "; }

std::vector<uint64_t> Positions(int rows) {
  std::vector<uint64_t> positions(rows);
  std::iota(positions.begin(), positions.end(), 40);
  return positions;
}

constexpr char kNormalize[] = "ops { normalize { mean: 0.4 std: 0.3 } } ";

TEST(DeviceOpsTest, SmallFloatsAreTheFloat32sRounded) {
  const ServerBatch from(Positions(5), {9, 7, 3});
  const std::string rest =
      absl::StrCat(kNormalize, OnDevice("random_horizontal_flip {}"), OnDevice("random_erasing {}"),
                   "ops { mix_up { num_classes: 10 } } ops { to_memory_format {} }");
  const auto images = [&](const std::string& dtype) {
    return Submit("ops { to_dtype { dtype: " + dtype + " scale: true } } " + rest, from)[0];
  };
  const auto exact = Elements<float>(images("DTYPE_FLOAT32"));
  const auto halves = Elements<uint16_t>(images("DTYPE_FLOAT16")),
             brains = Elements<uint16_t>(images("DTYPE_BFLOAT16"));
  ASSERT_EQ(exact.size(), 5 * 9 * 7 * 3);
  for (size_t i = 0; i < exact.size(); ++i) {
    ASSERT_EQ(halves[i], ToFloat16(exact[i])) << i;
    ASSERT_EQ(brains[i], ToBfloat16(exact[i])) << i;
  }
}

// x · scale + bias by the program's numbers, each of any number of channels.
TEST(DeviceOpsTest, EachChannelIsNormalizedByItsOwnNumbers) {
  for (int64_t channels : {1, 2, 4, 5}) {
    const ServerBatch from(Positions(2), {3, 4, channels});
    std::string std;
    for (int64_t c = 0; c < channels; ++c) absl::StrAppend(&std, "std: 0.", c + 2, " ");
    for (const bool first : {false, true}) {
      const std::string text =
          absl::StrCat("ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true } } ops { normalize { mean: 0.5 ", std,
                       "} } ops { to_memory_format { memory_format: MEMORY_FORMAT_CHANNELS_", first ? "FIRST" : "LAST",
                       " } } ", OnDevice("random_vertical_flip { p: 1 }"));
      const DevicePipeline pipeline = Pipeline(text, from);
      const DevicePipeline::ImageProgram& program = pipeline.image();
      const auto values = Elements<float>(Submit(text, from)[0]);
      for (int64_t row = 0; row < 2; ++row)
        for (int64_t y = 0; y < 3; ++y)
          for (int64_t x = 0; x < 4; ++x)
            for (int64_t c = 0; c < channels; ++c) {
              const uint8_t level = from.images()[((row * 3 + 2 - y) * 4 + x) * channels + c];
              const int64_t at =
                  first ? ((row * channels + c) * 3 + y) * 4 + x : ((row * 3 + y) * 4 + x) * channels + c;
              ASSERT_EQ(values[at], static_cast<float>(level) * program.scale[c] + program.bias[c]);
              ASSERT_NEAR(values[at], (level / 255.0 - 0.5) / (0.1 * static_cast<double>(c + 2)), 1e-5);
            }
    }
  }
}

TEST(DeviceOpsTest, OneHotInEachDtype) {
  const ServerBatch from(Positions(6), {2, 2, 3});
  const auto expect = [&]<typename T>(const std::string& dtype, T one) {
    const auto tensors = Submit("ops { one_hot { num_classes: 10 " + dtype + " } }", from);
    EXPECT_EQ(tensors[1].shape, (std::vector<int64_t>{6, 10}));
    const auto values = Elements<T>(tensors[1]);
    for (int64_t row = 0; row < 6; ++row)
      for (int32_t k = 0; k < 10; ++k) ASSERT_EQ(values[row * 10 + k], from.labels()[row] == k ? one : T{}) << dtype;
  };
  expect("", 1.0f);
  expect("dtype: DTYPE_FLOAT16", uint16_t{0x3c00});
  expect("dtype: DTYPE_BFLOAT16", uint16_t{0x3f80});
  expect("dtype: DTYPE_UINT8", uint8_t{1});
  expect("dtype: DTYPE_INT64", int64_t{1});
}

// ---- Labels ----

constexpr char kOneHot[] = "ops { one_hot { num_classes: 10 } } ";

// Takes a place among the ops, by which those after it draw.
constexpr char kInPlace[] = "ops { unpack_bits { field: 'bits' shape: 16 } } ";

TEST(DeviceOpsTest, LabelsThatAreOneHotAlreadyAreMixedAsWholeNumbersAre) {
  const ServerBatch from(Positions(6), {8, 8, 3});
  const std::string floats = "ops { to_dtype { dtype: DTYPE_FLOAT32 } } ";
  for (const std::string op : {"mix_up", "cut_mix"})
    for (const std::string each : {"", "per_sample: true"}) {
      const auto by_number = Submit(floats + kInPlace + "ops { " + op + " { num_classes: 10 " + each + " } }", from);
      const auto by_vector = Submit(floats + kOneHot + "ops { " + op + " { " + each + " } }", from);
      for (int field : {0, 1})
        EXPECT_EQ(Elements<float>(by_number[field]), Elements<float>(by_vector[field])) << op << each;
    }
}

TEST(DeviceOpsTest, EachSampleIsMixedByItsOwnDraw) {
  const ServerBatch from(Positions(5), {8, 8, 3});
  const std::string text = std::string("ops { to_dtype { dtype: DTYPE_FLOAT32 } } ") + kOneHot +
                           "ops { random_choice { transforms { mix_up { per_sample: true } } "
                           "transforms { cut_mix { per_sample: true } } } }";
  const DevicePipeline pipeline = Pipeline(text, from);
  const auto tensors = Submit(text, from);
  const auto images = Elements<float>(tensors[0]), labels = Elements<float>(tensors[1]);
  std::set<double> lambdas;
  std::set<BatchDraw::Kind> kinds;
  for (int64_t row = 0; row < 5; ++row) {
    const int64_t other = (row + 4) % 5;
    const BatchDraw draw = pipeline.DrawBatch(7, 3, 40 + row);
    lambdas.insert(draw.lambda);
    kinds.insert(draw.kind);
    const auto own_share = static_cast<float>(draw.lambda), other_share = static_cast<float>(1 - draw.lambda);
    for (int32_t k = 0; k < 10; ++k)
      EXPECT_FLOAT_EQ(labels[row * 10 + k],
                      own_share * (from.labels()[row] == k) + other_share * (from.labels()[other] == k));
    for (int64_t i = 0; i < 64; ++i) {
      const float own = from.images()[(row * 64 + i) * 3], others = from.images()[(other * 64 + i) * 3];
      const bool inside = i / 8 >= draw.top && i / 8 < draw.top + draw.size.height && i % 8 >= draw.left &&
                          i % 8 < draw.left + draw.size.width;
      const float expected = draw.kind == BatchDraw::Kind::kMixUp ? others * other_share + own * own_share
                             : inside                             ? others
                                                                  : own;
      ASSERT_EQ(images[(row * 64 + i) * 3], expected) << row << " " << i;
    }
  }
  EXPECT_EQ(lambdas.size(), 5);
  EXPECT_EQ(kinds.size(), 2);
}

TEST(DeviceOpsTest, SmoothedLabelsAreTorchs) {
  const ServerBatch from(Positions(6), {2, 2, 3});
  const auto values =
      Elements<float>(Submit(std::string(kOneHot) + "ops { label_smoothing { smoothing: 0.1 } }", from)[1]);
  for (int64_t row = 0; row < 6; ++row)
    for (int32_t k = 0; k < 10; ++k) ASSERT_FLOAT_EQ(values[row * 10 + k], 0.9 * (from.labels()[row] == k) + 0.1 / 10);
}

// timm smooths before it mixes. It is the same after, but for rounding.
TEST(DeviceOpsTest, SmoothingCommutesWithMixing) {
  const ServerBatch from(Positions(6), {4, 4, 3});
  const std::string smooth = "ops { label_smoothing { smoothing: 0.1 } } ", mix = "ops { cut_mix {} } ";
  const auto before = Elements<float>(Submit(kOneHot + smooth + mix, from)[1]);
  const auto after = Elements<float>(Submit(kOneHot + mix + smooth, from)[1]);
  for (size_t i = 0; i < before.size(); ++i) ASSERT_NEAR(before[i], after[i], 1e-7);
  EXPECT_NE(before, Elements<float>(Submit(kOneHot + mix, from)[1]));
}

TEST(DeviceOpsTest, SoftLabelsAreMixedInTheirOwnType) {
  ServerBatch from(Positions(3), {4, 4, 3});
  std::vector<v1::Field> fields = {Field("image", v1::DTYPE_UINT8, {4, 4, 3}), Field("soft", v1::DTYPE_FLOAT16, {2})};
  const std::vector<float> soft = {1, 0, 0.25f, 0.75f, 0.5f, 2};
  std::vector<uint16_t> halves;
  for (float x : soft) halves.push_back(ToFloat16(x));
  v1::Pipeline spec;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString("ops { cut_mix { field: 'soft' } }", &spec));
  const auto pipeline = DevicePipeline::Create(spec, fields);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  HostBatch batch = from.batch();
  batch.fields = {batch.fields[0], {reinterpret_cast<const uint8_t*>(halves.data()), halves.size() * 2}};
  const auto tensors = HostDevice()->Submit(*pipeline, batch);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  const auto mixed = Elements<uint16_t>((*tensors)[1]);
  const BatchDraw draw = pipeline->DrawBatch(7, 3, 40);
  const auto own = static_cast<float>(draw.lambda), other = static_cast<float>(1 - draw.lambda);
  for (int64_t row = 0; row < 3; ++row)
    for (int64_t i = 0; i < 2; ++i)
      EXPECT_EQ(mixed[row * 2 + i], ToFloat16(soft[(row + 2) % 3 * 2 + i] * other + soft[row * 2 + i] * own));
}

// ---- Rows ----

// Three samples of 2, 0 and 3 rows of two numbers, in two pieces, as `op` hands them out.
template <typename T>
std::vector<T> Padded(const std::string& ops, v1::Dtype dtype, const std::vector<T>& values) {
  v1::Field rows = Field("rows", dtype, {2});
  rows.set_kind(v1::FIELD_KIND_RAGGED), rows.set_max_bytes(4096);
  v1::Pipeline spec;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(ops, &spec));
  const auto pipeline = DevicePipeline::Create(spec, {rows});
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  const std::span<const uint8_t> bytes = {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)};
  const std::vector<uint64_t> positions = Positions(3);
  HostBatch batch = {7, 3, positions, {{}}, nullptr};
  const size_t first = values.empty() ? 0 : 4 * sizeof(T);
  batch.variable = {{0, {bytes.first(first), bytes.subspan(first)}, {0, 2, 2, 5}}};
  if (values.empty()) batch.variable = {{0, {}, {0, 0, 0, 0}}};
  const auto tensors = HostDevice()->Submit(*pipeline, batch);
  EXPECT_TRUE(tensors.ok()) << tensors.status();
  EXPECT_EQ(tensors->size(), 1) << "without offsets";
  EXPECT_EQ((*tensors)[0].shape[0], 3);
  return Elements<T>((*tensors)[0]);
}

TEST(DeviceOpsTest, RowsArePaddedAndCut) {
  using testing::ElementsAre;
  const std::vector<int64_t> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_THAT(Padded("ops { to_padded { field: 'rows' rows: 2 fill: -7 } }", v1::DTYPE_INT64, values),
              ElementsAre(1, 2, 3, 4, -7, -7, -7, -7, 5, 6, 7, 8));
  EXPECT_THAT(Padded("ops { to_padded { field: 'rows' rows: 1 } }", v1::DTYPE_INT64, values),
              ElementsAre(1, 2, 0, 0, 5, 6));
  EXPECT_THAT(Padded<int64_t>("ops { to_padded { field: 'rows' rows: 1 fill: 9 } }", v1::DTYPE_INT64, {}),
              ElementsAre(9, 9, 9, 9, 9, 9));
}

TEST(DeviceOpsTest, WhatIsNormalizedIsPaddedByAValueOfItsOwn) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_THAT(Padded("ops { normalize { field: 'rows' mean: 1 std: [ 1, 2 ] } } "
                     "ops { to_padded { field: 'rows' rows: 2 fill: -0.5 } }",
                     v1::DTYPE_FLOAT32, values),
              testing::ElementsAre(0, 0.5f, 2, 1.5f, -0.5f, -0.5f, -0.5f, -0.5f, 4, 2.5f, 6, 3.5f));
}

TEST(DeviceOpsTest, UnpacksBitsInEitherOrder) {
  const ServerBatch from(Positions(3), {2, 2, 3});
  for (const bool little : {false, true}) {
    const auto tensors = Submit(absl::StrCat("ops { unpack_bits { field: 'bits' shape: 13 bit_order: BIT_ORDER_",
                                             little ? "LITTLE" : "BIG", " } }"),
                                from);
    EXPECT_EQ(tensors[2].shape, (std::vector<int64_t>{3, 13}));
    const auto values = Elements<uint8_t>(tensors[2]);
    for (int row = 0; row < 3; ++row)
      for (int bit = 0; bit < 13; ++bit) {
        const uint8_t byte = from.bits()[row * 2 + bit / 8];
        ASSERT_EQ(values[row * 13 + bit], (little ? byte >> bit % 8 : byte >> (7 - bit % 8)) & 1) << row << " " << bit;
      }
  }
}

TEST(DeviceOpsTest, CutMixTakesWholeNumbersToo) {
  const ServerBatch from(Positions(4), {8, 8, 3});
  const std::string text = "ops { cut_mix { num_classes: 10 } }";
  const BatchDraw draw = Pipeline(text, from).DrawBatch(7, 3, 40);
  ASSERT_GT(draw.size.height * draw.size.width, 0);
  const auto tensors = Submit(text, from);
  const auto values = Elements<uint8_t>(tensors[0]);
  for (int64_t row = 0; row < 4; ++row)
    for (int64_t y = 0; y < 8; ++y)
      for (int64_t x = 0; x < 8; ++x) {
        const bool inside =
            y >= draw.top && y < draw.top + draw.size.height && x >= draw.left && x < draw.left + draw.size.width;
        const int64_t shown = inside ? (row + 3) % 4 : row;
        ASSERT_EQ(values[((row * 8 + y) * 8 + x) * 3], from.images()[((shown * 8 + y) * 8 + x) * 3]);
      }
  for (int64_t row = 0; row < 4; ++row) {
    const auto labels = Elements<float>(tensors[1]);
    EXPECT_FLOAT_EQ(std::accumulate(labels.begin() + row * 10, labels.begin() + row * 10 + 10, 0.0f), 1);
  }
}

constexpr char kManyOps[] =
    "ops { placement: PLACEMENT_DEVICE random_resized_crop { size: 12 scale: [0.3, 1] } } "
    "ops { placement: PLACEMENT_DEVICE random_rotation { degrees: 20 interpolation: INTERPOLATION_BILINEAR } } "
    "ops { placement: PLACEMENT_DEVICE random_horizontal_flip {} } "
    "ops { placement: PLACEMENT_DEVICE color_jitter { brightness: 0.4 contrast: 0.4 saturation: 0.4 hue: 0.2 } } "
    "ops { placement: PLACEMENT_DEVICE gaussian_blur { kernel_size: 5 } } "
    "ops { placement: PLACEMENT_DEVICE random_mask { ratio: 0.1 } } "
    "ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true } } "
    "ops { placement: PLACEMENT_DEVICE random_erasing { p: 0.9 } } ops { to_memory_format {} } ";

// A sample's image depends on its position, not on its batch.
TEST(DeviceOpsTest, RowsDrawApartFromEachOtherAndTheSameAgain) {
  const ServerBatch all({5, 6, 7, 8, 6}, {14, 16, 3}), some({6, 5}, {14, 16, 3});
  const auto of_all = Elements<float>(Submit(kManyOps, all)[0]), of_some = Elements<float>(Submit(kManyOps, some)[0]);
  EXPECT_EQ(of_all, Elements<float>(Submit(kManyOps, all)[0]));
  const size_t image = 12 * 12 * 3;
  const auto row = [&](const std::vector<float>& images, size_t index) {
    return std::vector<float>(images.begin() + index * image, images.begin() + (index + 1) * image);
  };
  EXPECT_EQ(row(of_all, 0), row(of_some, 1));
  EXPECT_EQ(row(of_all, 1), row(of_some, 0));
  EXPECT_EQ(row(of_all, 1), row(of_all, 4));
  std::set<std::tuple<std::array<double, 6>, float, int64_t, int64_t>> draws;
  const DevicePipeline pipeline = Pipeline(kManyOps, all);
  for (uint64_t position = 0; position < 200; ++position) {
    const SampleDraw draw = pipeline.Draw(7, 3, position);
    const auto* colors = std::get_if<ColorsDraw>(&draw.steps[2]);
    draws.insert({std::get<GatherDraw>(draw.steps[1]).matrix, colors ? colors->changes[0].value : 0, draw.erase.top,
                  draw.erase.left});
  }
  EXPECT_EQ(draws.size(), 200);
}

TEST(DeviceOpsTest, AnotherEpochOrSeedDrawsOtherNumbers) {
  const ServerBatch from(Positions(3), {14, 16, 3});
  const DevicePipeline pipeline = Pipeline(kManyOps, from);
  const auto matrix = [&](uint64_t seed, uint64_t epoch) {
    return std::get<GatherDraw>(pipeline.Draw(seed, epoch, 40).steps[1]).matrix;
  };
  EXPECT_EQ(matrix(7, 3), matrix(7, 3));
  EXPECT_NE(matrix(7, 3), matrix(7, 4));
  EXPECT_NE(matrix(7, 3), matrix(8, 3));
}

// The image's first value in each row is erased or not; where it is, all layouts and dtypes have the same noise.
TEST(DeviceOpsTest, ErasedNoiseIsStandardNormalAndTheSameInEveryLayout) {
  const ServerBatch from(Positions(40), {32, 24, 3});
  const auto images = [&](const std::string& rest) {
    return Submit("ops { to_dtype { dtype: DTYPE_FLOAT32 } } " +
                      OnDevice("random_erasing { p: 1 noise: true scale: [0.2, 0.4] }") + rest,
                  from)[0];
  };
  const auto last = Elements<float>(images("")), first = Elements<float>(images("ops { to_memory_format {} }"));
  const size_t pixels = 32 * 24;
  double count = 0, sum = 0, squares = 0, beyond = 0;
  for (size_t row = 0; row < 40; ++row)
    for (size_t pixel = 0; pixel < pixels; ++pixel)
      for (size_t c = 0; c < 3; ++c) {
        const size_t at = (row * pixels + pixel) * 3 + c;
        ASSERT_EQ(last[at], first[(row * 3 + c) * pixels + pixel]);
        if (last[at] == static_cast<float>(from.images()[at])) continue;
        ++count, sum += last[at], squares += last[at] * last[at], beyond += std::abs(last[at]) > 1.96;
      }
  EXPECT_GT(count, 40 * 3 * pixels * 0.15);
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(squares / count, 1, 0.03);
  EXPECT_NEAR(beyond / count, 0.05, 0.005);
}

TEST(DeviceOpsTest, NoiseDrawsByPosition) {
  const ServerBatch all({5, 6, 6}, {32, 24, 3}), one({6}, {32, 24, 3});
  const std::string text =
      "ops { to_dtype { dtype: DTYPE_FLOAT32 } } " + OnDevice("random_erasing { p: 1 noise: true }");
  const auto of_all = Elements<float>(Submit(text, all)[0]), of_one = Elements<float>(Submit(text, one)[0]);
  const size_t image = 32 * 24 * 3;
  EXPECT_TRUE(std::equal(of_one.begin(), of_one.end(), of_all.begin() + image));
  EXPECT_TRUE(std::equal(of_one.begin(), of_one.end(), of_all.begin() + 2 * image));
}

TEST(DeviceOpsTest, NamesALabelThatHasNoClass) {
  ServerBatch from(Positions(3), {2, 2, 3});
  from.labels()[1] = 10;
  const DevicePipeline pipeline = Pipeline("ops { cut_mix { num_classes: 10 } }", from);
  const absl::Status status = HostDevice()->Submit(pipeline, from.batch()).status();
  EXPECT_EQ(status.message(), "pipeline.ops[0]: CutMix.num_classes: field 'label' has a 10, and 10 classes end at 9");
}

TEST(DeviceOpsTest, EmptyAndSingleBatches) {
  const std::string text = absl::StrCat(kManyOps, "ops { mix_up { num_classes: 10 } }");
  const ServerBatch none({}, {14, 16, 3}), one({5}, {14, 16, 3});
  EXPECT_EQ(Submit(text, none)[0].bytes, 0);
  EXPECT_EQ(Submit(text, none)[1].shape, (std::vector<int64_t>{0, 10}));
  const auto alone = Elements<float>(Submit(text, one)[0]), unmixed = Elements<float>(Submit(kManyOps, one)[0]);
  ASSERT_EQ(alone.size(), unmixed.size());
  for (size_t i = 0; i < alone.size(); ++i) ASSERT_NEAR(alone[i], unmixed[i], 1e-6);  // Its own partner.
}

}  // namespace
}  // namespace stoker
