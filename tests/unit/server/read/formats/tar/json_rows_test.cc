#include "server/read/formats/tar/json_rows.h"

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/formats/tar/json_number.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

// Returns the numbers of the rows at a path, or the error.
std::string RowsOf(const std::string& document, const std::string& path, std::vector<int64_t> shape = {},
                   v1::Dtype dtype = v1::DTYPE_FLOAT64) {
  const auto parsed = ParseJsonPath(path);
  if (!parsed.ok()) return std::string(parsed.status().message());
  const SourceField field = {.kind = SourceField::Kind::kRows, .dtype = dtype, .shape = std::move(shape)};
  std::vector<uint8_t> rows;
  const absl::Status status = RowsAt(document, *parsed, field, rows);
  if (!status.ok()) return std::string(status.message());
  if (dtype != v1::DTYPE_FLOAT64) return absl::StrCat(rows.size(), " bytes");
  std::vector<double> numbers(rows.size() / sizeof(double));
  if (!rows.empty()) std::memcpy(numbers.data(), rows.data(), rows.size());
  return absl::StrJoin(numbers, " ");
}

TEST(JsonRowsTest, TakesRowsInEveryForm) {
  EXPECT_EQ(RowsOf(R"({"a": [1, 2.5, -3]})", "$.a"), "1 2.5 -3");
  EXPECT_EQ(RowsOf(R"({"a": 7})", "$.a"), "7");
  EXPECT_EQ(RowsOf(R"({"a": []})", "$.a"), "");
  EXPECT_EQ(RowsOf(R"({"a": []})", "$.a", {4}), "");
  EXPECT_EQ(RowsOf("[[1, 2], [3, 4]]", "$", {2}), "1 2 3 4");
  EXPECT_EQ(RowsOf("[1, 2, 3, 4]", "$", {2}), "1 2 3 4") << "one list";
  EXPECT_EQ(RowsOf("[1, 2]", "$", {2}), "1 2") << "one row";
  EXPECT_EQ(RowsOf("[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]", "$", {2, 2}), "1 2 3 4 5 6 7 8");
  EXPECT_EQ(RowsOf("[[1, 2], [3, 4]]", "$", {2, 2}), "1 2 3 4") << "one row of two dimensions";
  EXPECT_EQ(RowsOf("[1, 2, 3, 4]", "$", {2, 2}), "1 2 3 4");
}

TEST(JsonRowsTest, GoesIntoEveryElement) {
  const std::string document = R"({"x": {"bbox": [9]}, "objects": [{"id": 1, "bbox": [1, 2, 3, 4], "parts": [{"n": 5}]},
                                   {"bbox": [5, 6, 7, 8], "id": 2, "parts": [{"n": 6}, {"n": 7}]}], "n": 0})";
  EXPECT_EQ(RowsOf(document, "$.objects[*].bbox", {4}), "1 2 3 4 5 6 7 8");
  EXPECT_EQ(RowsOf(document, "$.objects[*].id"), "1 2");
  EXPECT_EQ(RowsOf(document, "$.objects[*].parts[*].n"), "5 6 7");
  EXPECT_EQ(RowsOf(document, "$.objects[1].parts[*].n"), "6 7");
  EXPECT_EQ(RowsOf(R"({"objects": []})", "$.objects[*].bbox", {4}), "");
  EXPECT_EQ(RowsOf("[[1, 2], [3]]", "$[*]"), "1 2 3");
}

TEST(JsonRowsTest, ALaterKeyTakesTheEarlierOneBack) {
  EXPECT_EQ(RowsOf(R"({"a": [1, 2], "a": [3]})", "$.a"), "3");
  EXPECT_EQ(RowsOf(R"({"a": "none", "a": [3]})", "$.a"), "3");
  EXPECT_EQ(RowsOf(R"([{"a": 1}, {"a": 2, "a": 3}, {"a": 4}])", "$[*].a"), "1 3 4");
  EXPECT_THAT(RowsOf(R"({"a": [1, 2], "a": null})", "$.a"), HasSubstr("null"));
  EXPECT_THAT(RowsOf(R"([{"a": null}, {"a": 2, "a": 3}])", "$[*].a"), HasSubstr("null")) << "of another element";
}

TEST(JsonRowsTest, SaysWhatIsNoRows) {
  EXPECT_EQ(RowsOf("[[1, 2, 3]]", "$", {4}), "has a list of 3, where rows of [4] are");
  EXPECT_EQ(RowsOf("[1, 2, 3]", "$", {4}), "has a list of 3 numbers, where rows of [4] are");
  EXPECT_THAT(RowsOf("[[1, 2], [3]]", "$"), HasSubstr("lists of another shape"));
  EXPECT_THAT(RowsOf("[[1, 2], 3]", "$", {2}), HasSubstr("lists of another shape"));
  EXPECT_THAT(RowsOf("[[[1, 2]]]", "$", {2}), HasSubstr("lists of another shape"));
  EXPECT_THAT(RowsOf("[[]]", "$", {2}), HasSubstr("an empty list in a list"));
  EXPECT_THAT(RowsOf("7", "$", {2}), HasSubstr("lists of another shape"));
  EXPECT_THAT(RowsOf("[1, \"2\"]", "$"), HasSubstr("has a text"));
  EXPECT_THAT(RowsOf("[1, {\"a\": 2}]", "$"), HasSubstr("has an object"));
  EXPECT_THAT(RowsOf("[1, null]", "$"), HasSubstr("null"));
  EXPECT_THAT(RowsOf("{}", "$.a"), HasSubstr("lacks it"));
  EXPECT_THAT(RowsOf(R"({"a": 1})", "$.a.b"), HasSubstr("lacks it"));
  EXPECT_THAT(RowsOf(R"({"a": {}})", "$.a[*]"), HasSubstr("lacks it"));
  EXPECT_THAT(RowsOf(R"([{"a": 1}, {"b": 2}])", "$[*].a"), HasSubstr("an element on the way"));
  EXPECT_EQ(RowsOf("[[1, 2, 3], [4]]", "$[*]", {4}), "has a list of 3 numbers, where rows of [4] are")
      << "each value has whole rows";
  EXPECT_THAT(RowsOf("[1, 2", "$"), HasSubstr("is not JSON"));
  EXPECT_THAT(RowsOf(std::string(100'000, '['), "$"), HasSubstr("is not JSON"));
}

TEST(JsonRowsTest, ANumberFitsItsType) {
  EXPECT_EQ(RowsOf("[0, 255]", "$", {}, v1::DTYPE_UINT8), "2 bytes");
  EXPECT_EQ(RowsOf("[0, -32768]", "$", {}, v1::DTYPE_INT16), "4 bytes");
  EXPECT_EQ(RowsOf("[0, 1]", "$", {}, v1::DTYPE_INT32), "8 bytes");
  EXPECT_EQ(RowsOf("[9223372036854775807]", "$", {}, v1::DTYPE_INT64), "8 bytes");
  EXPECT_EQ(RowsOf("[0.1]", "$", {}, v1::DTYPE_FLOAT32), "4 bytes");
  EXPECT_THAT(RowsOf("[256]", "$", {}, v1::DTYPE_UINT8), HasSubstr("has the number 256, which uint8 does not hold"));
  EXPECT_THAT(RowsOf("[0.5]", "$", {}, v1::DTYPE_INT64), HasSubstr("which int64 does not hold; `dtype` says"));
  EXPECT_THAT(RowsOf("[18446744073709551615]", "$", {}, v1::DTYPE_INT64), HasSubstr("does not hold"));
  EXPECT_THAT(RowsOf("[1e300]", "$", {}, v1::DTYPE_FLOAT32), HasSubstr("float32 does not hold"));
}

TEST(JsonTextTest, FindsTheTextAtItsPath) {
  const auto text = [](const char* document) {
    const auto found = TextAt(document, *ParseJsonPath("$.a"));
    return found.ok() ? *found : std::string(found.status().message());
  };
  EXPECT_EQ(text(R"({"a": "\u00e4 cat"})"), "ä cat");
  EXPECT_EQ(text(R"({"a": ""})"), "");
  EXPECT_EQ(text(R"({"a": ["b"]})"), "has no text there");
  EXPECT_EQ(text(R"({"a": 1})"), "has no text there");
  EXPECT_EQ(text("{"), "is not JSON");
}

TEST(JsonPathTest, KnowsWhereItLeadsToMany) {
  EXPECT_TRUE(LeadsToMany(*ParseJsonPath("$.a[*].b")));
  EXPECT_FALSE(LeadsToMany(*ParseJsonPath("$.a[0].b")));
  EXPECT_FALSE(ParseJsonPath("$.a[*").ok());
  EXPECT_FALSE(ParseJsonPath("$*").ok());
}

}  // namespace
}  // namespace stoker
