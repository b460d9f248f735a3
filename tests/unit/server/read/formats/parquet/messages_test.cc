#include "server/read/formats/parquet/messages.h"

#include <string>

#include "gtest/gtest.h"

namespace stoker {
namespace {

ParquetFooter Footer() {
  return {.columns = {{.name = "image.bytes", .type = ColumnType::kBinary},
                      {.name = "caption", .type = ColumnType::kText, .why = "is text"},
                      {.name = "grid", .type = ColumnType::kInt16, .width = 2, .lists = 2}},
          .row_groups = {{.rows = 7, .footer = "thrift", .chunks = {{4, 5, 6}, {9, 1, 1}, {10, 2, 3}}},
                         {.chunks = {{}, {}, {}}}}};
}

DecodeRequest Request() {
  return {.file_size = 100,
          .rows = 3,
          .most_bytes = 1000,
          .footer = "thrift",
          .columns = {{.column = 2, .has_shape = true, .shape = {2, 3}}, {.column = 0, .has_any_length = true}},
          .ranges = {{4, 3}, {20, 2}}};
}

TEST(ParquetMessagesTest, AFooterComesBack) {
  ParquetFooter parsed;
  ASSERT_TRUE(ParseFooter(SerializeFooter(Footer()), parsed));
  EXPECT_EQ(parsed.columns, Footer().columns);
  ASSERT_EQ(parsed.row_groups.size(), 2);
  EXPECT_EQ(parsed.row_groups[0].rows, 7);
  EXPECT_EQ(parsed.row_groups[0].footer, "thrift");
  EXPECT_EQ(parsed.row_groups[0].chunks[2].decoded, 3);
}

TEST(ParquetMessagesTest, AnIndexFromBeforeTextsWereAType) {
  ParquetFooter parsed;
  const ParquetFooter old = {.columns = {{.name = "caption", .why = "is text"},
                                         {.name = "words", .lists = 1, .why = "is text"},
                                         {.name = "day", .why = "is Date"}}};
  ASSERT_TRUE(ParseFooter(SerializeFooter(old), parsed));
  EXPECT_EQ(parsed.columns[0].type, ColumnType::kText);
  EXPECT_EQ(parsed.columns[1].type, ColumnType::kOther);
  EXPECT_EQ(parsed.columns[2].type, ColumnType::kOther);
}

TEST(ParquetMessagesTest, ARequestComesBackWithItsBytes) {
  DecodeRequest parsed;
  std::string_view bytes;
  const std::string message = SerializeRequest(Request()) + "abcde";
  ASSERT_TRUE(ParseRequest(message, parsed, bytes));
  EXPECT_EQ(bytes, "abcde");
  EXPECT_EQ(parsed.columns[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_FALSE(parsed.columns[1].has_shape);
  EXPECT_FALSE(parsed.columns[0].has_any_length);
  EXPECT_TRUE(parsed.columns[1].has_any_length);
  EXPECT_EQ(parsed.ranges[1].offset, 20);
  EXPECT_FALSE(ParseRequest(message + "f", parsed, bytes));
  EXPECT_FALSE(ParseRequest(SerializeRequest(Request()) + "abcd", parsed, bytes));
}

TEST(ParquetMessagesTest, ColumnsComeBack) {
  const DecodedColumns columns = {.rows = 3,
                                  .columns = {{.shape = {2}, .sizes = {2, kNullRow, 2}, .bytes = "abcd"},
                                              {.shape = {}, .sizes = {0, 1, kTooLargeRow}, .bytes = "e"}}};
  const std::string message = SerializeColumns(columns);
  DecodedColumns parsed;
  ASSERT_TRUE(ParseColumns(message, parsed));
  EXPECT_EQ(parsed.columns[0].sizes, columns.columns[0].sizes);
  EXPECT_EQ(parsed.columns[0].bytes, "abcd");
  EXPECT_EQ(parsed.columns[1].bytes, "e");
}

TEST(ParquetMessagesTest, WhatIsCutShortIsNoMessage) {
  ParquetFooter footer;
  DecodedColumns columns;
  DecodeRequest request;
  std::string_view bytes;
  const std::string messages[] = {SerializeFooter(Footer()), SerializeRequest(Request()) + "abcde",
                                  SerializeColumns({.rows = 1, .columns = {{.sizes = {2}, .bytes = "ab"}}})};
  for (size_t i = 0; i < messages[0].size(); ++i) EXPECT_FALSE(ParseFooter(messages[0].substr(0, i), footer)) << i;
  for (size_t i = 0; i < messages[1].size(); ++i) EXPECT_FALSE(ParseRequest(messages[1].substr(0, i), request, bytes));
  for (size_t i = 0; i < messages[2].size(); ++i) EXPECT_FALSE(ParseColumns(messages[2].substr(0, i), columns)) << i;
}

}  // namespace
}  // namespace stoker
