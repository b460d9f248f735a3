#include "server/scan/duplicates.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/scan/listed_samples.h"

namespace stoker {
namespace {

using testing::IsEmpty;

TEST(DuplicatesTest, EachNamesTheFirstOfItsKind) {
  const ListedSamples dataset(std::vector<std::vector<uint8_t>>(6));
  const SampleDigest a = {1, 2}, b = {1, 3}, none = {};
  std::vector<Finding> found = FindDuplicates({b, a, none, a, none, a}, dataset);
  SortFindings(found);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(
      found[0],
      (Finding{.id = 3, .kind = FindingKind::kDuplicate, .message = "has the same bytes as s/1 (id 1)", .other = 1}));
  EXPECT_EQ(found[1].id, 5);
  EXPECT_EQ(found[1].other, 1);
}

TEST(DuplicatesTest, SayWhereTheLabelIsAnother) {
  ListedSamples dataset(std::vector<std::vector<uint8_t>>(4));
  dataset.labels_by = 2;
  std::vector<Finding> found = FindDuplicates({{1, 1}, {1, 1}, {1, 1}, {2, 2}}, dataset);
  SortFindings(found);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].message, "has the same bytes as s/0 (id 0)");
  EXPECT_EQ(found[1].message, "has the same bytes as s/0 (id 0), and another label");
}

TEST(DuplicatesTest, ThereAreNoneOfNothing) { EXPECT_THAT(FindDuplicates({}, ListedSamples({})), IsEmpty()); }

TEST(DuplicatesTest, DigestsAreOfImagesWhereThereAreAny) {
  const SourceSchema with_image = {{.name = "image", .kind = SourceField::Kind::kEncodedImage},
                                   {.name = "label", .dtype = v1::DTYPE_INT64}};
  const SourceSchema without = {{.name = "a"}, {.name = "b"}};
  const SampleBytes one = {.fields = {{1, 2}, {3}}}, other = {.fields = {{1, 2}, {4}}}, cut = {.fields = {{1}, {2, 3}}};
  EXPECT_EQ(DigestOf(with_image, one), DigestOf(with_image, other));
  EXPECT_NE(DigestOf(without, one), DigestOf(without, other));
  EXPECT_NE(DigestOf(without, one), DigestOf(without, cut));
}

}  // namespace
}  // namespace stoker
