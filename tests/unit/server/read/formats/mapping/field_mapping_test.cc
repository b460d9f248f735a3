#include "server/read/formats/mapping/field_mapping.h"

#include <limits>
#include <string_view>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/read/formats/mapping/image_magic.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SourceField Image() { return {.kind = SourceField::Kind::kEncodedImage}; }
SourceField Dense(v1::Dtype dtype, std::vector<int64_t> shape) { return {.dtype = dtype, .shape = std::move(shape)}; }

const std::vector<StoredColumn>& Columns() {
  static const auto* columns = new std::vector<StoredColumn>{{"image/encoded", Image()},
                                                             {"text", absl::InvalidArgumentError("is text")},
                                                             {"1st", Dense(v1::DTYPE_INT64, {})},
                                                             {"scores", Dense(v1::DTYPE_FLOAT32, {3, 2})}};
  return *columns;
}

std::string Words(const FieldMapping& mapping) {
  std::string words;
  for (const auto& [from, field] : mapping.fields) words += field.name + "<-" + from + " " + FieldWords(field) + "; ";
  return words;
}

TEST(FieldMappingTest, TakesAllThatCanBeFieldsWhereNoneAreAskedFor) {
  const auto mapping = MapFields({}, Columns(), "column");
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_EQ(Words(*mapping), "_1st<-1st int64; image_encoded<-image/encoded image; scores<-scores float32 [3, 2]; ");
  EXPECT_THAT(mapping->warnings, ElementsAre("the column 'text' is left out: it is text"));
}

TEST(FieldMappingTest, TakesWhatIsAskedForUnderItsName) {
  FieldMap asked;
  asked["label"].set_from("1st");
  asked["scores"];
  const auto mapping = MapFields(asked, Columns(), "column");
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_EQ(Words(*mapping), "label<-1st int64; scores<-scores float32 [3, 2]; ");
  EXPECT_THAT(mapping->warnings, ElementsAre());
}

TEST(FieldMappingTest, NamesTheKeyThatIsWrong) {
  const auto error = [](const std::string& name, const std::string& from, const std::string& json = "") {
    FieldMap asked;
    asked[name].set_from(from);
    asked[name].set_json(json);
    return std::string(MapFields(asked, Columns(), "column").status().message());
  };
  EXPECT_EQ(error("label", "cls"),
            "fields.label: there is no column 'cls'; the first sample has: image/encoded, text, 1st, scores");
  EXPECT_EQ(error("label", "text"), "fields.label: the column 'text' is text");
  EXPECT_THAT(error("a b", "text"), HasSubstr("fields.a b: a name has up to 64 letters"));
  EXPECT_THAT(error("label", "", "$.x"), HasSubstr("fields.label: json: a column cannot"));
}

TEST(FieldMappingTest, SaysWhyNothingCanBeAField) {
  const auto mapping = MapFields({}, {{"text", absl::InvalidArgumentError("is text")}}, "feature");
  EXPECT_EQ(mapping.status().message(), "no feature can be a field: the feature 'text' is left out: it is text");
}

TEST(FieldMappingTest, DifferentMappingsHaveDifferentIdentities) {
  FieldMap one, other;
  one["label"].set_from("1st");
  other["label"].set_from("scores");
  EXPECT_NE(MapFields(one, Columns(), "c")->identity(), MapFields(other, Columns(), "c")->identity());
}

TEST(FieldMappingTest, CountsBytesWithoutOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(DenseBytes(Dense(v1::DTYPE_INT32, {3, 2})), 24);
  EXPECT_GT(DenseBytes(Dense(v1::DTYPE_INT64, {kMost, kMost})), kMaxSampleBytes);
}

TEST(ImageMagicTest, TellsImagesFromOtherBytes) {
  const auto begins = [](std::string_view text) {
    return BeginsAsImage({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  };
  const std::string bmp("BM\x66\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0\1\0\0\0", 26);
  for (const std::string& image : {std::string("\xff\xd8\xff\xe0"), std::string("\x89PNG\r\n\x1a\n"),
                                   std::string("RIFF\x01\x02\x03\x04WEBPVP8 "), std::string("GIF89a"), bmp})
    EXPECT_TRUE(begins(image)) << image;
  for (const char* other :
       {"", "\xff\xd8", "BMW is a maker of cars, and no image", "RIFF\x01\x02\x03\x04WAVE", "a cat"})
    EXPECT_FALSE(begins(other)) << other;
}

// ---- Kinds ----

std::string MeaningOf(const SourceField& stored, const std::string& asked) {
  v1::FieldFrom from;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(asked, &from)) << asked;
  SourceField field = stored;
  const absl::Status status = SetMeaning(from, field);
  return status.ok() ? FieldWords(field) : std::string(status.message());
}

TEST(FieldMappingTest, MapsAreArraysOfTwoDimensionsOrImageFiles) {
  const SourceField array = {.dtype = v1::DTYPE_INT16, .shape = {3, 4}};
  EXPECT_EQ(MeaningOf(Image(), ""), "image");
  EXPECT_EQ(MeaningOf(Image(), "kind: FIELD_KIND_LABEL_MAP"), "label_map uint8");
  EXPECT_EQ(MeaningOf(Image(), "kind: FIELD_KIND_LABEL_MAP dtype: DTYPE_INT16"), "label_map int16");
  EXPECT_EQ(MeaningOf(Image(), "kind: FIELD_KIND_BINARY_MAP"), "binary_map uint8");
  EXPECT_EQ(MeaningOf(array, "kind: FIELD_KIND_LABEL_MAP"), "label_map int16 [3, 4]");
}

TEST(FieldMappingTest, WhatCannotBeAMapIsRefused) {
  EXPECT_EQ(MeaningOf({.dtype = v1::DTYPE_UINT8, .shape = {3, 4, 3}}, "kind: FIELD_KIND_LABEL_MAP"),
            "kind: label_map is an array of height × width or a PNG, and this is uint8 [3, 4, 3]");
  EXPECT_EQ(MeaningOf({.dtype = v1::DTYPE_FLOAT32, .shape = {3, 4}}, "kind: FIELD_KIND_BINARY_MAP"),
            "kind: binary_map is of uint8 or int16, not float32");
  EXPECT_EQ(MeaningOf(Image(), "kind: FIELD_KIND_LABEL_MAP dtype: DTYPE_INT64"),
            "dtype: label_map is of uint8 or int16, not int64");
  EXPECT_EQ(MeaningOf(Image(), "dtype: DTYPE_INT16"),
            "dtype: is for a label_map that is stored as a PNG; leave it out");
}

TEST(FieldMappingTest, AMappingSaysItsKinds) {
  FieldMap asked;
  asked["mask"].set_from("m");
  asked["mask"].set_kind(v1::FIELD_KIND_LABEL_MAP);
  const auto mapping = MapFields(asked, {{"m", Image()}}, "column");
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_EQ(mapping->schema()[0].meaning, v1::FIELD_KIND_LABEL_MAP);
  EXPECT_EQ(mapping->identity(), " mask=1:m label_map uint8");
}

}  // namespace
}  // namespace stoker
