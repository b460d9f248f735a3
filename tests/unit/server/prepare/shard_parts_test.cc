// What shards are put together from: keys, builders and the ledger.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/prepare/sample_keys.h"
#include "server/prepare/sample_source.h"
#include "server/prepare/shard_builder.h"
#include "server/prepare/shard_columns.h"
#include "server/prepare/shard_ledger.h"
#include "server/read/registry/open_dataset.h"
#include "tests/unit/server/prepare/jpeg_files.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

// Samples that have names and nothing else.
class Named final : public Dataset {
 public:
  explicit Named(std::vector<std::string> names) : names_(std::move(names)) {}
  uint64_t size() const override { return names_.size(); }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return names_[0]; }
  uint64_t resident_bytes() const override { return 0; }
  std::string description() const override { return ""; }
  std::string SampleName(uint64_t id) const override { return names_[id]; }
  absl::Status Read(uint64_t, SampleBytes&) const override { return absl::UnimplementedError(""); }

 private:
  const std::vector<std::string> names_;
  const SourceSchema schema_;
};

TEST(SampleKeysTest, ArePathsWithoutDotsAndExtensions) {
  const Named named({"a.b/1.jpg", "a.b/x.y%.jpg", "c/1.jpg", "c/1.png"});
  const SampleKeys keys(*DatasetSource::Create(named));
  EXPECT_EQ(keys.KeyOf("a.b/1.jpg"), "a.b/1");
  EXPECT_EQ(keys.KeyOf("a.b/x.y%.jpg"), "a.b/x%2ey%25");
  EXPECT_EQ(keys.KeyOf("c/1.jpg"), "c/1%2ejpg");
  EXPECT_EQ(keys.KeyOf("c/1.png"), "c/1%2epng");
}

TEST(DatasetSourceTest, SamplesOfOneNameAreNumbered) {
  const Named named({"a", "b", "a", "a", "c"});
  const auto source = DatasetSource::Create(named);
  ASSERT_TRUE(source.ok()) << source.status();
  std::vector<std::string> names;
  for (uint64_t id = 0; id < 5; ++id) names.push_back(source->NameOf(id));
  EXPECT_THAT(names, testing::ElementsAre("a", "b", "a#2", "a#3", "c"));
  EXPECT_THAT(std::string(DatasetSource::Create(Named({"a", "a", "a#2"})).status().message()),
              testing::HasSubstr("two samples are called 'a', and another one 'a#2'"));
}

SourceField Elements(const std::string& name, v1::Dtype dtype, std::vector<int64_t> shape) {
  return {.name = name, .dtype = dtype, .shape = std::move(shape)};
}

SourceField Image(const std::string& name) { return {.name = name, .kind = SourceField::Kind::kEncodedImage}; }

std::vector<ShardColumn> ImageAndLabelColumns() {
  return *ColumnsOf({Image("image"), Elements("label", v1::DTYPE_INT64, {})}, false);
}

TEST(ShardColumnsTest, EachFieldHasItsPlace) {
  const auto columns = ColumnsOf({Image("mask"), Elements("Boxes", v1::DTYPE_FLOAT32, {2, 4}), Image("image"),
                                  Elements("label", v1::DTYPE_INT64, {}), Elements("count.npy", v1::DTYPE_INT32, {})},
                                 false);
  ASSERT_TRUE(columns.ok()) << columns.status();
  std::vector<std::string> members, encodings;
  for (const ShardColumn& column : *columns) {
    members.push_back(column.extension);
    encodings.push_back(column.encoding);
  }
  EXPECT_THAT(members, testing::ElementsAre("mask.jpg", "boxes.npy", "jpg", "cls", "count.npy"));
  EXPECT_THAT(encodings, testing::ElementsAre("jpeg", "ndarray:float32:2,4", "jpeg", "int", "int32"));
  EXPECT_EQ((*columns)[1].bytes, 32);
  EXPECT_EQ((*columns)[1].head.size() % 64, 0);
  EXPECT_EQ((*ColumnsOf({Image("photo")}, true))[0].extension, "jpg");
  EXPECT_EQ((*ColumnsOf({Image("photo")}, true))[0].encoding, "bytes");
}

TEST(ShardColumnsTest, WhatCannotBeWrittenIsNamed) {
  const auto refusal = [](const SourceSchema& schema) {
    return std::string(ColumnsOf(schema, false).status().message());
  };
  EXPECT_THAT(refusal({Image("image"), Elements("scores", v1::DTYPE_BFLOAT16, {3})}),
              testing::HasSubstr("the field 'scores' cannot be written to shards: neither .npy nor MDS has bfloat16"));
  EXPECT_THAT(refusal({Elements("a/b", v1::DTYPE_UINT8, {3})}),
              testing::HasSubstr("the field 'a/b' cannot be written"));
  EXPECT_THAT(refusal({Elements("a", v1::DTYPE_UINT8, {3}), Elements("A", v1::DTYPE_UINT8, {3})}),
              testing::HasSubstr("the field 'A' cannot be written to shards: another field has the same name"));
}

// Opens the shards in `folder` and expects these samples.
void ExpectSamples(const TemporaryFolder& folder, const std::vector<std::vector<uint8_t>>& images,
                   const std::vector<int64_t>& labels) {
  v1::DatasetConfig config;
  config.set_data(folder.path());
  const auto opened = OpenDataset(config, {});
  ASSERT_TRUE(opened.ok()) << opened.status();
  const Dataset& dataset = *opened->dataset;
  ASSERT_EQ(dataset.schema().size(), 2);
  EXPECT_EQ(dataset.schema()[0].name, "image");
  EXPECT_EQ(dataset.schema()[0].kind, SourceField::Kind::kEncodedImage);
  EXPECT_EQ(dataset.schema()[1].name, "label");
  ASSERT_EQ(dataset.size(), images.size());
  SampleBytes sample;
  for (uint64_t id = 0; id < images.size(); ++id) {
    ASSERT_EQ(dataset.Read(id, sample), absl::OkStatus());
    EXPECT_EQ(sample.fields[0], images[id]) << id;
    EXPECT_EQ(WholeNumberAt(sample.fields[1].data(), v1::DTYPE_INT64, 0), labels[id]) << id;
  }
}

class BuilderTest : public testing::Test {
 protected:
  BuilderTest() {
    for (int i = 0; i < 7; ++i) {
      images_.push_back(MakeJpeg({}, {16 + i, 24}));
      labels_.push_back(i * 300);
    }
  }

  // Writes shards of three samples.
  std::vector<WrittenShard> Write(ShardBuilder& builder, const std::vector<std::string>& keys) const {
    std::vector<WrittenShard> shards;
    for (size_t i = 0; i < images_.size(); ++i) {
      const ShardSample sample = {keys[i],
                                  {images_[i], {reinterpret_cast<const uint8_t*>(&labels_[i]), sizeof labels_[i]}}};
      const uint64_t expected = builder.BytesWith(sample);
      builder.Add(sample);
      if (builder.samples() < 3 && i + 1 < images_.size()) continue;
      WrittenShard shard = {.name = builder.NameOf(shards.size()), .samples = builder.samples()};
      EXPECT_TRUE(builder.IsName(shard.name));
      const std::string bytes = builder.Finish();
      EXPECT_EQ(bytes.size(), expected);
      EXPECT_EQ(builder.samples(), 0);
      shard.bytes = bytes.size();
      folder_.Write(shard.name, bytes);
      shards.push_back(shard);
    }
    return shards;
  }

  TemporaryFolder folder_;
  std::vector<std::vector<uint8_t>> images_;
  std::vector<int64_t> labels_;
};

TEST_F(BuilderTest, TarsHaveNamesOfAnyLength) {
  std::vector<std::string> keys;
  // Around 100 bytes, which are ustar's for a name, and around what its prefix adds.
  for (const size_t bytes : {1, 95, 96, 97, 150, 252, 600}) {
    std::string key = std::string(bytes, 'k');
    for (size_t at = 40; at + 1 < bytes; at += 41) key[at] = '/';
    keys.push_back(key);
  }
  const auto builder = CreateTarBuilder(ImageAndLabelColumns());
  Write(*builder, keys);
  ExpectSamples(folder_, images_, labels_);
  v1::DatasetConfig config;
  config.set_data(folder_.path());
  const auto opened = OpenDataset(config, {});
  ASSERT_TRUE(opened.ok());
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(opened->dataset->SampleName(i), keys[i]);
}

TEST_F(BuilderTest, MdsShardsAreReadByTheirIndex) {
  const auto builder = CreateMdsBuilder(ImageAndLabelColumns(), 1 << 20);
  const auto shards = Write(*builder, std::vector<std::string>(7, "key"));
  folder_.Write(builder->ListName(), builder->ListOf(shards));
  ExpectSamples(folder_, images_, labels_);
}

TEST(ShardNamesTest, AreThoseOfShardsAlone) {
  const auto tars = CreateTarBuilder(ImageAndLabelColumns()), mds = CreateMdsBuilder(ImageAndLabelColumns(), 1);
  EXPECT_EQ(tars->NameOf(12), "shard-000012.tar");
  EXPECT_EQ(mds->NameOf(12), "shard.00012.mds");
  for (const char* name : {"shard-000001.tar", "shard-1000000.tar"}) EXPECT_TRUE(tars->IsName(name)) << name;
  for (const char* name : {"shard-.tar", "shard-00000x.tar", "train-000001.tar", "shard-000001.tar.gz", "classes.txt"})
    EXPECT_FALSE(tars->IsName(name)) << name;
  EXPECT_TRUE(mds->IsName("index.json"));
  EXPECT_FALSE(mds->IsName("shard-000001.tar"));
}

TEST(ShardLedgerTest, KnowsWhatWasAppended) {
  const TemporaryFolder folder;
  const LedgerEntry entry = {{"shard-000000.tar", 2, 77, std::string(32, 'd')},
                             {{"a/1.jpg", 5, ""}, {"a/2.jpg", 6, "it is damaged"}}};
  {
    auto ledger = ShardLedger::Open(folder.path());
    ASSERT_TRUE(ledger.ok()) << ledger.status();
    EXPECT_EQ(ledger->Append(entry), absl::OkStatus());
  }
  const auto ledger = ShardLedger::Open(folder.path());
  ASSERT_TRUE(ledger.ok()) << ledger.status();
  ASSERT_EQ(ledger->entries().size(), 1);
  EXPECT_EQ(SerializeEntry(ledger->entries()[0]), SerializeEntry(entry));
  const std::string body = SerializeEntry(entry);
  for (size_t bytes = 0; bytes < body.size(); ++bytes)
    EXPECT_FALSE(ParseEntry(std::string_view(body).substr(0, bytes)).has_value()) << bytes;
}

}  // namespace
}  // namespace stoker
