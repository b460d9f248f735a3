// AugMix's draws. tests/python/test_convert_exactly.py compares what comes of them with torchvision's.

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

constexpr ImageSize kMixedPhotograph = {480, 640};

MixedChainsParameters Chains(const std::string& op, uint64_t position) {
  return std::get<MixedChainsParameters>(Drawn(op, kMixedPhotograph, position).at(0));
}

TEST(AugMixTest, WeightsAreSharesOfTheWhole) {
  double own = 0, first = 0;
  constexpr int kSamples = 4000;
  for (int position = 0; position < kSamples; ++position) {
    const MixedChainsParameters mixed = Chains("aug_mix {}", position);
    ASSERT_EQ(mixed.weights.size(), 4);
    ASSERT_EQ(mixed.chains.size(), 3);
    for (const int32_t weight : mixed.weights) EXPECT_GE(weight, 0);
    EXPECT_EQ(std::accumulate(mixed.weights.begin(), mixed.weights.end(), 0), kMixedWhole);
    own += static_cast<double>(mixed.weights[0]) / kMixedWhole / kSamples;
    first += static_cast<double>(mixed.weights[1]) / kMixedWhole / kSamples;
  }
  EXPECT_NEAR(own, 0.5, 0.023);  // Five standard errors of U[0, 1].
  EXPECT_NEAR(first, 1.0 / 6, 0.012);
}

TEST(AugMixTest, ALargeAlphaMixesEvenly) {
  const MixedChainsParameters mixed = Chains("aug_mix { alpha: 1000 mixture_width: 2 }", 3);
  EXPECT_NEAR(mixed.weights[0], kMixedWhole / 2, 1200);
  EXPECT_NEAR(mixed.weights[1], kMixedWhole / 4, 1200);
}

TEST(AugMixTest, ChainsHaveOneToThreeOps) {
  std::map<size_t, int> lengths;
  std::set<size_t> kinds;
  for (int position = 0; position < 1000; ++position)
    for (const auto& chain : Chains("aug_mix { severity: 10 }", position).chains) {
      ++lengths[chain.size()];
      for (const auto& change : chain) kinds.insert(change.index());
    }
  EXPECT_EQ(lengths.rbegin()->first, 3);
  EXPECT_GT(lengths[3], 600);
  EXPECT_LT(lengths[3], 1000);  // A third of 3000, less those in which an op changes nothing.
  EXPECT_EQ(kinds.size(), 4);
}

TEST(AugMixTest, ADepthThatIsGivenIsKept) {
  size_t most = 0;
  for (int position = 0; position < 200; ++position)
    for (const auto& chain : Chains("aug_mix { chain_depth: 5 severity: 10 }", position).chains)
      most = std::max(most, chain.size());
  EXPECT_EQ(most, 5);
}

TEST(AugMixTest, FewerOpsLeaveColorsAlone) {
  std::set<ColorParameters::Kind> all, fewer;
  const auto collect = [](const std::string& op, std::set<ColorParameters::Kind>& kinds) {
    for (int position = 0; position < 500; ++position)
      for (const auto& chain : Chains(op, position).chains)
        for (const auto& change : chain) {
          if (const auto* color = std::get_if<ColorParameters>(&change)) kinds.insert(color->kind);
          EXPECT_TRUE(op == "aug_mix {}" || !std::holds_alternative<SharpnessParameters>(change));
        }
  };
  using Kind = ColorParameters::Kind;
  collect("aug_mix {}", all);
  collect("aug_mix { all_ops: false }", fewer);
  EXPECT_EQ(fewer, (std::set<Kind>{Kind::kPosterize, Kind::kSolarize, Kind::kAutocontrast, Kind::kEqualize}));
  EXPECT_EQ(all.size(), fewer.size() + 3);
}

// torchvision's magnitudes of severity 1, the first bin: four bits, and none that moves.
TEST(AugMixTest, TheLeastSeverityPosterizesToFourBits) {
  std::set<double> bits;
  for (int position = 0; position < 500; ++position)
    for (const auto& chain : Chains("aug_mix { severity: 1 }", position).chains)
      for (const auto& change : chain) {
        EXPECT_FALSE(std::holds_alternative<AffineParameters>(change));
        const auto* color = std::get_if<ColorParameters>(&change);
        if (color != nullptr && color->kind == ColorParameters::Kind::kPosterize) bits.insert(color->value);
      }
  EXPECT_THAT(bits, testing::ElementsAre(4));
}

TEST(AugMixTest, ChainsDrawAlone) {
  for (uint64_t position = 0; position < 50; ++position)
    EXPECT_EQ(Chains("aug_mix { mixture_width: 2 }", position).chains[1],
              Chains("aug_mix { mixture_width: 5 }", position).chains[1]);
}

}  // namespace
}  // namespace stoker
