// Images of native size, from the dataset's bytes to a span.

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/augment/points.h"
#include "server/work/sample_maker.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr ImageSize kStored = {40, 60};
constexpr char kNative[] = "native_size { max_pixels: 6000 } ";

SourceSchema ImageAlone() { return {{.name = "image", .shape = {kStored.height, kStored.width, 3}}}; }

absl::StatusOr<ServerPipeline> NativePipeline(const std::string& text, const SourceSchema& schema = ImageAlone()) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  return ServerPipeline::Create(pipeline, schema);
}

SampleBytes Painted() {
  SampleBytes sample;
  sample.fields.emplace_back(kStored.height * kStored.width * 3);
  for (size_t i = 0; i < sample.fields[0].size(); ++i) sample.fields[0][i] = static_cast<uint8_t>(i * i / 7 + i);
  return sample;
}

// The parts of a span of one sample.
absl::StatusOr<std::vector<std::vector<uint8_t>>> MadeParts(const ServerPipeline& pipeline, const SourceSchema& schema,
                                                            const SampleBytes& bytes, uint64_t position) {
  SampleMaker maker({});
  std::vector<uint8_t> slab(pipeline.sample_bytes());
  SpanWriter writer(pipeline, 1, slab);
  const Interrupt interrupt;
  v1::StageTimes times;
  const absl::Status status = maker.Make({pipeline, schema, 1, 0, position, interrupt}, bytes, writer, 0, times);
  if (!status.ok()) return status;
  v1::SpanHeader header;
  header.set_count(1);
  writer.Finish(header);
  std::vector<std::vector<uint8_t>> parts;
  auto at = slab.begin();
  for (const SpanLayout::Part& part : pipeline.layout().PartsOf(header)) {
    parts.emplace_back(at, at + static_cast<ptrdiff_t>(part.bytes));
    at += static_cast<ptrdiff_t>(part.bytes);
  }
  return parts;
}

std::array<int32_t, 2> SidesIn(const std::vector<uint8_t>& bytes) {
  std::array<int32_t, 2> sides = {};
  EXPECT_EQ(bytes.size(), sizeof sides);
  std::memcpy(sides.data(), bytes.data(), sizeof sides);
  return sides;
}

TEST(NativeSizeTest, ImagesAreFieldsOfPixelsAndOfSizes) {
  const auto pipeline = NativePipeline("native_size { max_pixels: 6000 typical_pixels: 2400 }");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  ASSERT_EQ(pipeline->outputs().size(), 2);
  const v1::Field &image = pipeline->outputs()[0].field, &sizes = pipeline->outputs()[1].field;
  EXPECT_EQ(image.kind(), v1::FIELD_KIND_RAGGED_IMAGE);
  EXPECT_THAT(image.shape(), testing::ElementsAre(3));
  EXPECT_EQ(image.max_bytes(), 18000);
  EXPECT_EQ(image.typical_bytes(), 7200);
  EXPECT_EQ(sizes.name(), "image.sizes");
  EXPECT_EQ(sizes.dtype(), v1::DTYPE_INT32);
  EXPECT_EQ(pipeline->span_samples(), 128);  // So many usual samples make 1 MiB.
}

TEST(NativeSizeTest, ThePixelsAreThoseThatTheSameOpsMakeOfOneSize) {
  const std::string ops = "ops { random_resized_crop { size: [24, 32] } } ops { random_horizontal_flip {} }";
  const auto native = NativePipeline(kNative + ops), fixed = NativePipeline(ops);
  ASSERT_TRUE(native.ok() && fixed.ok()) << native.status();
  for (uint64_t position = 0; position < 10; ++position) {
    const auto ragged = MadeParts(*native, ImageAlone(), Painted(), position);
    const auto dense = MadeParts(*fixed, ImageAlone(), Painted(), position);
    ASSERT_TRUE(ragged.ok() && dense.ok()) << ragged.status();
    EXPECT_EQ(SidesIn((*ragged)[0]), (std::array<int32_t, 2>{24, 32}));
    EXPECT_EQ(ragged->back(), dense->back());
  }
}

TEST(NativeSizeTest, EachImageHasTheSizeThatItsOpsDrew) {
  const auto pipeline = NativePipeline(std::string(kNative) + "ops { scale_jitter { target_size: [40, 40] } }");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  std::set<int32_t> widths;
  for (uint64_t position = 0; position < 20; ++position) {
    const auto made = MadeParts(*pipeline, ImageAlone(), Painted(), position);
    ASSERT_TRUE(made.ok()) << made.status();
    const auto drawn = pipeline->Draw(pipeline->outputs()[0], 0, kStored, 1, 0, position);
    ImageSize size = kStored;
    for (const OpParameters& op : *drawn)
      if (const auto* resize = std::get_if<ResizeParameters>(&op)) size = resize->size;
    const auto [height, width] = SidesIn((*made)[0]);
    EXPECT_EQ((ImageSize{height, width}), size);
    EXPECT_EQ(made->back().size(), size.height * size.width * 3);
    widths.insert(width);
  }
  EXPECT_GT(widths.size(), 5);
}

TEST(NativeSizeTest, AnImageOfTooManyPixelsIsABadSampleByName) {
  const auto pipeline = NativePipeline("native_size { max_pixels: 2399 }");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const absl::Status status = MadeParts(*pipeline, ImageAlone(), Painted(), 0).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("field 'image' would be an image of 60×40, more than the 2399 pixels of the "
                                          "pipeline's native_size.max_pixels"));
  EXPECT_TRUE(MadeParts(*NativePipeline("native_size { max_pixels: 2400 }"), ImageAlone(), Painted(), 0).ok());
}

TEST(NativeSizeTest, BoxesMoveWithTheirImageAndMapsOfOneSizeMayStay) {
  SourceSchema schema = ImageAlone();
  schema.push_back({.name = "boxes",
                    .kind = SourceField::Kind::kRows,
                    .dtype = v1::DTYPE_FLOAT32,
                    .shape = {4},
                    .meaning = v1::FIELD_KIND_BOXES,
                    .max_bytes = 64,
                    .typical_bytes = 16});
  const auto pipeline = NativePipeline(
      std::string(kNative) + "ops { random_shortest_size { min_size: [20, 30] } } ops { random_horizontal_flip {} }",
      schema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const std::vector<float> box = {6, 8, 30, 36};
  SampleBytes sample = Painted();
  sample.fields.emplace_back(16);
  std::memcpy(sample.fields[1].data(), box.data(), 16);
  for (uint64_t position = 0; position < 10; ++position) {
    const auto made = MadeParts(*pipeline, schema, sample, position);
    ASSERT_TRUE(made.ok()) << made.status();
    std::vector<float> expected = box, moved(4);
    const auto ops = pipeline->Draw(pipeline->outputs()[0], 0, kStored, 1, 0, position);
    MovePoints(*ops, kStored, v1::FIELD_KIND_BOXES, v1::BOX_FORMAT_XYXY, expected);
    std::memcpy(moved.data(), made->back().data(), 16);
    EXPECT_EQ(moved, expected);
  }
  SourceSchema with_map = ImageAlone();
  with_map.push_back({.name = "map", .shape = {kStored.height, kStored.width}, .meaning = v1::FIELD_KIND_LABEL_MAP});
  EXPECT_TRUE(NativePipeline(std::string(kNative) + "ops { center_crop { size: 16 } }", with_map).ok());
}

TEST(NativeSizeTest, RefusalsSayWhatToDo) {
  const auto message = [](const std::string& text, const SourceSchema& schema = ImageAlone()) {
    return std::string(NativePipeline(text, schema).status().message());
  };
  EXPECT_THAT(message("native_size {}"), HasSubstr("pipeline.native_size.max_pixels: must be given"));
  EXPECT_EQ(message("native_size { max_pixels: 9 typical_pixels: 10 }"),
            "pipeline.native_size.typical_pixels: 10 is above max_pixels, 9");
  EXPECT_THAT(message("native_size { max_pixels: 1000000000 }"), HasSubstr("is above 89478"));
  EXPECT_EQ(message("native_size { max_pixels: 9 } views { name: 'a' ops { center_crop { size: 8 } } }"),
            "pipeline.native_size: views have one size each; leave one of the two out");
  SourceSchema with_map = ImageAlone();
  with_map.push_back({.name = "map", .kind = SourceField::Kind::kEncodedImage, .meaning = v1::FIELD_KIND_LABEL_MAP});
  EXPECT_THAT(message(kNative, with_map), HasSubstr("pipeline.native_size: 'map' is a label_map, which would have the "
                                                    "size of its image, and maps are sent in one size alone"));
  EXPECT_EQ(
      message(std::string(kNative) + "ops { to_dtype { dtype: DTYPE_FLOAT32 } } ops { to_memory_format {} }"),
      "pipeline.ops[1]: ToMemoryFormat: works on images of one size, and those of 'image' have their native ones, "
      "height × width × 3 each: only ToDtype and Normalize take these on the device; leave it out");
  EXPECT_THAT(message(std::string(kNative) + "ops { placement: PLACEMENT_DEVICE random_horizontal_flip {} }"),
              HasSubstr("place it on the server"));
  EXPECT_EQ(message(std::string(kNative) + "ops { normalize { mean: 0 std: 1 } }"),
            "pipeline.ops[0]: Normalize: needs ToDtype to float32, float16 or bfloat16 before it");
  EXPECT_THAT(message(std::string(kNative) +
                      "ops { to_dtype { dtype: DTYPE_FLOAT16 field: 'image' } placement: PLACEMENT_SERVER }"),
              HasSubstr("ToDtype.field: 'image' is an image, which is converted on the device"));
}

}  // namespace
}  // namespace stoker
