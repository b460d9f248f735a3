#include "common/fields/span_layout.h"

#include <vector>

#include "common/fields/schema.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

// Boxes, an image of 12 bytes, and text.
std::vector<v1::Field> Fields() {
  std::vector<v1::Field> fields(3);
  fields[0].set_name("boxes"), fields[0].set_dtype(v1::DTYPE_FLOAT32), fields[0].add_shape(4);
  fields[0].set_kind(v1::FIELD_KIND_BOXES), fields[0].set_max_bytes(160), fields[0].set_typical_bytes(40);
  fields[1].set_name("image"), fields[1].set_dtype(v1::DTYPE_UINT8);
  for (const int extent : {2, 2, 3}) fields[1].add_shape(extent);
  fields[2].set_name("text"), fields[2].set_dtype(v1::DTYPE_UINT8);
  fields[2].set_kind(v1::FIELD_KIND_TEXT), fields[2].set_max_bytes(30), fields[2].set_typical_bytes(7);
  return fields;
}

v1::SpanHeader Header(uint32_t count, const std::vector<uint64_t>& values_bytes) {
  v1::SpanHeader header;
  header.set_count(count);
  for (const uint64_t bytes : values_bytes) header.add_values_bytes(bytes);
  return header;
}

// Sizes as they are sent.
std::vector<uint8_t> Sent(const std::vector<uint32_t>& sizes) {
  std::vector<uint8_t> bytes;
  for (const uint32_t size : sizes)
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(size >> shift));
  return bytes;
}

TEST(SpanLayoutTest, FieldsOfOneSizeComeFirst) {
  const SpanLayout layout(Fields());
  const auto parts = layout.PartsOf(Header(5, {48, 9}));
  ASSERT_EQ(parts.size(), 5);
  using Holds = SpanLayout::Part::Holds;
  const SpanLayout::Part expected[] = {
      {1, Holds::kSamples, 60}, {0, Holds::kSizes, 20}, {0, Holds::kValues, 48},
      {2, Holds::kSizes, 20},   {2, Holds::kValues, 9},
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].field, expected[i].field) << i;
    EXPECT_EQ(parts[i].holds, expected[i].holds) << i;
    EXPECT_EQ(parts[i].bytes, expected[i].bytes) << i;
  }
  EXPECT_EQ(layout.PayloadBytes(Header(5, {48, 9})), 60 + 20 + 48 + 20 + 9);
  EXPECT_EQ(layout.typical_bytes(), 12 + 4 + 40 + 4 + 7);
  EXPECT_THAT(layout.variable(), testing::ElementsAre(0, 2));
}

TEST(SpanLayoutTest, AHeaderThatAnnouncesWhatCannotBeIsFound) {
  const SpanLayout layout(Fields());
  EXPECT_TRUE(layout.PayloadBytes(Header(2, {320, 60})).has_value());
  EXPECT_FALSE(layout.PayloadBytes(Header(2, {321, 60})).has_value());
  EXPECT_FALSE(layout.PayloadBytes(Header(2, {320, 61})).has_value());
  EXPECT_FALSE(layout.PayloadBytes(Header(2, {320, ~uint64_t{0}})).has_value());
  EXPECT_FALSE(layout.PayloadBytes(Header(2, {320})).has_value());
  EXPECT_FALSE(layout.PayloadBytes(Header(2, {320, 60, 0})).has_value());
  EXPECT_FALSE(SpanLayout().PayloadBytes(Header(2, {0})).has_value());
}

TEST(SpanLayoutTest, SizesAreHeldToRowsBoundsAndTheirSum) {
  const SpanLayout layout(Fields());
  EXPECT_TRUE(layout.CheckSizes(0, Sent({160, 0, 16}), 176).ok());
  EXPECT_EQ(layout.CheckSizes(0, Sent({160, 0, 17}), 177).code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(layout.CheckSizes(0, Sent({176, 0, 0}), 176).message(), HasSubstr("at most 160"));
  EXPECT_THAT(layout.CheckSizes(0, Sent({160, 0, 16}), 192).message(), HasSubstr("176 bytes and not 192"));
  EXPECT_TRUE(layout.CheckSizes(2, Sent({30, 1}), 31).ok());
  EXPECT_FALSE(layout.CheckSizes(2, Sent({31, 0}), 31).ok());
  EXPECT_FALSE(layout.CheckSizes(2, Sent({0xffffffff, 32}), 31).ok());
}

TEST(FieldKindTest, KindsWhoseSamplesDifferInSizeNeedABound) {
  v1::Field text = Fields()[2];
  EXPECT_TRUE(CheckKind(text).ok());
  EXPECT_EQ(*ByteSize(text), 34);
  EXPECT_EQ(TypicalBytes(text), 11);
  text.set_max_bytes(0);
  EXPECT_THAT(CheckKind(text).message(), HasSubstr("max_bytes: 0 is not between 1"));
  text.set_max_bytes(kMaxSampleBytes);
  EXPECT_FALSE(CheckKind(text).ok());
  text.set_max_bytes(5);
  EXPECT_THAT(CheckKind(text).message(), HasSubstr("typical_bytes: 7 is above max_bytes, 5"));
}

TEST(FieldKindTest, KindsHaveTheirTypeAndShape) {
  const auto is_kind = [](v1::FieldKind kind, v1::Dtype dtype, const std::vector<int64_t>& shape) {
    v1::Field field;
    field.set_name("f"), field.set_kind(kind), field.set_dtype(dtype), field.set_max_bytes(4096);
    for (const int64_t extent : shape) field.add_shape(extent);
    return CheckKind(field).ok();
  };
  EXPECT_TRUE(is_kind(v1::FIELD_KIND_BOXES, v1::DTYPE_FLOAT32, {4}));
  EXPECT_FALSE(is_kind(v1::FIELD_KIND_BOXES, v1::DTYPE_FLOAT32, {5}));
  EXPECT_FALSE(is_kind(v1::FIELD_KIND_BOXES, v1::DTYPE_FLOAT64, {4}));
  EXPECT_TRUE(is_kind(v1::FIELD_KIND_KEYPOINTS, v1::DTYPE_FLOAT32, {17, 2}));
  EXPECT_FALSE(is_kind(v1::FIELD_KIND_KEYPOINTS, v1::DTYPE_FLOAT32, {2, 17}));
  EXPECT_FALSE(is_kind(v1::FIELD_KIND_KEYPOINTS, v1::DTYPE_FLOAT32, {}));
  EXPECT_TRUE(is_kind(v1::FIELD_KIND_TEXT, v1::DTYPE_UINT8, {}));
  EXPECT_FALSE(is_kind(v1::FIELD_KIND_TEXT, v1::DTYPE_UINT8, {1}));
  EXPECT_FALSE(is_kind(v1::FIELD_KIND_BYTES, v1::DTYPE_INT64, {}));
  EXPECT_TRUE(is_kind(v1::FIELD_KIND_RAGGED, v1::DTYPE_INT64, {}));
  EXPECT_TRUE(is_kind(v1::FIELD_KIND_RAGGED, v1::DTYPE_FLOAT16, {3, 5}));
  EXPECT_FALSE(is_kind(v1::FIELD_KIND_RAGGED, v1::DTYPE_UNSPECIFIED, {}));
}

}  // namespace
}  // namespace stoker
