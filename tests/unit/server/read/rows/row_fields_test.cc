#include "server/read/rows/row_fields.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Rows of one column.
RowGroup GroupOf(const std::vector<uint32_t>& sizes, const std::string& bytes, std::vector<int64_t> shape = {}) {
  ChildAnswer answer{ChildVerdict::kDone, std::make_unique<uint8_t[]>(bytes.size()), bytes.size()};
  std::copy(bytes.begin(), bytes.end(), answer.data.get());
  const std::string_view held(reinterpret_cast<const char*>(answer.data.get()), bytes.size());
  DecodedColumns columns{.rows = sizes.size(), .columns = {{.shape = std::move(shape), .sizes = sizes, .bytes = held}}};
  return {std::move(answer), std::move(columns)};
}

TEST(RowFieldsTest, BytesAreAnImageOrOfOneSize) {
  EXPECT_EQ(FieldOfBytes(true, {}, 0)->kind, SourceField::Kind::kEncodedImage);
  EXPECT_EQ(FieldOfBytes(true, {}, 4)->kind, SourceField::Kind::kEncodedImage);
  EXPECT_THAT(FieldOfBytes(false, {2}, 4)->shape, ElementsAre(2, 4));
  EXPECT_THAT(FieldOfBytes(false, {}, 0).status().message(), HasSubstr("no image"));
}

TEST(RowFieldsTest, AFieldHasNoMoreBytesThanASample) {
  EXPECT_TRUE(DenseField(ColumnType::kFloat64, {1 << 25}).ok());
  EXPECT_THAT(DenseField(ColumnType::kFloat64, {1 << 25, 2}).status().message(), HasSubstr("above"));
}

TEST(RowFieldsTest, RowsWithoutAValueSayWhy) {
  const RowGroup rows = GroupOf({2, kNullRow, kTooLargeRow, kOtherShapeRow, 1}, "abc");
  const SourceField field = {.dtype = v1::DTYPE_UINT8, .shape = {2}};
  std::vector<uint8_t> bytes;
  ASSERT_TRUE(TakeRow(rows, 0, 0, field, bytes).ok());
  EXPECT_THAT(bytes, ElementsAre('a', 'b'));
  EXPECT_THAT(TakeRow(rows, 0, 1, field, bytes).message(), HasSubstr("is null"));
  EXPECT_THAT(TakeRow(rows, 0, 2, field, bytes).message(), HasSubstr("int64"));
  EXPECT_THAT(TakeRow(rows, 0, 3, field, bytes).message(), HasSubstr("of another shape than uint8 [2]"));
  EXPECT_THAT(TakeRow(rows, 0, 4, field, bytes).message(), HasSubstr("of another shape"));
}

TEST(RowFieldsTest, ACacheTakesWhatThereIsAndASampleAtLeast) {
  const DecodedSizes sizes = {.count = 10, .all = 1000, .largest = 100, .rows = 7};
  std::vector<std::string> warnings;
  EXPECT_EQ(*CacheBytes("", sizes, "row group", warnings), 1100);
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(*CacheBytes("500B", sizes, "row group", warnings), 500);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("block_samples: 7, window_blocks: 2")));
  EXPECT_EQ(*CacheBytes("5B", sizes, "row group", warnings), 100);
  EXPECT_EQ(*CacheBytes("5B", {}, "row group", warnings), 0);
  EXPECT_FALSE(CacheBytes("much", sizes, "row group", warnings).ok());
}

TEST(RowFieldsTest, RowsMayHaveAnySizeThatIsWhole) {
  const RowGroup rows = GroupOf({4, 0, kNullRow, 3}, "abcdefg");
  const SourceField field = {
      .kind = SourceField::Kind::kRows, .dtype = v1::DTYPE_UINT8, .shape = {2}, .meaning = v1::FIELD_KIND_RAGGED};
  std::vector<uint8_t> bytes;
  ASSERT_TRUE(TakeRow(rows, 0, 0, field, bytes).ok());
  EXPECT_THAT(bytes, ElementsAre('a', 'b', 'c', 'd'));
  ASSERT_TRUE(TakeRow(rows, 0, 1, field, bytes).ok());
  EXPECT_THAT(bytes, IsEmpty());
  EXPECT_THAT(TakeRow(rows, 0, 2, field, bytes).message(), HasSubstr("is null"));
  EXPECT_THAT(TakeRow(rows, 0, 3, field, bytes).message(), HasSubstr("no whole rows of [2]"));
}

}  // namespace
}  // namespace stoker
