#include "server/read/index/shard_index.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

// Two shards and an empty one between them; each sample has two parts.
ShardIndex Example() {
  ShardIndex index;
  index.parts = 2;
  ShardIndex::Rows first(2), empty(2), last(2);
  first.Add("cat/1", {512, 100}, {{0, 60}, {60, 40}});
  first.Add("cat/2", {1024, 50}, {{0, 50}, {0, 0}});
  last.Add("dog/1", {0, 10}, {{0, 5}, {5, 5}});
  index.Append({"a.tar", 2048, "v1"}, first);
  index.Append({"b.tar", 1024, "v1"}, empty);
  index.Append({"c.tar", 10, "v1"}, last);
  return index;
}

TEST(ShardIndexTest, KnowsWhereSamplesAre) {
  const ShardIndex index = Example();
  ASSERT_EQ(index.size(), 3);
  EXPECT_EQ(index.ShardOf(0), 0);
  EXPECT_EQ(index.ShardOf(1), 0);
  EXPECT_EQ(index.ShardOf(2), 2);
  EXPECT_EQ(index.NameOf(1), "cat/2");
  EXPECT_EQ(index.RangeOf(1).offset, 1024);
  EXPECT_EQ(index.RangeOf(1).size, 50);
  EXPECT_EQ(index.PartOf(0, 1).offset, 60);
  EXPECT_EQ(index.PartOf(0, 1).size, 40);
  EXPECT_TRUE(index.IsConsistent());
}

TEST(ShardIndexTest, SamplesWithoutNamesAreCounted) {
  ShardIndex index;
  for (const char* name : {"a", "b"}) {
    ShardIndex::Rows rows(0);
    rows.Add("", {0, 1}, {});
    rows.Add("", {1, 1}, {});
    index.Append({name, 2, ""}, rows);
  }
  EXPECT_EQ(index.NameOf(0), "a:0");
  EXPECT_EQ(index.NameOf(3), "b:1");
}

TEST(ShardIndexTest, TheFingerprintCoversAllButVersions) {
  const std::string before = Example().Fingerprint("format");
  EXPECT_EQ(before.size(), 32);
  EXPECT_NE(Example().Fingerprint("another"), before);
  const auto changed = [&](const std::function<void(ShardIndex&)>& change) {
    ShardIndex index = Example();
    change(index);
    return index.Fingerprint("format") != before;
  };
  EXPECT_FALSE(changed([](ShardIndex& index) { index.shards[0].object.version = "v2"; }));
  EXPECT_TRUE(changed([](ShardIndex& index) { index.shards[0].object.name = "A.tar"; }));
  EXPECT_TRUE(changed([](ShardIndex& index) { index.shards[0].object.size = 4096; }));
  EXPECT_TRUE(changed([](ShardIndex& index) { index.shards[1].end = 1; }));
  EXPECT_TRUE(changed([](ShardIndex& index) { index.offsets[0] = 0; }));
  EXPECT_TRUE(changed([](ShardIndex& index) { index.sizes[2] = 9; }));
  EXPECT_TRUE(changed([](ShardIndex& index) { index.stored_parts[1].size = 39; }));
  EXPECT_TRUE(changed([](ShardIndex& index) { index.names[0] = 'b'; }));
}

TEST(ShardIndexTest, AnIndexThatDoesNotFitItselfIsFound) {
  const auto fits = [](const std::function<void(ShardIndex&)>& change) {
    ShardIndex index = Example();
    change(index);
    return index.IsConsistent();
  };
  EXPECT_FALSE(fits([](ShardIndex& index) { index.offsets[2] = 1; }));  // Beyond the shard's end.
  EXPECT_FALSE(fits([](ShardIndex& index) { index.offsets[0] = ~uint64_t{0}; }));
  EXPECT_FALSE(fits([](ShardIndex& index) { index.stored_parts[0].size = 101; }));  // Beyond the sample's range.
  EXPECT_FALSE(fits([](ShardIndex& index) { index.stored_parts.pop_back(); }));
  EXPECT_FALSE(fits([](ShardIndex& index) { index.sizes.pop_back(); }));
  EXPECT_FALSE(fits([](ShardIndex& index) { index.name_ends[1] = 0; }));
  EXPECT_FALSE(fits([](ShardIndex& index) { index.name_ends[2] = 99; }));
  EXPECT_FALSE(fits([](ShardIndex& index) { index.shards[2].end = 4; }));
  EXPECT_FALSE(fits([](ShardIndex& index) { index.shards[1].end = 1; }));
  EXPECT_FALSE(fits([](ShardIndex& index) { index.shards[1].object.name = "a.tar"; }));
  EXPECT_FALSE(fits([](ShardIndex& index) { index.shards.clear(); }));
}

}  // namespace
}  // namespace stoker
