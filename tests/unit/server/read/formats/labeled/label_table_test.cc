#include "server/read/formats/labeled/label_table.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs Of(const absl::StatusOr<std::vector<LabelRow>>& rows) {
  EXPECT_TRUE(rows.ok()) << rows.status();
  Pairs pairs;
  if (rows.ok())
    for (const LabelRow& row : *rows) pairs.emplace_back(row.file, row.label);
  return pairs;
}

std::string ErrorOf(const absl::StatusOr<std::vector<LabelRow>>& rows) { return std::string(rows.status().message()); }

TEST(CsvTest, TakesTheFirstTwoColumnsOrThoseNamed) {
  const std::string text = "id,breed,age\na,pug,3\nb,beagle,5\n";
  EXPECT_EQ(Of(ParseCsv(text, {})), (Pairs{{"a", "pug"}, {"b", "beagle"}}));
  EXPECT_EQ(Of(ParseCsv(text, {.file = "breed", .label = "age"})), (Pairs{{"pug", "3"}, {"beagle", "5"}}));
}

TEST(CsvTest, IsThatOfRfc4180) {
  EXPECT_EQ(Of(ParseCsv("\xef\xbb\xbf\"file\",label\r\n\r\n\"a, \"\"b\"\"\n.jpg\",x\r\nc,\"\"\r\n\nd,y", {})),
            (Pairs{{"a, \"b\"\n.jpg", "x"}, {"c", ""}, {"d", "y"}}));
  const auto rows = ParseCsv("file,label\n\"a\nb\",1\nc,2\n", {});
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0].line, 2);
  EXPECT_EQ((*rows)[1].line, 4) << "a quoted field may have lines of its own";
}

TEST(CsvTest, ErrorsNameTheLine) {
  EXPECT_THAT(ErrorOf(ParseCsv("", {})), HasSubstr("line 1: it is empty; its first row names the columns"));
  EXPECT_THAT(ErrorOf(ParseCsv("file\na\n", {})), HasSubstr("line 1: expected at least two columns"));
  EXPECT_THAT(ErrorOf(ParseCsv("file,label\na,1\nb\n", {})), HasSubstr("line 3: 1 fields, where the first row has 2"));
  EXPECT_THAT(ErrorOf(ParseCsv("file,label\n\"a,1\n", {})), HasSubstr("line 2: a quote is not closed"));
  EXPECT_THAT(ErrorOf(ParseCsv("file,label\n\"a\"b,1\n", {})), HasSubstr("line 2: text after a closing quote"));
  EXPECT_THAT(ErrorOf(ParseCsv("file,label\na,1\n", {.label = "breed"})),
              HasSubstr("there is no column 'breed'; the first row has: file, label"));
}

TEST(JsonTest, IsAListOrAnObject) {
  EXPECT_EQ(Of(ParseJson(R"([{"file_name": "a", "label": 3, "more": []}, {"file_name": "b", "label": "x"}])", {})),
            (Pairs{{"a", "3"}, {"b", "x"}}));
  EXPECT_EQ(Of(ParseJson(R"({"b.jpg": "dog", "a.jpg": -1})", {})), (Pairs{{"a.jpg", "-1"}, {"b.jpg", "dog"}}));
  EXPECT_EQ(Of(ParseJson(R"([{"f": "a", "l": 3}])", {.file = "f", .label = "l"})), (Pairs{{"a", "3"}}));
}

TEST(JsonTest, ErrorsNameTheEntry) {
  EXPECT_THAT(ErrorOf(ParseJson("[", {})), HasSubstr("it is not JSON"));
  EXPECT_THAT(ErrorOf(ParseJson("3", {})), HasSubstr("expected a list of objects"));
  EXPECT_THAT(ErrorOf(ParseJson(R"([{"file_name": "a", "label": 1}, {"file_name": "b"}])", {})),
              HasSubstr("line 2: expected an object with the key 'label'"));
  EXPECT_THAT(ErrorOf(ParseJson(R"([{"file_name": 1, "label": 1}])", {})), HasSubstr("'file_name' is no text"));
  EXPECT_THAT(ErrorOf(ParseJson(R"({"a": 1.5})", {})), HasSubstr("'a' is no text or number"));
  EXPECT_THAT(ErrorOf(ParseJson(std::string(100'000, '['), {})), HasSubstr("line 1"));
  EXPECT_THAT(ErrorOf(ParseJson(R"({"a": 1, "b": 1, "a": 2})", {})), HasSubstr("'a' is there twice"));
}

TEST(JsonLinesTest, HasAnObjectInEachLine) {
  const auto rows =
      ParseJsonLines("{\"file_name\": \"a\", \"label\": 0}\r\n\n{\"file_name\": \"b\", \"label\": 1}", {});
  EXPECT_EQ(Of(rows), (Pairs{{"a", "0"}, {"b", "1"}}));
  EXPECT_EQ((*rows)[1].line, 3);
  EXPECT_THAT(ErrorOf(ParseJsonLines("{\"file_name\": \"a\", \"label\": 0}\n{]\n", {})),
              HasSubstr("line 2: it is not JSON"));
}

}  // namespace
}  // namespace stoker
