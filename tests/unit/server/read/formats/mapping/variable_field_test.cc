#include "server/read/formats/mapping/variable_field.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/read/formats/mapping/field_mapping.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const StoredRows kBytes = {.are_bytes = true}, kFloats = {.dtype = v1::DTYPE_FLOAT32},
                 kBoxesOfInts = {.dtype = v1::DTYPE_INT64, .shape = {4}};

v1::FieldFrom Asked(const std::string& text) {
  v1::FieldFrom from;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &from)) << text;
  return from;
}

// Returns the words of the field, or the error.
std::string RowsOf(const StoredRows& stored, const std::string& asked) {
  SourceField field;
  const absl::Status status = SetRows(Asked(asked), stored, field);
  return status.ok() ? FieldWords(field) : std::string(status.message());
}

SourceField Rows(v1::FieldKind kind, v1::Dtype dtype, std::vector<int64_t> shape) {
  return {
      .kind = SourceField::Kind::kRows, .dtype = dtype, .shape = std::move(shape), .meaning = kind, .max_bytes = 64};
}

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(VariableFieldTest, AKindAndASizeMakeRows) {
  EXPECT_EQ(RowsOf(kBytes, "kind: FIELD_KIND_TEXT max_bytes: '1KiB'"), "text uint8 [] up to 1024 bytes");
  EXPECT_EQ(RowsOf(kBytes, "kind: FIELD_KIND_BYTES max_bytes: '1KiB'"), "bytes uint8 [] up to 1024 bytes");
  EXPECT_EQ(RowsOf(kBytes, "kind: FIELD_KIND_RAGGED max_bytes: '9'"), "ragged uint8 [] up to 9 bytes");
  EXPECT_EQ(RowsOf(kFloats, "kind: FIELD_KIND_RAGGED max_bytes: '64'"), "ragged float32 [] up to 64 bytes");
  EXPECT_EQ(RowsOf(kFloats, "kind: FIELD_KIND_RAGGED max_bytes: '64' shape: [2, 3]"),
            "ragged float32 [2, 3] up to 64 bytes");
  EXPECT_EQ(RowsOf(kBoxesOfInts, "kind: FIELD_KIND_RAGGED max_bytes: '64'"), "ragged int64 [4] up to 64 bytes");
  EXPECT_EQ(RowsOf(kFloats, "kind: FIELD_KIND_BOXES max_bytes: '64'"), "boxes xyxy float32 [4] up to 64 bytes");
  EXPECT_EQ(RowsOf(kBoxesOfInts, "kind: FIELD_KIND_BOXES max_bytes: '16' box_format: BOX_FORMAT_CXCYWH"),
            "boxes cxcywh int64 [4] up to 16 bytes")
      << "a box is sent as 16 bytes";
  EXPECT_EQ(RowsOf(kFloats, "kind: FIELD_KIND_KEYPOINTS max_bytes: '64'"), "keypoints float32 [2] up to 64 bytes");
  EXPECT_EQ(RowsOf(kFloats, "kind: FIELD_KIND_KEYPOINTS max_bytes: '1KB' shape: [17, 2]"),
            "keypoints float32 [17, 2] up to 1000 bytes");
}

TEST(VariableFieldTest, AudioIsTheBytesOfFilesAndSaysWhatTheyBecome) {
  const auto audio = [](const std::string& rest, const StoredRows& stored = kBytes) {
    return RowsOf(stored, "kind: FIELD_KIND_AUDIO max_bytes: '1MiB' " + rest);
  };
  EXPECT_EQ(audio(""), "audio int16 of 1 channels, rate 0, up to 1048576 bytes");
  EXPECT_EQ(audio("dtype: DTYPE_FLOAT16 channels: 2 sample_rate: 16000"),
            "audio float16 of 2 channels, rate 16000, up to 1048576 bytes");
  EXPECT_EQ(audio("dtype: DTYPE_FLOAT32"), "dtype: audio is sent as int16 or float16, not float32");
  EXPECT_EQ(audio("shape: 2"), "shape: is for rows of numbers; `channels` says how many audio has");
  EXPECT_EQ(audio("channels: 65"), "channels: 65 is above 64");
  EXPECT_EQ(audio("sample_rate: 768001"), "sample_rate: 768001 is above 768000");
  EXPECT_THAT(audio("", kFloats), HasSubstr("kind: audio is of texts or bytes, and this is float32"));
  EXPECT_THAT(RowsOf(kBytes, "kind: FIELD_KIND_AUDIO"), HasSubstr("max_bytes: missing"));
  EXPECT_EQ(RowsOf(kBytes, "kind: FIELD_KIND_TEXT max_bytes: '9' channels: 2"), "channels: is for audio; leave it out");
  EXPECT_EQ(RowsOf(kBytes, "kind: FIELD_KIND_TEXT max_bytes: '9' sample_rate: 2"),
            "sample_rate: is for audio; leave it out");
}

TEST(VariableFieldTest, ATypicalSampleHasAQuarterOrARow) {
  SourceField field;
  ASSERT_TRUE(SetRows(Asked("kind: FIELD_KIND_BOXES max_bytes: '160'"), kFloats, field).ok());
  EXPECT_EQ(field.typical_bytes, 40);
  ASSERT_TRUE(SetRows(Asked("kind: FIELD_KIND_BOXES max_bytes: '32'"), kFloats, field).ok());
  EXPECT_EQ(field.typical_bytes, 16);
  ASSERT_TRUE(SetRows(Asked("kind: FIELD_KIND_BOXES max_bytes: '32' typical_bytes: '20'"), kFloats, field).ok());
  EXPECT_EQ(field.typical_bytes, 20);
}

TEST(VariableFieldTest, ErrorsNameTheKeyAndSayWhatToGive) {
  const auto error = [](const StoredRows& stored, const std::string& kind, const std::string& rest) {
    return RowsOf(stored, "kind: FIELD_KIND_" + kind + " " + rest);
  };
  EXPECT_EQ(error(kBytes, "TEXT", ""),
            "max_bytes: missing; say how many bytes a sample has at most, such as 16KiB: room is kept for them");
  EXPECT_THAT(error(kBytes, "TEXT", "max_bytes: 'much'"), HasSubstr("max_bytes: "));
  EXPECT_EQ(error(kFloats, "BOXES", "max_bytes: '15'"),
            "max_bytes: 15 is not between 16, the bytes of one row as it is sent, and 268435452");
  EXPECT_THAT(error(kBytes, "BYTES", "max_bytes: '256MiB'"), HasSubstr("is not between 1, "));
  EXPECT_EQ(error(kBytes, "TEXT", "max_bytes: '9' typical_bytes: '10'"), "typical_bytes: 10 is above max_bytes, 9");
  EXPECT_THAT(error(kBytes, "TEXT", "max_bytes: '9' typical_bytes: 'x'"), HasSubstr("typical_bytes: "));
  EXPECT_THAT(error(kFloats, "TEXT", "max_bytes: '9'"),
              HasSubstr("kind: text is of texts or bytes, and this is float"));
  EXPECT_THAT(error(kBytes, "BOXES", "max_bytes: '99'"), HasSubstr("kind: boxes are numbers, and this is bytes"));
  EXPECT_THAT(error(kFloats, "BOXES", "max_bytes: '99' shape: [5]"), HasSubstr("shape: a box has 4 numbers"));
  EXPECT_THAT(error(kFloats, "KEYPOINTS", "max_bytes: '99' shape: [3]"), HasSubstr("shape: [3] does not end in 2"));
  EXPECT_THAT(error(kBytes, "TEXT", "max_bytes: '99' shape: [3]"), HasSubstr("shape: is for rows of numbers"));
  EXPECT_THAT(error(kBoxesOfInts, "RAGGED", "max_bytes: '99' shape: [5]"),
              HasSubstr("shape: [5] is not that of the stored rows, which is [4]"));
  EXPECT_THAT(error(kFloats, "RAGGED", "max_bytes: '99' shape: [0]"), HasSubstr("shape: [0] is empty"));
  EXPECT_THAT(error(kFloats, "RAGGED", "max_bytes: '99' shape: [4000000000, 4000000000]"), HasSubstr("is empty or"));
  EXPECT_THAT(error(kFloats, "RAGGED", "max_bytes: '99' box_format: BOX_FORMAT_XYWH"),
              HasSubstr("box_format: is for boxes"));
  EXPECT_THAT(error(kFloats, "RAGGED", "max_bytes: '99' dtype: DTYPE_INT64"), HasSubstr("dtype: what is stored"));
}

TEST(VariableFieldTest, TheKeysMeanNothingForOtherKinds) {
  const auto error = [](const std::string& asked) { return std::string(RefuseRowKeys(Asked(asked)).message()); };
  EXPECT_EQ(error("kind: FIELD_KIND_LABEL_MAP"), "");
  EXPECT_THAT(error("max_bytes: '9'"),
              HasSubstr("max_bytes: is for the kinds text, bytes, ragged, boxes, keypoints or audio"));
  EXPECT_THAT(error("typical_bytes: '9'"), HasSubstr("typical_bytes: "));
  EXPECT_THAT(error("shape: 4"), HasSubstr("shape: "));
  EXPECT_THAT(error("box_format: BOX_FORMAT_XYXY"), HasSubstr("box_format: "));
}

TEST(VariableFieldTest, AnArrayIsRowsBehindItsFirstDimensionOrOneList) {
  const SourceField boxes = Rows(v1::FIELD_KIND_BOXES, v1::DTYPE_FLOAT32, {4});
  EXPECT_THAT(RowShapeOf({3, 4}), ElementsAre(4));
  EXPECT_THAT(RowShapeOf({}), ElementsAre());
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{7, 4}, {0, 4}, {8}})
    EXPECT_TRUE(IsArrayOfRows(shape, boxes));
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{}, {7, 5}, {2, 2, 4}})
    EXPECT_FALSE(IsArrayOfRows(shape, boxes));
}

TEST(VariableFieldTest, RowsAreWholeAndTextsUtf8) {
  const SourceField boxes = Rows(v1::FIELD_KIND_BOXES, v1::DTYPE_INT16, {4}),
                    text = Rows(v1::FIELD_KIND_TEXT, v1::DTYPE_UINT8, {});
  EXPECT_TRUE(CheckRows(boxes, BytesOf("")).ok());
  EXPECT_TRUE(CheckRows(boxes, BytesOf("12345678")).ok());
  EXPECT_EQ(CheckRows(boxes, BytesOf("1234567812")),
            absl::DataLossError("has 5 numbers, which are no whole rows of [4]"));
  EXPECT_TRUE(CheckRows(text, BytesOf("Ein Wort: \u00e4\xf0\x9f\x90\x88")).ok());
  EXPECT_THAT(CheckRows(text, BytesOf("\xe4")).message(), HasSubstr("is not UTF-8"));
  EXPECT_TRUE(CheckRows(Rows(v1::FIELD_KIND_BYTES, v1::DTYPE_UINT8, {}), BytesOf("\xe4")).ok());
  EXPECT_TRUE(CheckRows({.dtype = v1::DTYPE_INT64}, BytesOf("x")).ok()) << "other kinds are not looked at";
}

TEST(VariableFieldTest, AMappingTakesColumnsThatAreNoFieldOfAFixedSize) {
  const std::vector<StoredColumn> columns = {{"caption", absl::InvalidArgumentError("is text"), kBytes},
                                             {"id", SourceField{.dtype = v1::DTYPE_INT64}}};
  FieldMap asked;
  asked["words"] = Asked("from: 'caption' kind: FIELD_KIND_TEXT max_bytes: '64'");
  const auto mapping = MapFields(asked, columns, "column");
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_EQ(mapping->identity(), " words=7:caption text uint8 [] up to 64 bytes");
  asked["words"].set_typical_bytes("9");
  EXPECT_EQ(MapFields(asked, columns, "column")->identity(), mapping->identity()) << "no sample depends on it";

  const auto error = [&](const std::string& name, const std::string& from) {
    const FieldMap one = [&] {
      FieldMap map;
      map[name] = Asked(from);
      return map;
    }();
    return std::string(MapFields(one, columns, "column").status().message());
  };
  EXPECT_EQ(error("caption", ""),
            "fields.caption: the column 'caption' is text; `fields` takes it by {kind: text, max_bytes: …}");
  EXPECT_THAT(error("caption", "kind: FIELD_KIND_TEXT"), HasSubstr("fields.caption.max_bytes: missing"));
  EXPECT_EQ(error("id", "kind: FIELD_KIND_BOXES max_bytes: '64'"),
            "fields.id: the column 'id' cannot be boxes: it is int64");
  EXPECT_THAT(error("id", "max_bytes: '64'"), HasSubstr("fields.id.max_bytes: is for the kinds"));
}

TEST(VariableFieldTest, AWarningSaysWhichKeyTakesWhatIsLeftOut) {
  const auto mapping = MapFields({},
                                 {{"ids", absl::InvalidArgumentError("has lists of several lengths"), kFloats},
                                  {"x", SourceField{.dtype = v1::DTYPE_INT64}}},
                                 "column");
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_THAT(mapping->warnings, ElementsAre("the column 'ids' is left out: it has lists of several lengths; `fields` "
                                             "takes it by {kind: ragged, max_bytes: …}"));
}

}  // namespace
}  // namespace stoker
