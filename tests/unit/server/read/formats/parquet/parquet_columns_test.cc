#include "server/read/formats/parquet/parquet_columns.h"

#include <optional>
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

std::vector<std::optional<StoredRows>> NoRows() { return std::vector<std::optional<StoredRows>>(Columns().size()); }

FieldMap Asked(const std::map<std::string, std::string>& fields) {
  FieldMap asked;
  for (const auto& [name, from] : fields) asked[name].set_from(from);
  return asked;
}

TEST(ParquetColumnsTest, AnImageIsCalledByItsStruct) {
  const auto mapping = MapColumns({}, Columns(), Fields(), NoRows());
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  std::vector<std::string> names;
  for (const MappedField& field : mapping->fields) names.push_back(field.field.name + "=" + field.from);
  EXPECT_THAT(names, ElementsAre("box_x=box.x", "image=image.bytes", "label=label"));
  EXPECT_THAT(mapping->warnings, IsEmpty());
}

TEST(ParquetColumnsTest, BothNamesOfAnImageAreOneMapping) {
  const auto by_struct = MapColumns(Asked({{"a", "image"}}), Columns(), Fields(), NoRows());
  const auto by_bytes = MapColumns(Asked({{"a", "image.bytes"}}), Columns(), Fields(), NoRows());
  ASSERT_TRUE(by_struct.ok() && by_bytes.ok());
  EXPECT_EQ(by_struct->identity(), by_bytes->identity());
  EXPECT_THAT(CandidateColumns(Asked({{"image", ""}, {"y", "label"}}), Columns()), ElementsAre(0, 2));
  EXPECT_THAT(CandidateColumns({}, Columns()), ElementsAre(0, 2, 3));
}

TEST(ParquetColumnsTest, AWrongNameSaysWhichThereAre) {
  const auto path = MapColumns(Asked({{"a", "image.path"}}), Columns(), Fields(), NoRows());
  EXPECT_THAT(path.status().message(), HasSubstr("'image.path' is text"));
  const auto none = MapColumns(Asked({{"a", "x"}}), Columns(), Fields(), NoRows());
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

TEST(ParquetColumnsTest, ListsAndBytesAreRows) {
  const ParquetColumn text{.type = ColumnType::kText, .why = "is text"}, bytes{.type = ColumnType::kBinary},
      key{.type = ColumnType::kFixed, .width = 3}, keys{.type = ColumnType::kFixed, .width = 3, .lists = 1},
      number{.type = ColumnType::kInt16, .width = 2}, list{.type = ColumnType::kInt16, .width = 2, .lists = 1},
      lists{.type = ColumnType::kFloat32, .width = 4, .lists = 2};
  for (const ParquetColumn& column : {text, bytes, key}) EXPECT_TRUE(RowsOf(column, {})->are_bytes);
  for (const ParquetColumn& column : {keys, number, ParquetColumn{}}) EXPECT_FALSE(RowsOf(column, {}).has_value());
  EXPECT_EQ(RowsOf(list, {})->dtype, v1::DTYPE_INT16);
  EXPECT_THAT(RowsOf(lists, {.shape = {7, 4}})->shape, ElementsAre(4));
  EXPECT_THAT(RowsOf(lists, {})->shape, IsEmpty()) << "no row has shown it";
  EXPECT_THAT(CandidateColumns({}, {text, bytes}), ElementsAre(1));
}

TEST(ParquetColumnsTest, WhatIsAskedForFollowsTheField) {
  const ParquetColumn list{.type = ColumnType::kFloat32, .width = 4, .lists = 1},
      lists{.type = ColumnType::kFloat32, .width = 4, .lists = 2};
  const SourceField boxes{.kind = SourceField::Kind::kRows, .dtype = v1::DTYPE_FLOAT32, .shape = {4}};
  EXPECT_TRUE(WantedOf(list, boxes)->has_any_length);
  EXPECT_THAT(WantedOf(list, boxes)->shape, IsEmpty());
  EXPECT_THAT(WantedOf(lists, boxes)->shape, ElementsAre(4));
  const SourceField dense{.dtype = v1::DTYPE_FLOAT32, .shape = {3, 4}};
  EXPECT_FALSE(WantedOf(lists, dense)->has_any_length);
  EXPECT_THAT(WantedOf(lists, dense)->shape, ElementsAre(3, 4));
  const SourceField numbers{.kind = SourceField::Kind::kRows, .dtype = v1::DTYPE_FLOAT32};
  EXPECT_EQ(WantedOf(lists, numbers).status().message(), "shape: [] is not of the 1 dimensions that a row has here");
}

}  // namespace
}  // namespace stoker
