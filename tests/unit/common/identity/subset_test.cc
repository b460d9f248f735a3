#include "common/identity/subset.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();

v1::Subset Parsed(const std::string& split) {
  v1::Subset subset;
  const absl::Status status = ParseSplit(split, subset);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(ValidateSubset(subset).ok());
  return subset;
}

std::string ErrorOf(const std::string& split) {
  v1::Subset subset;
  return std::string(ParseSplit(split, subset).message());
}

bool Has(const v1::Subset& subset, uint64_t hash) {
  for (const v1::HashRange& range : subset.name_hashes())
    if (range.first() <= hash && hash <= range.last()) return true;
  return false;
}

TEST(SplitTest, APercentageIsARangeOfHashes) {
  const v1::Subset half = Parsed("[:50%]");
  ASSERT_EQ(half.name_hashes_size(), 1);
  EXPECT_EQ(half.name_hashes(0).first(), 0);
  EXPECT_EQ(half.name_hashes(0).last(), (uint64_t{1} << 63) - 1);
  const v1::Subset rest = Parsed("[50%:]");
  EXPECT_EQ(rest.name_hashes(0).first(), uint64_t{1} << 63);
  EXPECT_EQ(rest.name_hashes(0).last(), kLast);
}

TEST(SplitTest, EqualPartsByOtherWordsAreTheSameSamples) {
  EXPECT_EQ(Parsed("[:1/2]").SerializeAsString(), Parsed("[:50%]").SerializeAsString());
  EXPECT_EQ(Parsed("[ 12.5% : 25% ]").SerializeAsString(), Parsed("[1/8:2/8]").SerializeAsString());
  EXPECT_EQ(Parsed("[0%:100%]").SerializeAsString(), Parsed("[0/7:7/7]").SerializeAsString());
}

RC_GTEST_PROP(SplitTest, PartsThatMeetShareNoHashAndLeaveNoneOut, ()) {
  const uint64_t parts = *rc::gen::inRange<uint64_t>(2, 1000);
  const std::string cut = std::to_string(*rc::gen::inRange<uint64_t>(1, parts)) + "/" + std::to_string(parts);
  const v1::Subset below = Parsed("[:" + cut + "]"), above = Parsed("[" + cut + ":]");
  RC_ASSERT(below.name_hashes(0).last() + 1 == above.name_hashes(0).first());
  const v1::Subset both = Parsed("[" + cut + ":]+[:" + cut + "]");
  const auto hash = *rc::gen::arbitrary<uint64_t>();
  RC_ASSERT(Has(both, hash) && Has(below, hash) != Has(above, hash));
}

TEST(SplitTest, NumbersAreRangesOfIds) {
  const v1::Subset subset = Parsed("[:100] + [-5:] + [200:-10]");
  ASSERT_EQ(subset.ids_size(), 3);
  EXPECT_EQ(subset.ids(0).begin(), 0);
  EXPECT_EQ(subset.ids(0).end(), 100);
  EXPECT_EQ(subset.ids(1).begin(), -5);
  EXPECT_FALSE(subset.ids(1).has_end());
  EXPECT_EQ(subset.ids(2).end(), -10);
}

TEST(SplitTest, WhatCannotBeUnderstoodIsSaid) {
  for (const char* split : {"", "90%", "[90%]", "[:90%", "[:x]", "[:1/0]", "[:%]", "[:-5%]", "[:1.%]", "[1:2:3]", "[]",
                            "[:5]+", "[:1/2000000000]", "[:99999999999999999999]"})
    EXPECT_THAT(ErrorOf(split), HasSubstr("write \"[:90%]\"")) << split;
  EXPECT_THAT(ErrorOf("[:101%]"), HasSubstr("that is no number, percentage or fraction"));
  EXPECT_THAT(ErrorOf("[:3/2]"), HasSubstr("past the whole"));
  EXPECT_THAT(ErrorOf("[90%:10%]"), HasSubstr("a part is empty"));
  EXPECT_THAT(ErrorOf("[100%:]"), HasSubstr("a part is empty"));
  EXPECT_THAT(ErrorOf("[10:90%]"), HasSubstr("cannot be mixed"));
  EXPECT_THAT(ErrorOf("[:10]+[90%:]"), HasSubstr("cannot be mixed"));
}

TEST(IdsTest, NeighboursBecomeRanges) {
  v1::Subset subset;
  ASSERT_TRUE(AddIds({7, 3, 4, 5}, subset).ok());
  ASSERT_EQ(subset.ids_size(), 2);
  EXPECT_EQ(subset.ids(0).begin(), 3);
  EXPECT_EQ(subset.ids(0).end(), 6);
  EXPECT_EQ(subset.ids(1).begin(), 7);
  EXPECT_EQ(subset.ids(1).end(), 8);
}

TEST(IdsTest, NoIdIsThereTwiceAndNoneIsTooLarge) {
  v1::Subset subset;
  EXPECT_THAT(AddIds({3, 1, 3}, subset).message(), HasSubstr("3 is there twice"));
  EXPECT_THAT(AddIds({uint64_t{1} << 63}, subset).message(), HasSubstr("no sample's id"));
  ASSERT_TRUE(ParseSplit("[:10]", subset).ok());
  EXPECT_THAT(AddIds({3}, subset).message(), HasSubstr("the split names ids already"));
}

TEST(SubsetTest, BoundsAreHeld) {
  v1::Subset subset;
  for (uint64_t id = 0; id < 4097; ++id) subset.add_ids()->set_begin(static_cast<int64_t>(id));
  EXPECT_THAT(ValidateSubset(subset).message(), HasSubstr("4097 ranges of ids are more than 4096"));
  subset.clear_ids();
  subset.set_split_seed(1);
  EXPECT_THAT(ValidateSubset(subset).message(), HasSubstr("split_seed means nothing"));
  subset.add_name_hashes()->set_first(1);
  EXPECT_THAT(ValidateSubset(subset).message(), HasSubstr("ends before it begins"));
  for (int range = 0; range < 256; ++range) subset.add_name_hashes();
  EXPECT_THAT(ValidateSubset(subset).message(), HasSubstr("257 ranges"));
}

// Other languages' clients cut as this one does, so the hash is a standard one: these are of the `xxhash` package.
TEST(HashOfNameTest, IsXxh3WithTheSeed) {
  EXPECT_EQ(HashOfName("", 0), 0x2d06800538d394c2);
  EXPECT_NE(HashOfName("cat/1.jpg", 0), HashOfName("cat/1.jpg", 1));
}

}  // namespace
}  // namespace stoker
