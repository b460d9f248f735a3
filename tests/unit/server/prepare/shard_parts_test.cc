// What shards are put together from: keys, builders and the ledger.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/prepare/sample_keys.h"
#include "server/prepare/shard_builder.h"
#include "server/prepare/shard_ledger.h"
#include "server/read/registry/open_dataset.h"
#include "tests/unit/server/prepare/jpeg_files.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

FolderIndex IndexOf(const std::vector<std::string>& paths) {
  FolderIndex index;
  for (const std::string& path : paths) {
    const std::string folder = path.substr(0, path.find('/'));
    if (index.classes.empty() || index.classes.back().name != folder) index.classes.push_back({folder, 0});
    index.files.Add(path.substr(folder.size() + 1), 1, 0);
    index.classes.back().end = index.files.size();
  }
  return index;
}

TEST(SampleKeysTest, ArePathsWithoutDotsAndExtensions) {
  const SampleKeys keys(IndexOf({"a.b/1.jpg", "a.b/x.y%.jpg", "c/1.jpg", "c/1.png"}));
  EXPECT_EQ(keys.KeyOf("a.b/1.jpg"), "a.b/1");
  EXPECT_EQ(keys.KeyOf("a.b/x.y%.jpg"), "a.b/x%2ey%25");
  EXPECT_EQ(keys.KeyOf("c/1.jpg"), "c/1%2ejpg");
  EXPECT_EQ(keys.KeyOf("c/1.png"), "c/1%2epng");
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
      const uint64_t expected = builder.BytesWith({keys[i], labels_[i], images_[i]});
      builder.Add({keys[i], labels_[i], images_[i]});
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
  const auto builder = CreateTarBuilder();
  Write(*builder, keys);
  ExpectSamples(folder_, images_, labels_);
  v1::DatasetConfig config;
  config.set_data(folder_.path());
  const auto opened = OpenDataset(config, {});
  ASSERT_TRUE(opened.ok());
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(opened->dataset->SampleName(i), keys[i]);
}

TEST_F(BuilderTest, MdsShardsAreReadByTheirIndex) {
  const auto builder = CreateMdsBuilder("jpeg", 1 << 20);
  const auto shards = Write(*builder, std::vector<std::string>(7, "key"));
  folder_.Write(builder->ListName(), builder->ListOf(shards));
  ExpectSamples(folder_, images_, labels_);
}

TEST(ShardNamesTest, AreThoseOfShardsAlone) {
  const auto tars = CreateTarBuilder(), mds = CreateMdsBuilder("jpeg", 1);
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
