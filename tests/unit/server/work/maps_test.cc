// Label maps and binary maps, which are moved as the image that they lie on.

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/work/sample_maker.h"
#include "tests/support/made_png.h"

namespace stoker {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr ImageSize kSize = {37, 53};
constexpr uint64_t kPositions = 24;

// Pipelines whose ops move an image, by nearest pixels. Fills are 7 in the image's first
// channel and 1 in its second, which is what a map's 263 is.
const std::string kFill = " fill: [ 7, 1, 0 ] map_fill: 263 ";
const std::string kMoves[] = {
    "",
    "ops { random_resized_crop { size: [ 24, 31 ] interpolation: INTERPOLATION_NEAREST } }",
    "ops { random_horizontal_flip {} } ops { random_vertical_flip {} }",
    "ops { random_crop { size: 40 padding: 6" + kFill + "} } ops { random_horizontal_flip {} }",
    "ops { pad { padding: [ 3, 4, 5, 6 ] padding_mode: PADDING_MODE_REFLECT } } ops { center_crop { size: 30 } }",
    "ops { pad { padding: 5" + kFill + "} } ops { random_affine { degrees: 30 translate: [ 0.1, 0.2 ] shear: 9" +
        kFill + "} }",
    "ops { random_rotation { degrees: 40" + kFill +
        "} } ops { random_resized_crop { size: 64 interpolation: "
        "INTERPOLATION_NEAREST } }",
    "ops { resize { size: [ 90, 80 ] interpolation: INTERPOLATION_NEAREST } } ops { random_choice { transforms { "
    "random_rotation { degrees: 20" +
        kFill + "} } transforms { random_vertical_flip { p: 1 } } } }",
};

struct Sample {
  SourceSchema schema;
  SampleBytes bytes;
};

// A sample whose image has a map's values: their lower 8 bits are red, their upper 8 bits green.
Sample Made(v1::FieldKind kind, v1::Dtype dtype, bool encoded) {
  std::mt19937 random(3);
  Sample sample;
  Bytes image, map;
  std::vector<uint16_t> values;
  for (int64_t i = 0; i < kSize.height * kSize.width; ++i) {
    uint16_t value = random() % 32768;
    if (dtype == v1::DTYPE_UINT8) value &= 0xff;
    if (kind == v1::FIELD_KIND_BINARY_MAP) value &= 1;
    values.push_back(value);
    for (int byte = 0; byte < 3; ++byte) image.push_back(static_cast<uint8_t>(value >> 8 * byte));
    for (int64_t byte = 0; byte < ByteSize(dtype); ++byte) map.push_back(static_cast<uint8_t>(value >> 8 * byte));
  }
  sample.schema = {{.name = "image", .shape = {kSize.height, kSize.width, 3}},
                   {.name = "mask", .dtype = dtype, .shape = {kSize.height, kSize.width}, .meaning = kind}};
  if (encoded) {
    sample.schema[1].kind = SourceField::Kind::kEncodedImage;
    map = MapPng(kSize, values, dtype == v1::DTYPE_UINT8 ? 8 : 16);
  }
  sample.bytes.fields = {image, map};
  return sample;
}

// The ops, and then one that gives a sample of any size the size of Made's.
ServerPipeline Pipeline(const std::string& text, const SourceSchema& schema) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  auto& crop = *pipeline.add_ops()->mutable_center_crop();
  for (const int64_t extent : {kSize.height, kSize.width}) crop.add_size(static_cast<int32_t>(extent));
  auto server = ServerPipeline::Create(pipeline, schema);
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

// The bytes of each output at a position.
absl::StatusOr<std::vector<Bytes>> MakeAt(uint64_t position, const ServerPipeline& pipeline, const Sample& sample) {
  SampleMaker maker({});
  Bytes slab(pipeline.sample_bytes());
  SpanWriter writer(pipeline, 1, slab);
  const Interrupt interrupt;
  v1::StageTimes times;
  const absl::Status status =
      maker.Make({pipeline, sample.schema, 1, 0, position, interrupt}, sample.bytes, writer, 0, times);
  if (!status.ok()) return status;
  std::vector<Bytes> outputs;
  for (size_t i = 0; i < pipeline.outputs().size(); ++i) {
    const auto slot = writer.Slot(i, 0);
    outputs.emplace_back(slot.begin(), slot.end());
  }
  return outputs;
}

Bytes MaskAt(uint64_t position, const std::string& ops, const Sample& sample) {
  auto outputs = MakeAt(position, Pipeline(ops, sample.schema), sample);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs->back();
}

// The values of an image that Made made.
std::vector<uint16_t> ValuesOf(const Bytes& image) {
  std::vector<uint16_t> values;
  for (size_t i = 0; i < image.size(); i += 3) values.push_back(image[i] | image[i + 1] << 8);
  return values;
}

class MapsTest : public testing::TestWithParam<bool> {};  // whether the map is encoded

TEST_P(MapsTest, LabelsGoWhereTheirPixelsGo) {
  for (const v1::Dtype dtype : {v1::DTYPE_UINT8, v1::DTYPE_INT16}) {
    const Sample sample = Made(v1::FIELD_KIND_LABEL_MAP, dtype, GetParam());
    for (std::string ops : kMoves) {
      SCOPED_TRACE(ops);
      if (dtype == v1::DTYPE_UINT8)
        for (size_t at; (at = ops.find(kFill)) != std::string::npos;)
          ops.replace(at, kFill.size(), " fill: [ 7, 0, 0 ] map_fill: 7 ");
      const ServerPipeline pipeline = Pipeline(ops, sample.schema);
      for (uint64_t position = 0; position < kPositions; ++position) {
        const auto outputs = MakeAt(position, pipeline, sample);
        ASSERT_TRUE(outputs.ok()) << outputs.status();
        Bytes expected;
        for (const uint16_t value : ValuesOf((*outputs)[0]))
          for (int64_t byte = 0; byte < ByteSize(dtype); ++byte)
            expected.push_back(static_cast<uint8_t>(value >> 8 * byte));
        ASSERT_EQ((*outputs)[1], expected) << "position " << position;
      }
    }
  }
}

TEST_P(MapsTest, BitsGoWhereTheirPixelsGo) {
  const Sample sample = Made(v1::FIELD_KIND_BINARY_MAP, v1::DTYPE_UINT8, GetParam());
  for (const std::string& ops : kMoves) {
    SCOPED_TRACE(ops);
    const ServerPipeline pipeline = Pipeline(ops, sample.schema);
    for (uint64_t position = 0; position < kPositions; ++position) {
      const auto outputs = MakeAt(position, pipeline, sample);
      ASSERT_TRUE(outputs.ok()) << outputs.status();
      const std::vector<uint16_t> values = ValuesOf((*outputs)[0]);
      Bytes expected((values.size() + 7) / 8);
      for (size_t i = 0; i < values.size(); ++i)
        if (values[i] != 0) expected[i / 8] |= 0x80 >> i % 8;
      ASSERT_EQ((*outputs)[1], expected) << "position " << position;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stored, MapsTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Encoded" : "Dense"; });

TEST(MapTest, InterpolationAndColorChangeNoLabel) {
  const Sample sample = Made(v1::FIELD_KIND_LABEL_MAP, v1::DTYPE_UINT8, false);
  const std::string bilinear =
      "ops { random_resized_crop { size: 40 interpolation: INTERPOLATION_BICUBIC } } "
      "ops { random_affine { degrees: 20 interpolation: INTERPOLATION_BILINEAR } }";
  const std::string nearest =
      "ops { random_resized_crop { size: 40 interpolation: INTERPOLATION_NEAREST } } "
      "ops { random_affine { degrees: 20 } }";
  const std::string colors =
      " ops { color_jitter { brightness: 0.5 contrast: 0.5 } } ops { gaussian_blur { kernel_size: 5 } } "
      "ops { random_erasing { p: 1 } } ops { random_mask { ratio: 0.2 } } ops { random_equalize { p: 1 } }";
  for (uint64_t position = 0; position < kPositions; ++position) {
    const Bytes expected = MaskAt(position, nearest, sample);
    EXPECT_EQ(MaskAt(position, bilinear, sample), expected);
    EXPECT_EQ(MaskAt(position, nearest + colors, sample), expected);
  }
}

TEST(MapTest, PoliciesMoveLabelsAndMakeNoNewOnes) {
  Sample sample = Made(v1::FIELD_KIND_LABEL_MAP, v1::DTYPE_UINT8, false);
  for (uint8_t& label : sample.bytes.fields[1]) label = label % 5;
  const std::set<uint8_t> allowed = {0, 1, 2, 3, 4, 255};
  const std::string ops = "ops { rand_augment { map_fill: 255 } } ops { trivial_augment_wide { map_fill: 255 } }";
  int moved = 0, stayed = 0;
  for (uint64_t position = 0; position < 60; ++position) {
    const Bytes mask = MaskAt(position, ops, sample);
    mask == sample.bytes.fields[1] ? ++stayed : ++moved;
    for (const uint8_t label : mask) ASSERT_TRUE(allowed.contains(label)) << int{label};
  }
  EXPECT_GT(moved, 10);
  EXPECT_GT(stayed, 3);
}

TEST(MapTest, IsMadeAloneAsBesideItsImage) {
  const Sample sample = Made(v1::FIELD_KIND_LABEL_MAP, v1::DTYPE_UINT8, true);
  for (uint64_t position = 0; position < kPositions; ++position)
    EXPECT_EQ(MaskAt(position, kMoves[1] + " fields: 'mask'", sample), MaskAt(position, kMoves[1], sample));
}

TEST(MapTest, OfAnotherSizeThanItsImageIsABadSample) {
  Sample sample = Made(v1::FIELD_KIND_LABEL_MAP, v1::DTYPE_UINT8, true);
  sample.schema.push_back(sample.schema[1]);
  sample.schema[2].name = "edges";
  sample.bytes.fields.push_back(sample.bytes.fields[1]);
  const auto status = [&](const std::string& fields) {
    return MakeAt(0, Pipeline(kMoves[1] + fields, sample.schema), sample).status();
  };
  EXPECT_TRUE(status("").ok());
  sample.bytes.fields[1] = MapPng({53, 37}, std::vector<uint16_t>(37 * 53), 8);
  const std::string image = "'image' 53×37; a map has the size of the image that it lies on",
                    edges = "'edges' 53×37; a map has the size of the image that it lies on";
  EXPECT_EQ(status("").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(status("").message(),
            "its field 'image' has 53×37 pixels, and 'mask' 37×53; a map has the size of the image that it lies on");
  EXPECT_EQ(status(" fields: 'mask' fields: 'image'").message(), "its field 'mask' has 37×53 pixels, and " + image);
  EXPECT_EQ(status(" fields: ['mask', 'edges', 'image']").message(), "its field 'mask' has 37×53 pixels, and " + edges);
  EXPECT_EQ(status(" fields: ['mask', 'edges']").message(), "its field 'mask' has 37×53 pixels, and " + edges);
  EXPECT_TRUE(status(" fields: ['edges', 'image']").ok());
}

TEST(MapTest, AValueThatDoesNotFitIsABadSample) {
  Sample sample = Made(v1::FIELD_KIND_LABEL_MAP, v1::DTYPE_UINT8, true);
  std::vector<uint16_t> values(kSize.height * kSize.width);
  values[0] = 256;
  sample.bytes.fields[1] = MapPng(kSize, values, 16);
  const auto status = [&] { return MakeAt(0, Pipeline("", sample.schema), sample).status(); };
  EXPECT_EQ(status().message(),
            "a map's value is above 255, the most that uint8 holds; set the field's dtype to int16");
  sample.schema[1].dtype = v1::DTYPE_INT16;
  EXPECT_TRUE(status().ok());
  values[0] = 32768;
  sample.bytes.fields[1] = MapPng(kSize, values, 16);
  EXPECT_EQ(status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(status().message(), "a map's value is above 32767, the most that int16 holds");
  // Every value but 0 is a bit that is set.
  sample.schema[1].meaning = v1::FIELD_KIND_BINARY_MAP;
  EXPECT_EQ(MaskAt(0, "", sample)[0], 0x80);
}

// ---- Numbers ----

TEST(ConversionTest, NumbersAreSentAsTheOpSays) {
  const float values[] = {0.5f, -2, 1e6f};
  Sample sample;
  sample.schema = {{.name = "image", .shape = {kSize.height, kSize.width, 3}},
                   {.name = "features", .dtype = v1::DTYPE_FLOAT32, .shape = {3}}};
  const auto* bytes = reinterpret_cast<const uint8_t*>(values);
  sample.bytes.fields = {Bytes(kSize.height * kSize.width * 3), Bytes(bytes, bytes + sizeof values)};
  const std::string cast = "ops { placement: PLACEMENT_SERVER to_dtype { field: 'features' dtype: DTYPE_FLOAT16 } } ";
  EXPECT_EQ(MaskAt(0, cast, sample), (Bytes{0x00, 0x38, 0x00, 0xc0, 0x00, 0x7c}));
  sample.schema[1].dtype = v1::DTYPE_UINT8;
  sample.bytes.fields[1] = {0, 51, 255};
  const std::string scaled =
      "ops { placement: PLACEMENT_SERVER to_dtype { field: 'features' dtype: DTYPE_FLOAT16 scale: true } } ";
  EXPECT_EQ(MaskAt(0, scaled, sample), (Bytes{0x00, 0x00, 0x66, 0x32, 0x00, 0x3c}));
}

}  // namespace
}  // namespace stoker
