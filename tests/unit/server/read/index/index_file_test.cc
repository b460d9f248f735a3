#include "server/read/index/index_file.h"

#include <sys/stat.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using testing::HasSubstr;

const IndexKey kKey = {"s3://bucket/train", "tar.v1"};

ShardIndex Example() {
  ShardIndex index;
  index.parts = 1;
  ShardIndex::Rows rows(1);
  rows.Add("a/1", {512, 100}, {{10, 90}});
  rows.Add("a/2", {1024, 50}, {{0, 50}});
  index.Append({"a.tar", 2048, "etag"}, rows);
  return index;
}

std::vector<ObjectInfo> Objects(const ShardIndex& index) {
  std::vector<ObjectInfo> objects;
  for (const auto& shard : index.shards) objects.push_back(shard.object);
  return objects;
}

TEST(IndexFileTest, HoldsAnIndex) {
  const ShardIndex index = Example();
  const auto parsed = ParseIndex(SerializeIndex(kKey, index), kKey, Objects(index));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->Fingerprint("f"), index.Fingerprint("f"));
  EXPECT_EQ(parsed->shards[0].object.version, "etag");
  EXPECT_EQ(parsed->NameOf(1), "a/2");
}

TEST(IndexFileTest, IsOfOneSourceAsItIs) {
  const std::string bytes = SerializeIndex(kKey, Example());
  const auto code = [&](const IndexKey& key, const std::vector<ObjectInfo>& objects) {
    return ParseIndex(bytes, key, objects).status().code();
  };
  const auto stale = absl::StatusCode::kFailedPrecondition;
  EXPECT_EQ(code({"elsewhere", kKey.format}, Objects(Example())), stale);
  EXPECT_EQ(code({kKey.store, "tar.v2"}, Objects(Example())), stale);
  EXPECT_EQ(code(kKey, {}), stale);
  EXPECT_EQ(code(kKey, {{"b.tar", 2048, "etag"}}), stale);
  EXPECT_EQ(code(kKey, {{"a.tar", 2047, "etag"}}), stale);
  EXPECT_EQ(code(kKey, {{"a.tar", 2048, "another"}}), stale);
}

TEST(IndexFileTest, DamageIsFound) {
  const std::string bytes = SerializeIndex(kKey, Example());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 1;
    EXPECT_TRUE(absl::IsDataLoss(ParseIndex(damaged, kKey, Objects(Example())).status())) << i;
    EXPECT_TRUE(absl::IsDataLoss(ParseIndex(bytes.substr(0, i), kKey, Objects(Example())).status())) << i;
  }
}

TEST(IndexFileTest, AFileOfOthersIsNotTrusted) {
  TemporaryFolder folder;
  const std::string path = folder.path("cache/x.index");
  EXPECT_TRUE(absl::IsNotFound(LoadIndex(path, kKey, {}).status()));
  ASSERT_TRUE(StoreIndex(path, kKey, Example()).ok());
  EXPECT_TRUE(LoadIndex(path, kKey, Objects(Example())).ok());
  chmod(path.c_str(), 0666);
  EXPECT_TRUE(absl::IsPermissionDenied(LoadIndex(path, kKey, Objects(Example())).status()));
}

TEST(IndexFileTest, WhereItCannotBeKeptItsPathIsNamed) {
  TemporaryFolder folder;
  folder.Write("file", "");
  const absl::Status stored = StoreIndex(folder.path("file/x.index"), kKey, Example());
  EXPECT_THAT(stored.message(), HasSubstr("file/x.index"));
}

TEST(IndexFileTest, EachSourceHasAPathOfItsOwn) {
  const auto objects = Objects(Example());
  const std::string path = IndexPath("/cache", kKey, objects);
  EXPECT_THAT(path, testing::MatchesRegex("/cache/shards-[0-9a-f]{32}\\.index"));
  EXPECT_NE(IndexPath("/cache", {"elsewhere", kKey.format}, objects), path);
  EXPECT_NE(IndexPath("/cache", {kKey.store, "tar.v2"}, objects), path);
  EXPECT_NE(IndexPath("/cache", kKey, {}), path);
}

}  // namespace
}  // namespace stoker
