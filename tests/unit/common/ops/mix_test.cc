#include "common/ops/mix.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/ops/ops.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

// Mean 1/2 and variance 1 / (4 · (2α + 1)); of n draws the mean's deviation is √(variance / n), the variance's below
// 2 · variance / √n. Four of them; the seed is fixed.
TEST(BatchOpsTest, LambdaHasBetasMoments) {
  constexpr int kDraws = 20000;
  for (double alpha : {0.001, 0.1, 0.4, 1.0, 2.5, 100.0, 1000.0}) {
    double sum = 0, squares = 0;
    for (uint64_t position = 0; position < kDraws; ++position) {
      Draws draws({.seed = 5, .position = position});
      const double lambda = DrawBeta(alpha, draws);
      ASSERT_TRUE(lambda >= 0 && lambda <= 1) << alpha;
      sum += lambda;
      squares += (lambda - 0.5) * (lambda - 0.5);
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    EXPECT_NEAR(sum / kDraws, 0.5, 4 * std::sqrt(variance / kDraws)) << alpha;
    EXPECT_NEAR(squares / kDraws, variance, 8 * variance / std::sqrt(kDraws)) << alpha;
  }
}

// Beta(1, 1) is uniform: as many in each tenth. 4 deviations of a binomial count.
TEST(BatchOpsTest, LambdaOfAlphaOneIsUniform) {
  constexpr int kDraws = 20000;
  std::array<int, 10> counts = {};
  for (uint64_t position = 0; position < kDraws; ++position) {
    Draws draws({.seed = 6, .position = position});
    ++counts[std::min(9, static_cast<int>(DrawBeta(1, draws) * 10))];
  }
  for (int count : counts) EXPECT_NEAR(count, kDraws * 0.1, 4 * std::sqrt(kDraws * 0.1 * 0.9));
}

TEST(BatchOpsTest, ABatchDrawsByItsKeyAlone) {
  const v1::Op op = ParseOp("cut_mix { num_classes: 5 alpha: 0.8 }");
  const auto draw = [&](const DrawKey& key) {
    const BatchDraw batch = DrawBatchOp(op, key, {32, 48});
    return std::tuple(batch.lambda, batch.top, batch.left, batch.size.height, batch.size.width);
  };
  const DrawKey key = {.seed = 1, .epoch = 2, .position = 64, .op = 3};
  EXPECT_EQ(draw(key), draw(key));
  for (const DrawKey& other : {DrawKey{.seed = 2, .epoch = 2, .position = 64, .op = 3},
                               DrawKey{.seed = 1, .epoch = 3, .position = 64, .op = 3},
                               DrawKey{.seed = 1, .epoch = 2, .position = 96, .op = 3},
                               DrawKey{.seed = 1, .epoch = 2, .position = 64, .op = 4}})
    EXPECT_NE(draw(key), draw(other));
}

TEST(BatchOpsTest, LambdaIsWhatTheRectangleLeaves) {
  const v1::Op op = ParseOp("cut_mix { num_classes: 5 }");
  for (uint64_t position = 0; position < 2000; ++position) {
    const BatchDraw draw = DrawBatchOp(op, {.seed = 3, .position = position}, {7, 90});
    ASSERT_TRUE(draw.top >= 0 && draw.left >= 0 && draw.size.height >= 0 && draw.size.width >= 0);
    ASSERT_TRUE(draw.top + draw.size.height <= 7 && draw.left + draw.size.width <= 90);
    ASSERT_EQ(draw.lambda, 1 - static_cast<double>(draw.size.height * draw.size.width) / (7 * 90));
  }
}

TEST(BatchOpsTest, LabelsAreWholeNumbersOnlyWhereClassesAreCounted) {
  const MixedLabels floats = MixedLabelsOf(ParseOp("cut_mix { field: 'soft' per_sample: true }"));
  EXPECT_EQ(floats.field, "soft");
  EXPECT_EQ(floats.classes, 0);
  EXPECT_TRUE(floats.per_sample);
  EXPECT_FALSE(MixedLabelsOf(ParseOp("mix_up { num_classes: 3 }")).per_sample);
}

TEST(BatchOpsTest, AChoiceTakesEachByItsWeight) {
  const v1::Op op = ParseOp(
      "random_choice { transforms { mix_up { num_classes: 5 } } transforms { cut_mix { num_classes: 5 } } p: 1 p: 3 }");
  EXPECT_TRUE(MayMixUp(op) && MayCutMix(op) && ActsOf(op) == Acts::kOnBatch);
  EXPECT_EQ(MixedLabelsOf(op).field, "label");
  EXPECT_EQ(MixedLabelsOf(op).classes, 5);
  int mixed = 0;
  for (uint64_t position = 0; position < 4000; ++position)
    mixed += DrawBatchOp(op, {.seed = 3, .position = position}, {8, 8}).kind == BatchDraw::Kind::kMixUp;
  EXPECT_NEAR(mixed, 1000, 4 * std::sqrt(4000 * 0.25 * 0.75));
}

}  // namespace
}  // namespace stoker
