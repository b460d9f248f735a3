#include "server/read/formats/parquet/parquet_dataset.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fuzz/memory_store.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A file whose row groups do as `letters` say: see test_parquet_child.cc.
std::vector<uint8_t> FileOf(const std::string& letters, int64_t label = 5) {
  std::string text = "PAR1" + std::string(8, '\0') + letters + std::string(4, '\0') + "PAR1";
  std::memcpy(text.data() + 4, &label, sizeof label);
  const auto size = static_cast<uint32_t>(letters.size());
  std::memcpy(text.data() + text.size() - 8, &size, sizeof size);
  return {text.begin(), text.end()};
}

struct Opening {
  v1::Parquet config;
  std::string program = STOKER_TEST_PARQUET_CHILD;
  bool remote = false;
};

absl::StatusOr<std::unique_ptr<ParquetDataset>> Open(const std::map<std::string, std::string>& files,
                                                     const Opening& opening = {}) {
  MemoryStore::Objects objects;
  std::vector<ObjectInfo> infos;
  for (const auto& [name, letters] : files) {
    objects[name] = FileOf(letters, static_cast<int64_t>(objects.size()) + 5);
    infos.push_back({name, objects[name].size(), ""});
  }
  return ParquetDataset::Open(opening.config, std::make_shared<MemoryStore>(std::move(objects), opening.remote),
                              std::move(infos), {.name = "pets", .program = opening.program});
}

absl::StatusOr<int64_t> LabelOf(const ParquetDataset& dataset, uint64_t id) {
  SampleBytes sample;
  if (const absl::Status read = dataset.Read(id, sample); !read.ok()) return read;
  int64_t label = 0;
  std::memcpy(&label, sample.fields[0].data(), sizeof label);
  return label;
}

TEST(ParquetDatasetTest, RowsAreSamplesInOrder) {
  const auto opened = Open({{"a.parquet", "oeo"}, {"b.parquet", "e"}, {"c.parquet", "o"}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  const ParquetDataset& dataset = **opened;
  EXPECT_EQ(dataset.size(), 6);
  EXPECT_EQ(dataset.SampleName(3), "a.parquet:3");
  EXPECT_EQ(dataset.SampleName(4), "c.parquet:0");
  EXPECT_EQ(*LabelOf(dataset, 3), 5);
  EXPECT_EQ(*LabelOf(dataset, 5), 7);
  EXPECT_THAT(dataset.warnings(), ElementsAre(HasSubstr("'caption' is left out: it is text")));
}

TEST(ParquetDatasetTest, ACrashIsTheLossOfOneRowGroup) {
  const auto opened = Open({{"a.parquet", "oco"}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  for (int round = 0; round < 2; ++round)
    for (const uint64_t id : {2, 3}) {
      const auto lost = LabelOf(**opened, id).status();
      EXPECT_EQ(lost.code(), absl::StatusCode::kDataLoss);
      EXPECT_THAT(lost.message(), HasSubstr("pets: a.parquet:" + std::to_string(id)));
      EXPECT_THAT(lost.message(), HasSubstr("a.parquet: row group 1"));
      EXPECT_THAT(lost.message(), HasSubstr("SIGABRT"));
    }
  EXPECT_EQ(*LabelOf(**opened, 1), 5);
  EXPECT_EQ(*LabelOf(**opened, 4), 5);
}

TEST(ParquetDatasetTest, WhatCannotBeIsAnError) {
  const auto opened = Open({{"a.parquet", "orgln"}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  const std::vector<std::pair<uint64_t, std::string>> errors = {{2, "it is odd"},
                                                                {4, "what was decoded cannot be"},
                                                                {6, "what was decoded cannot be"},
                                                                {9, "column label: is null"}};
  for (const auto& [id, text] : errors) {
    EXPECT_EQ(LabelOf(**opened, id).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(LabelOf(**opened, id).status().message(), HasSubstr(text));
  }
  EXPECT_EQ(*LabelOf(**opened, 8), 5);
}

TEST(ParquetDatasetTest, FootersThatLieAreRefused) {
  EXPECT_THAT(Open({{"a.parquet", "o"}, {"b.parquet", "ob"}}).status().message(),
              HasSubstr("b.parquet: a column of its row group 1 has 8 bytes at"));
  EXPECT_THAT(Open({{"a.parquet", "oh"}}).status().message(), HasSubstr("row group 1, of 4611686018427387904 rows"));
  EXPECT_EQ(Open({{"a.parquet", "x"}}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Open({{"a.parquet", "ee"}}).status().message(), HasSubstr("no row"));
}

TEST(ParquetDatasetTest, OneFingerprintWhereverFilesLie) {
  const auto local = Open({{"a.parquet", "oo"}}), remote = Open({{"a.parquet", "oo"}}, {.remote = true});
  const auto other = Open({{"a.parquet", "oe"}}), mapped = [] {
    Opening opening;
    (*opening.config.mutable_fields())["y"].set_from("label");
    return Open({{"a.parquet", "oo"}}, opening);
  }();
  ASSERT_TRUE(local.ok() && remote.ok() && other.ok() && mapped.ok());
  EXPECT_EQ((*local)->fingerprint(), (*remote)->fingerprint());
  EXPECT_NE((*local)->fingerprint(), (*other)->fingerprint());
  EXPECT_NE((*local)->fingerprint(), (*mapped)->fingerprint());
}

TEST(ParquetDatasetTest, ASmallCacheIsWarnedOfAndBoundsMemory) {
  Opening opening;
  opening.config.set_cache("40B");
  const auto small = Open({{"a.parquet", std::string(1000, 'o')}}, opening), large = Open({{"a.parquet", "oo"}});
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_THAT((*small)->warnings().back(), HasSubstr("block_samples: 2"));
  EXPECT_THAT((*large)->warnings(), ElementsAre(HasSubstr("caption")));
  for (uint64_t id = 0; id < 20; ++id) EXPECT_EQ(*LabelOf(**small, id), 5);
  opening.config.set_cache("much");
  EXPECT_THAT(Open({{"a.parquet", "o"}}, opening).status().message(), HasSubstr("parquet.cache"));
}

TEST(ParquetDatasetTest, ABuildWithoutArrowSaysWhatToDo) {
  const auto status = Open({{"a.parquet", "o"}}, {.program = "/nonexistent/program"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("./dev setup --parquet"));
}

}  // namespace
}  // namespace stoker
