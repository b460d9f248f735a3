// Fields whose samples differ in size, from the dataset's bytes to a span.

#include <bit>
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

using testing::ElementsAre;
using testing::HasSubstr;

constexpr ImageSize kSize = {40, 60};

template <typename T>
std::vector<uint8_t> BytesOf(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return {bytes, bytes + values.size() * sizeof(T)};
}

SourceField Rows(const std::string& name, v1::FieldKind kind, v1::Dtype dtype, std::vector<int64_t> shape) {
  return {.name = name,
          .kind = SourceField::Kind::kRows,
          .dtype = dtype,
          .shape = std::move(shape),
          .meaning = kind,
          .max_bytes = 256,
          .typical_bytes = 64};
}

// Boxes stand before their image, as fields do by their names.
SourceSchema Schema(v1::Dtype stored) {
  return {Rows("boxes", v1::FIELD_KIND_BOXES, stored, {4}),
          {.name = "image", .shape = {kSize.height, kSize.width, 3}},
          Rows("points", v1::FIELD_KIND_KEYPOINTS, v1::DTYPE_FLOAT32, {2}),
          Rows("text", v1::FIELD_KIND_TEXT, v1::DTYPE_UINT8, {})};
}

absl::StatusOr<ServerPipeline> Pipeline(const std::string& text, const SourceSchema& schema) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  return ServerPipeline::Create(pipeline, schema);
}

// What a span of one sample has of its fields whose samples differ in size.
absl::StatusOr<std::vector<std::vector<uint8_t>>> Make(const ServerPipeline& pipeline, const SourceSchema& schema,
                                                       const SampleBytes& bytes, uint64_t position = 3) {
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
  std::vector<std::vector<uint8_t>> values;
  size_t at = 0;
  for (const SpanLayout::Part& part : pipeline.layout().PartsOf(header)) {
    if (part.holds == SpanLayout::Part::Holds::kValues)
      values.emplace_back(slab.begin() + static_cast<ptrdiff_t>(at),
                          slab.begin() + static_cast<ptrdiff_t>(at + part.bytes));
    at += part.bytes;
  }
  return values;
}

std::vector<float> FloatsOf(const std::vector<uint8_t>& bytes) {
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

SampleBytes Sample(std::vector<uint8_t> boxes) {
  SampleBytes sample;
  sample.fields = {std::move(boxes),
                   std::vector<uint8_t>(kSize.height * kSize.width * 3, 9),
                   BytesOf<float>({30, 20, 0, 39}),
                   {'d', 'o', 'g'}};
  return sample;
}

TEST(RowsTest, BoxesAndKeypointsMoveByTheDrawsOfTheImage) {
  const SourceSchema schema = Schema(v1::DTYPE_FLOAT32);
  const auto pipeline = Pipeline(
      "ops { random_resized_crop { size: [ 24, 32 ] } } ops { random_horizontal_flip {} } ops { random_affine { "
      "degrees: 20 } }",
      schema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  bool moved = false;
  for (uint64_t position = 0; position < 20; ++position) {
    const auto made = Make(*pipeline, schema, Sample(BytesOf<float>({5, 6, 30, 35, 0, 0, 60, 40})), position);
    ASSERT_TRUE(made.ok()) << made.status();
    std::vector<float> boxes = {5, 6, 30, 35, 0, 0, 60, 40}, points = {30, 20, 0, 39};
    const auto ops = pipeline->Draw(pipeline->outputs()[1], 0, kSize, 1, 0, position);
    ASSERT_TRUE(ops.ok());
    MovePoints(*ops, kSize, v1::FIELD_KIND_BOXES, v1::BOX_FORMAT_XYXY, boxes);
    MovePoints(*ops, kSize, v1::FIELD_KIND_KEYPOINTS, v1::BOX_FORMAT_XYXY, points);
    EXPECT_EQ((*made)[0], BytesOf(boxes));
    EXPECT_EQ((*made)[1], BytesOf(points));
    EXPECT_EQ((*made)[2], (std::vector<uint8_t>{'d', 'o', 'g'}));
    moved |= boxes[0] != 5;
  }
  EXPECT_TRUE(moved);
}

TEST(RowsTest, BoxesOfOtherTypesAreSentAsFloat32) {
  const SourceSchema schema = Schema(v1::DTYPE_INT64);
  const auto pipeline = Pipeline("ops { random_horizontal_flip { p: 1 } }", schema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_EQ(pipeline->outputs()[0].field.dtype(), v1::DTYPE_FLOAT32);
  const auto made = Make(*pipeline, schema, Sample(BytesOf<int64_t>({5, 6, 30, 35})));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(FloatsOf((*made)[0]), ElementsAre(30, 6, 55, 35));
}

TEST(RowsTest, ASampleMayHaveNone) {
  const SourceSchema schema = Schema(v1::DTYPE_FLOAT32);
  const auto pipeline = Pipeline("ops { random_rotation { degrees: 9 } }", schema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const auto made = Make(*pipeline, schema, Sample({}));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE((*made)[0].empty());
  EXPECT_EQ((*made)[1].size(), 16);
}

TEST(RowsTest, BoxesWithoutTheirImageStayAsTheyAre) {
  const SourceSchema schema = Schema(v1::DTYPE_FLOAT32);
  const auto pipeline = Pipeline("fields: 'boxes'", schema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const auto made = Make(*pipeline, schema, Sample(BytesOf<float>({-5, 6, 90, 35})));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(FloatsOf((*made)[0]), ElementsAre(-5, 6, 90, 35));
}

TEST(RowsTest, NumbersAreConvertedWhereAnOpSaysSo) {
  const SourceSchema schema = {Rows("values", v1::FIELD_KIND_RAGGED, v1::DTYPE_FLOAT64, {2})};
  const auto pipeline =
      Pipeline("ops { to_dtype { field: 'values' dtype: DTYPE_FLOAT32 } placement: PLACEMENT_SERVER }", schema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_EQ(pipeline->outputs()[0].field.max_bytes(), 128);
  SampleBytes sample;
  sample.fields = {BytesOf<double>({0.1, -2, 3, 4e300})};
  const auto made = Make(*pipeline, schema, sample);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(FloatsOf((*made)[0]), ElementsAre(0.1f, -2, 3, std::numeric_limits<float>::infinity()));
}

TEST(RowsTest, BoxesThatACropLeavesNothingOfGoWithTheirLabels) {
  SourceSchema schema = Schema(v1::DTYPE_FLOAT32);
  schema.push_back(Rows("labels", v1::FIELD_KIND_RAGGED, v1::DTYPE_INT64, {}));
  const std::string sanitize = "ops { sanitize_bounding_boxes { min_size: 2 labels: [ 'labels', 'points' ] } }";
  const auto pipeline = Pipeline("ops { center_crop { size: 20 } } " + sanitize, schema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  SampleBytes sample = Sample(BytesOf<float>({0, 0, 10, 10, 25, 15, 35, 25, 20, 10, 21.5, 30, 0, 0, 60, 40}));
  sample.fields[2] = BytesOf<float>({1, 1, 2, 2, 3, 3, 4, 4});
  sample.fields.push_back(BytesOf<int64_t>({70, 71, 72, 73}));
  const auto made = Make(*pipeline, schema, sample);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(FloatsOf((*made)[0]), ElementsAre(5, 5, 15, 15, 0, 0, 20, 20));
  EXPECT_THAT(FloatsOf((*made)[1]), ElementsAre(-18, -8, -16, -6));
  EXPECT_EQ((*made)[3], BytesOf<int64_t>({71, 73}));

  sample.fields[4] = BytesOf<int64_t>({70, 71, 72});
  const absl::Status apart = Make(*pipeline, schema, sample).status();
  EXPECT_EQ(apart.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(apart.message(), HasSubstr("field 'labels' has 3 rows, and 'boxes' has 4; each box needs one"));

  EXPECT_THAT(Pipeline(sanitize + "ops { center_crop { size: 20 } }", schema).status().message(),
              HasSubstr("ops[0]: SanitizeBoundingBoxes: put it behind the ops that move the image; CenterCrop"));
  EXPECT_THAT(Pipeline("fields: ['boxes', 'labels', 'points'] " + sanitize, schema).status().message(),
              HasSubstr("needs the image that the boxes lie on"));
  EXPECT_THAT(Pipeline("fields: ['boxes', 'image', 'labels'] " + sanitize, schema).status().message(),
              HasSubstr("labels: 'points' is not sent"));
  EXPECT_THAT(Pipeline(sanitize + "ops { sanitize_bounding_boxes {} }", schema).status().message(),
              HasSubstr("ops[1]: SanitizeBoundingBoxes: 'boxes' loses rows by another SanitizeBoundingBoxes already"));
  EXPECT_THAT(Pipeline("ops { sanitize_bounding_boxes { field: 'text' } }", schema).status().message(),
              HasSubstr("field: 'text' is text, not boxes"));
}

// The boxes of a sample as an op sees them that stands first.
class FirstBoxes : public SampleBoxes {
 public:
  explicit FirstBoxes(std::vector<float> boxes) : boxes_(std::move(boxes)) {}
  std::vector<BoxSides> After(std::span<const OpParameters> ops) const override {
    std::vector<BoxSides> sides;
    for (const LeftBox& box : BoxesLeft(ops, kSize, v1::BOX_FORMAT_XYXY, boxes_)) sides.push_back(box.sides);
    return sides;
  }

 private:
  const std::vector<float> boxes_;
};

TEST(RowsTest, ACropByBoxesLeavesThoseOutWhoseCentersAreOutside) {
  for (const v1::Dtype stored : {v1::DTYPE_FLOAT32, v1::DTYPE_INT64}) {
    SourceSchema schema = Schema(stored);
    schema.push_back(Rows("labels", v1::FIELD_KIND_RAGGED, v1::DTYPE_INT64, {}));
    const auto pipeline = Pipeline(
        "ops { random_iou_crop { sampler_options: [ 0.1, 0.5, 1 ] labels: [ 'labels', 'points' ] } } "
        "ops { resize { size: [ 24, 32 ] } } ops { random_horizontal_flip {} }",
        schema);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    const std::vector<float> boxes = {5, 6, 30, 35, 0, 0, 60, 40, 40, 20, 58, 38, 1, 1, 4, 4};
    const std::vector<float> points = {1, 1, 2, 2, 3, 3, 4, 4};
    SampleBytes sample = Sample(
        stored == v1::DTYPE_FLOAT32 ? BytesOf(boxes) : BytesOf(std::vector<int64_t>(boxes.begin(), boxes.end())));
    sample.fields[2] = BytesOf(points);
    sample.fields.push_back(BytesOf<int64_t>({70, 71, 72, 73}));
    std::set<size_t> counts;
    for (uint64_t position = 0; position < 40; ++position) {
      const auto made = Make(*pipeline, schema, sample, position);
      ASSERT_TRUE(made.ok()) << made.status();
      const FirstBoxes first(boxes);
      const auto ops = pipeline->Draw(pipeline->outputs()[1], 0, kSize, 1, 0, position, &first);
      ASSERT_TRUE(ops.ok());
      std::vector<float> moved = boxes, moved_points = points, left, left_points;
      MovePoints(*ops, kSize, v1::FIELD_KIND_BOXES, v1::BOX_FORMAT_XYXY, moved);
      MovePoints(*ops, kSize, v1::FIELD_KIND_KEYPOINTS, v1::BOX_FORMAT_XYXY, moved_points);
      std::vector<int64_t> labels;
      for (const LeftBox& box : BoxesLeft(*ops, kSize, v1::BOX_FORMAT_XYXY, boxes)) {
        left.insert(left.end(), moved.begin() + 4 * box.row, moved.begin() + 4 * box.row + 4);
        left_points.insert(left_points.end(), moved_points.begin() + 2 * box.row,
                           moved_points.begin() + 2 * box.row + 2);
        labels.push_back(70 + box.row);
      }
      EXPECT_EQ((*made)[0], BytesOf(left)) << position;
      EXPECT_EQ((*made)[1], BytesOf(left_points)) << position;
      EXPECT_EQ((*made)[3], BytesOf(labels)) << position;
      counts.insert(labels.size());
    }
    EXPECT_GE(counts.size(), 3) << "numbers of boxes that were left";
  }
}

TEST(RowsTest, CropsByBoxesThatDoNotFitAreRefused) {
  SourceSchema schema = Schema(v1::DTYPE_FLOAT32);
  schema.push_back(Rows("labels", v1::FIELD_KIND_RAGGED, v1::DTYPE_INT64, {}));
  const std::string resize = "ops { resize { size: [ 24, 32 ] } }";
  const std::pair<std::string, const char*> cases[] = {
      {"ops { random_iou_crop { field: 'text' } }" + resize, "ops[0]: RandomIoUCrop: field: 'text' is text, not boxes"},
      {"ops { random_iou_crop { labels: 'classes' } }" + resize, "RandomIoUCrop: labels: 'classes' is not sent"},
      {"fields: ['image', 'text'] ops { random_iou_crop {} }" + resize, "RandomIoUCrop: field: 'boxes' is not sent"},
      {"fields: ['boxes'] ops { random_iou_crop {} }", "RandomIoUCrop: needs the image that the boxes lie on"},
      {"ops { random_iou_crop {} } ops { random_apply { transforms { random_iou_crop { labels: 'labels' } } } }" +
           resize,
       "ops[1]: RandomIoUCrop: names another field or other labels than the RandomIoUCrop before it"},
      {"ops { random_iou_crop {} }" + resize + "ops { sanitize_bounding_boxes { labels: 'labels' } }",
       "labels: 'labels' keeps the rows of boxes that RandomIoUCrop leaves out; name it in RandomIoUCrop.labels too"},
      {"fields: ['image'] views { name: 'a' ops { random_iou_crop {} } ops { resize { size: [ 24, 32 ] } } }",
       "pipeline.views: RandomIoUCrop looks at boxes, and views have none"},
      {"ops { random_iou_crop {} }", "would differ in size from sample to sample, also after RandomIoUCrop"},
      {resize + "ops { random_iou_crop {} placement: PLACEMENT_DEVICE }",
       "RandomIoUCrop.placement: runs on the server only"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_THAT(Pipeline(text, schema).status().message(), HasSubstr(expected)) << text;
}

TEST(RowsTest, BadSamplesAreNamedByTheirField) {
  const SourceSchema schema = Schema(v1::DTYPE_INT64);
  const auto usual = Pipeline("", schema);
  ASSERT_TRUE(usual.ok()) << usual.status();
  const auto torn = Make(*usual, schema, Sample({1, 2, 3})), odd = Make(*usual, schema, Sample(BytesOf<int64_t>({1})));
  EXPECT_EQ(torn.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(torn.status().message(), HasSubstr("field 'boxes' has 3 bytes, no whole int64"));
  EXPECT_EQ(odd.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(odd.status().message(), HasSubstr("field 'boxes' has 4 bytes, no multiple of the 16 of a row"));
  const auto crop = Pipeline("ops { random_iou_crop {} } ops { resize { size: 9 size: 9 } }", schema);
  ASSERT_TRUE(crop.ok()) << crop.status();
  EXPECT_EQ(Make(*crop, schema, Sample({1, 2, 3})).status(), torn.status());
  EXPECT_EQ(Make(*crop, schema, Sample(BytesOf<int64_t>({1}))).status(), odd.status());
  const auto large = Make(*usual, schema, Sample(BytesOf(std::vector<int64_t>(68))));
  EXPECT_THAT(large.status().message(), HasSubstr("field 'boxes' has 272 bytes, more than its max_bytes of 256"));
}

TEST(RowsTest, PipelinesThatDoNotFitAreRefused) {
  const SourceSchema schema = Schema(v1::DTYPE_FLOAT32);
  const std::pair<const char*, const char*> cases[] = {
      {"ops { to_dtype { field: 'boxes' dtype: DTYPE_FLOAT16 } placement: PLACEMENT_SERVER }",
       "ToDtype.field: 'boxes' is boxes, always float32"},
      {"ops { to_dtype { field: 'text' dtype: DTYPE_FLOAT16 } placement: PLACEMENT_SERVER }",
       "ToDtype.field: 'text' is text"},
      {"ops { to_dtype { field: 'text' dtype: DTYPE_FLOAT16 } }", "field 'text' is text, which stays as it is"},
      {"ops { random_horizontal_flip {} placement: PLACEMENT_DEVICE }", "does not move on the device 'boxes', boxes"},
      {"ops { one_hot { field: 'text' num_classes: 256 } }", "'text' is text, whose samples differ in size"},
      {"views { name: 'a' ops { random_resized_crop { size: 8 } } }", "'boxes' is boxes on the image"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_THAT(Pipeline(text, schema).status().message(), HasSubstr(expected)) << text;
}

TEST(RowsTest, BoxesLieOnOneImage) {
  SourceSchema schema = Schema(v1::DTYPE_FLOAT32);
  schema.push_back({.name = "other", .kind = SourceField::Kind::kEncodedImage});
  const std::string crop = "ops { center_crop { size: 20 } }";
  EXPECT_THAT(Pipeline(crop, schema).status().message(),
              HasSubstr("it is not clear which image 'boxes' lies on: 'image' or 'other'"));
  EXPECT_TRUE(Pipeline("fields: ['boxes', 'other'] " + crop, schema).ok());
  EXPECT_TRUE(Pipeline("fields: ['image', 'other'] " + crop, schema).ok());
}

TEST(RowsTest, MovingManyBoxesIsWeighed) {
  SourceSchema schema = Schema(v1::DTYPE_FLOAT32);
  const std::string ops = "ops { random_rotation { degrees: 9 } } ops { random_horizontal_flip {} }";
  const double few = Seconds(Pipeline(ops, schema)->CostOf(kSize));
  const std::string crop = "ops { random_iou_crop {} } ops { resize { size: [ 8, 8 ] } }";
  const double few_looked_at = Seconds(Pipeline(crop, schema)->CostOf(kSize));
  EXPECT_GT(few_looked_at, few);
  schema[0].max_bytes = 128 << 20;
  EXPECT_GT(Seconds(Pipeline(ops, schema)->CostOf(kSize)), few + 0.05) << "eight million boxes";
  EXPECT_GT(Seconds(Pipeline(crop, schema)->CostOf(kSize)), few_looked_at + 1) << "looked at again and again";
}

TEST(RowsTest, SpansAreCutByUsualSamplesAndBoundedByTheLargest) {
  SourceField text = Rows("text", v1::FIELD_KIND_TEXT, v1::DTYPE_UINT8, {});
  text.max_bytes = 4096, text.typical_bytes = 1020;
  EXPECT_EQ(Pipeline("", {text})->span_samples(), 1024);
  text.max_bytes = 1 << 20;
  EXPECT_EQ(Pipeline("", {text})->span_samples(), 4) << "eight times the most and four bytes are above 8 MiB";
  text.max_bytes = 64 << 20;
  EXPECT_EQ(Pipeline("", {text})->span_samples(), 1);
}

}  // namespace
}  // namespace stoker
