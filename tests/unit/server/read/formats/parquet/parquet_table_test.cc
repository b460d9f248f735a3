#include "server/read/formats/parquet/parquet_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ParquetFooter FooterOf(uint64_t rows) {
  ParquetFooter footer;
  footer.columns = {{.name = "box", .type = ColumnType::kFloat32, .width = 4, .lists = 1}};
  footer.row_groups = {{.rows = rows, .footer = "thrift", .chunks = {{.offset = 4, .size = 50, .decoded = 60}}}};
  return footer;
}

ParquetTable Example() {
  ParquetTable table;
  table.shards = {{{"a.parquet", 100, "1"}, FooterOf(0)},
                  {{"b.parquet", 100, "1"}, FooterOf(7)},
                  {{"c.parquet", 100, "1"}, FooterOf(7)}};
  table.facts = {{.is_known = true, .has_value = true, .has_other_shape = true, .shape = {4}}};
  return table;
}

absl::StatusOr<ParquetTable> Changed(const std::function<void(ParquetTable&)>& change) {
  ParquetTable table = Example();
  change(table);
  return ParseTable(SerializeTable(table));
}

TEST(ParquetTableTest, HoldsWhatFootersSay) {
  const auto table = ParseTable(SerializeTable(Example()));
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->shards.size(), 3);
  EXPECT_EQ(table->shards[1].object.name, "b.parquet");
  EXPECT_EQ(table->shards[1].footer.columns, FooterOf(7).columns);
  EXPECT_EQ(table->shards[1].footer.row_groups[0].chunks[0].size, 50);
  ASSERT_EQ(table->facts.size(), 1);
  EXPECT_TRUE(table->facts[0].is_known && table->facts[0].has_value && table->facts[0].has_other_shape);
  EXPECT_FALSE(table->facts[0].is_image);
  EXPECT_THAT(table->facts[0].shape, ElementsAre(4));
}

TEST(ParquetTableTest, WhatCannotBeIsRefused) {
  EXPECT_THAT(Changed([](ParquetTable& table) { table.shards[1].footer.row_groups[0].chunks[0].offset = ~uint64_t{0}; })
                  .status()
                  .message(),
              HasSubstr("b.parquet: a column of its row group 0 has 50 bytes at"));
  EXPECT_THAT(Changed([](ParquetTable& table) { table.shards[1].object.name = "c.parquet"; }).status().message(),
              HasSubstr("in no order"));
  for (const int64_t extent : {int64_t{0}, int64_t{-1}})
    EXPECT_THAT(Changed([&](ParquetTable& table) { table.facts[0].shape = {extent}; }).status().message(),
                HasSubstr("shape"));
  EXPECT_FALSE(Changed([](ParquetTable& table) { table.facts[0].shape.resize(1000, 1); }).ok());
  const std::string bytes = SerializeTable(Example());
  for (size_t i = 0; i < bytes.size(); ++i) EXPECT_FALSE(ParseTable(bytes.substr(0, i)).ok()) << i;
}

TEST(ParquetTableTest, ItsShardsAreThoseThatAreThere) {
  ParquetTable table = Example();
  ASSERT_TRUE(KeepShards({{"b.parquet", 100, "1"}, {"c.parquet", 100, "2"}}, {}, table).ok());
  EXPECT_EQ(table.shards.size(), 2);
  EXPECT_EQ(table.shards[1].object.version, "2") << "reads compare with what the store says now";
  EXPECT_EQ(table.facts.size(), 1) << "the first file with rows is the same";
  ASSERT_TRUE(KeepShards({{"c.parquet", 100, "2"}}, {}, table).ok());
  EXPECT_THAT(table.facts, IsEmpty()) << "another first file may show other things";
  EXPECT_THAT(KeepShards({{"d.parquet", 100, ""}}, {}, table).message(), HasSubstr("d.parquet: is not in it"));
  table = Example();
  EXPECT_THAT(KeepShards({{"b.parquet", 99, "1"}}, {}, table).message(), HasSubstr("b.parquet: had 100 bytes"));
  table = Example();
  EXPECT_FALSE(KeepShards({{"b.parquet", 100, "2"}}, {.is_same_store = true}, table).ok());
}

// Lists of another depth than the column's would lead the reader astray.
TEST(ParquetTableTest, AShapeMustFitItsColumn) {
  const ParquetColumn column = FooterOf(1).columns[0];
  ParquetColumnFacts facts = Example().facts[0];
  EXPECT_TRUE(FieldOf(column, facts, true).ok());
  facts.shape = {};
  EXPECT_FALSE(FieldOf(column, facts, true).ok());
  facts.shape = {4, 4};
  EXPECT_FALSE(FieldOf(column, facts, true).ok());
}

}  // namespace
}  // namespace stoker
