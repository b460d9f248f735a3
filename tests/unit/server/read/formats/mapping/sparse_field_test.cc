#include "server/read/formats/mapping/sparse_field.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/read/formats/mapping/field_mapping.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

const std::vector<StoredColumn>& SparseColumns() {
  const auto rows = [](const char* name, v1::Dtype dtype) {
    return StoredColumn{name, absl::InvalidArgumentError("has lists of several lengths"), StoredRows{.dtype = dtype}};
  };
  static const auto* columns = new std::vector<StoredColumn>{
      rows("ids", v1::DTYPE_INT64), rows("weights", v1::DTYPE_FLOAT32), rows("words", v1::DTYPE_INT32)};
  return *columns;
}

// What the field "words" becomes by the configuration, or the error.
std::string Mapped(const std::string& text) {
  FieldMap asked;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &asked["words"])) << text;
  const auto mapping = MapFields(asked, SparseColumns(), "column");
  if (!mapping.ok()) return std::string(mapping.status().message());
  std::string words;
  for (const auto& [from, field] : mapping->fields) words += field.name + "<-" + from + " " + FieldWords(field) + "; ";
  return words;
}

TEST(SparseFieldTest, IndicesAndValuesAreTwoFields) {
  EXPECT_EQ(Mapped("kind: FIELD_KIND_SPARSE from: 'ids' values: 'weights' dense_shape: [10, 5] max_bytes: '400'"),
            "words<-ids sparse of [10, 5] int64 [] up to 400 bytes; words.values<-weights ragged float32 [] up to 400 "
            "bytes; ");
  EXPECT_EQ(Mapped("kind: FIELD_KIND_SPARSE dense_shape: 50000 max_bytes: '400'"),
            "words<-words sparse of [50000] int32 [] up to 400 bytes; ");
}

TEST(SparseFieldTest, ValuesAreAsManyAsIndices) {
  FieldMap asked;
  ASSERT_TRUE(
      google::protobuf::TextFormat::ParseFromString("kind: FIELD_KIND_SPARSE from: 'ids' values: 'weights' "
                                                    "dense_shape: 8589934592 max_bytes: '800' typical_bytes: '80'",
                                                    &asked["words"]));
  const auto mapping = MapFields(asked, SparseColumns(), "column");
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_EQ(mapping->fields[0].field.max_bytes, 800);  // A number has 8 bytes.
  EXPECT_EQ(mapping->fields[1].field.max_bytes, 400);
  EXPECT_EQ(mapping->fields[1].field.typical_bytes, 40);
}

TEST(SparseFieldTest, NamesTheKeyThatIsWrong) {
  EXPECT_EQ(Mapped("kind: FIELD_KIND_SPARSE max_bytes: '400'"),
            "fields.words.dense_shape: missing; say the shape of the array that a sample stands for, such as [50000]");
  EXPECT_EQ(Mapped("kind: FIELD_KIND_SPARSE dense_shape: [4, 0] max_bytes: '400'"),
            "fields.words.dense_shape: [4, 0] is empty or has more than 281474976710656 elements");
  EXPECT_THAT(Mapped("kind: FIELD_KIND_SPARSE dense_shape: 9"), HasSubstr("fields.words.max_bytes: missing"));
  EXPECT_EQ(Mapped("kind: FIELD_KIND_SPARSE from: 'weights' dense_shape: 9 max_bytes: '400'"),
            "fields.words.kind: the indices of sparse are whole numbers, and this is float32");
  EXPECT_THAT(Mapped("kind: FIELD_KIND_SPARSE values: 'nowhere' dense_shape: 9 max_bytes: '400'"),
              HasSubstr("fields.words.values: there is no column 'nowhere'"));
  EXPECT_EQ(Mapped("kind: FIELD_KIND_RAGGED max_bytes: '400' dense_shape: 9"),
            "fields.words.dense_shape: is for the kind sparse; leave it out");
  EXPECT_EQ(Mapped("values: 'ids'"), "fields.words.values: is for the kind sparse; leave it out");
  EXPECT_EQ(Mapped("kind: FIELD_KIND_SPARSE dense_shape: 9 max_bytes: '400' dtype: DTYPE_INT64"),
            "fields.words.dtype: is that of `values` in a JSON document, and there are none; leave it out");
  EXPECT_EQ(
      Mapped("kind: FIELD_KIND_SPARSE dense_shape: 9 max_bytes: '400' shape: 2"),
      "fields.words.shape: an index of sparse is one number, a place in the flattened array; dense_shape says the "
      "array's");
  FieldMap asked;
  asked["words.values"].set_from("ids");
  EXPECT_THAT(MapFields(asked, SparseColumns(), "column").status().message(),
              HasSubstr("fields.words.values: a name has up to 64 letters"));
}

}  // namespace
}  // namespace stoker
