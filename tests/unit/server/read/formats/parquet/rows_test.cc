#include "server/read/formats/parquet/program/rows.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;

// Adds one byte for each repetition level; −1 stands for a missing value at level 0.
void AddAll(RowGatherer& rows, const std::vector<int>& repetitions) {
  for (const int repetition : repetitions) {
    if (repetition < 0) {
      rows.AddMissing(0);
    } else {
      rows.Add(static_cast<int16_t>(repetition), "x", 1);
    }
  }
  rows.Finish();
}

TEST(RowGathererTest, ScalarsAreRows) {
  RowGatherer rows(0, {}, 10, 100);
  AddAll(rows, {0, -1, 0});
  EXPECT_THAT(rows.sizes(), ElementsAre(1, kNullRow, 1));
  EXPECT_EQ(rows.bytes(), "xx");
}

TEST(RowGathererTest, TheFirstListsShapeHolds) {
  RowGatherer rows(1, {}, 10, 100);
  AddAll(rows, {-1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1});
  EXPECT_THAT(rows.shape(), testing::Optional(ElementsAre(2)));
  EXPECT_THAT(rows.sizes(), ElementsAre(kNullRow, 2, 2, kOtherShapeRow, kOtherShapeRow, 2));
  EXPECT_EQ(rows.bytes().size(), 6);
}

TEST(RowGathererTest, ListsOfListsHaveOneShape) {
  RowGatherer rows(2, {}, 10, 100);
  AddAll(rows, {0, 2, 2, 1, 2, 2, /**/ 0, 2, 1, 2, 1, 2, /**/ 0, 2, 2, 1, 2, 2});
  EXPECT_THAT(rows.shape(), testing::Optional(ElementsAre(2, 3)));
  EXPECT_THAT(rows.sizes(), ElementsAre(6, kOtherShapeRow, 6));

  RowGatherer deep(3, {}, 10, 100);
  AddAll(deep, {0, 3, 2, 3, 1, 3, 2, 3, /**/ 0, 3, 2, 3, 2, 3, 2, 3});
  EXPECT_THAT(deep.shape(), testing::Optional(ElementsAre(2, 2, 2)));
  EXPECT_THAT(deep.sizes(), ElementsAre(8, kOtherShapeRow));
}

TEST(RowGathererTest, AnIrregularRowShowsNoShape) {
  RowGatherer rows(2, {}, 10, 100);
  AddAll(rows, {0, 2, 1, /**/ 0, 1});
  EXPECT_THAT(rows.shape(), testing::Optional(ElementsAre(2, 1)));
  EXPECT_THAT(rows.sizes(), ElementsAre(kOtherShapeRow, 2));
}

TEST(RowGathererTest, AnAskedShapeHoldsFromTheFirst) {
  RowGatherer rows(1, {.has_shape = true, .shape = {3}}, 10, 100);
  AddAll(rows, {0, 1, 0, 1, 1});
  EXPECT_THAT(rows.sizes(), ElementsAre(kOtherShapeRow, 3));
  EXPECT_THROW(RowGatherer(1, {.has_shape = true, .shape = {3, 1}}, 10, 100), std::runtime_error);
  EXPECT_THROW(RowGatherer(1, {.has_shape = true, .shape = {0}}, 10, 100), std::runtime_error);
}

TEST(RowGathererTest, ANullInAListIsANullRow) {
  RowGatherer rows(1, {}, 10, 100);
  rows.Add(0, "a", 1);
  rows.AddMissing(1);
  rows.Add(1, "b", 1);
  rows.Add(0, "c", 1);
  rows.Finish();
  EXPECT_THAT(rows.sizes(), ElementsAre(kNullRow, 1));
  EXPECT_EQ(rows.bytes(), "c");
}

TEST(RowGathererTest, MoreThanIsAllowedIsAnError) {
  RowGatherer two(0, {}, 2, 100);
  EXPECT_THROW(AddAll(two, {0, 0, 0}), std::runtime_error);
  RowGatherer bytes(0, {}, 10, 2);
  EXPECT_THROW(AddAll(bytes, {0, 0, 0}), std::runtime_error);
}

TEST(RowGathererTest, ListsMayHaveAnyLength) {
  RowGatherer rows(1, {.has_any_length = true}, 10, 100);
  AddAll(rows, {0, 1, 1, 0});
  rows.AddEmpty();
  AddAll(rows, {-1, 0, 1});
  EXPECT_THAT(rows.sizes(), ElementsAre(3, 1, 0, kNullRow, 2));
  EXPECT_EQ(rows.bytes().size(), 6);
  RowGatherer fixed(1, {}, 10, 100);
  fixed.AddEmpty();
  AddAll(fixed, {0, 1});
  EXPECT_THAT(fixed.sizes(), ElementsAre(kNullRow, 2)) << "where they may not, an empty one is none";
}

TEST(RowGathererTest, ElementsOfAnyNumberHaveOneShape) {
  RowGatherer rows(2, {.shape = {2}, .has_any_length = true}, 10, 100);
  rows.AddEmpty();
  AddAll(rows, {/**/ 0, 2, /**/ 0, 2, 1, 2, /**/ 0, 2, 2, /**/ 0, 2, 1, /**/ 0, 1, /**/ 0, 2, 1, 2, 1, 2});
  EXPECT_THAT(rows.sizes(), ElementsAre(0, 2, 4, kOtherShapeRow, kOtherShapeRow, kOtherShapeRow, 6));
  RowGatherer deep(3, {.shape = {1, 2}, .has_any_length = true}, 10, 100);
  AddAll(deep, {0, 3, 1, 3, /**/ 0, 3, 2, 3});
  EXPECT_THAT(deep.sizes(), ElementsAre(4, kOtherShapeRow));
  EXPECT_THROW(RowGatherer(0, {.has_any_length = true}, 10, 100), std::runtime_error);
  EXPECT_THROW(RowGatherer(3, {.shape = {2}, .has_any_length = true}, 10, 100), std::runtime_error);
  EXPECT_THROW(RowGatherer(2, {.shape = {0}, .has_any_length = true}, 10, 100), std::runtime_error);
}

}  // namespace
}  // namespace stoker
