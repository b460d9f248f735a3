#include "server/read/formats/parquet/parquet_columns.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<ParquetColumn>& Columns() {
  static const std::vector<ParquetColumn> columns = {{.name = "image.bytes", .type = ColumnType::kBinary},
                                                     {.name = "image.path", .why = "is text"},
                                                     {.name = "label", .type = ColumnType::kInt64, .width = 8},
                                                     {.name = "box.x", .type = ColumnType::kFloat32, .width = 4}};
  return columns;
}

std::vector<absl::StatusOr<SourceField>> Fields() {
  return {SourceField{.kind = SourceField::Kind::kEncodedImage}, absl::InvalidArgumentError("is text"),
          SourceField{.dtype = v1::DTYPE_INT64}, SourceField{.dtype = v1::DTYPE_FLOAT32}};
}

FieldMap Asked(const std::map<std::string, std::string>& fields) {
  FieldMap asked;
  for (const auto& [name, from] : fields) asked[name].set_from(from);
  return asked;
}

TEST(ParquetColumnsTest, AnImageIsCalledByItsStruct) {
  const auto mapping = MapColumns({}, Columns(), Fields());
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  std::vector<std::string> names;
  for (const MappedField& field : mapping->fields) names.push_back(field.field.name + "=" + field.from);
  EXPECT_THAT(names, ElementsAre("box_x=box.x", "image=image.bytes", "label=label"));
  EXPECT_THAT(mapping->warnings, IsEmpty());
}

TEST(ParquetColumnsTest, BothNamesOfAnImageAreOneMapping) {
  const auto by_struct = MapColumns(Asked({{"a", "image"}}), Columns(), Fields());
  const auto by_bytes = MapColumns(Asked({{"a", "image.bytes"}}), Columns(), Fields());
  ASSERT_TRUE(by_struct.ok() && by_bytes.ok());
  EXPECT_EQ(by_struct->identity(), by_bytes->identity());
  EXPECT_THAT(CandidateColumns(Asked({{"image", ""}, {"y", "label"}}), Columns()), ElementsAre(0, 2));
  EXPECT_THAT(CandidateColumns({}, Columns()), ElementsAre(0, 2, 3));
}

TEST(ParquetColumnsTest, AWrongNameSaysWhichThereAre) {
  const auto path = MapColumns(Asked({{"a", "image.path"}}), Columns(), Fields());
  EXPECT_THAT(path.status().message(), HasSubstr("'image.path' is text"));
  const auto none = MapColumns(Asked({{"a", "x"}}), Columns(), Fields());
  EXPECT_THAT(none.status().message(), HasSubstr("image, image.bytes, image.path, label, box.x"));
}

RowGroup GroupOf(const std::vector<uint32_t>& sizes, const std::string& bytes, std::vector<int64_t> shape = {}) {
  ChildAnswer answer{ChildVerdict::kDone, std::make_unique<uint8_t[]>(bytes.size()), bytes.size()};
  std::copy(bytes.begin(), bytes.end(), answer.data.get());
  const std::string_view held(reinterpret_cast<const char*>(answer.data.get()), bytes.size());
  DecodedColumns columns{.rows = sizes.size(), .columns = {{.shape = std::move(shape), .sizes = sizes, .bytes = held}}};
  return {std::move(answer), std::move(columns)};
}

TEST(ParquetColumnsTest, ValuesShowWhatAColumnIs) {
  const ParquetColumn bytes{.type = ColumnType::kBinary}, key{.type = ColumnType::kFixed, .width = 3, .lists = 1},
      list{.type = ColumnType::kInt16, .width = 2, .lists = 1};
  const auto image = FieldOf(bytes, FactsOf(bytes, GroupOf({kNullRow, 4}, "\xff\xd8\xff\xe0"), 0), false);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->kind, SourceField::Kind::kEncodedImage);
  EXPECT_THAT(FieldOf(bytes, FactsOf(bytes, GroupOf({4}, "text"), 0), false).status().message(), HasSubstr("no image"));
  EXPECT_THAT(FieldOf(bytes, FactsOf(bytes, GroupOf({kNullRow}, ""), 0), false).status().message(),
              HasSubstr("no value"));
  EXPECT_THAT(FieldOf(key, FactsOf(key, GroupOf({6}, "abcdef", {2}), 0), false)->shape, ElementsAre(2, 3));
  const RowGroup ragged = GroupOf({4, kOtherShapeRow}, "abcd", {2});
  EXPECT_THAT(FieldOf(list, FactsOf(list, ragged, 0), false).status().message(), HasSubstr("several lengths"));
  EXPECT_THAT(FieldOf(list, FactsOf(list, ragged, 0), true)->shape, ElementsAre(2));
}

}  // namespace
}  // namespace stoker
