// RandAugment and TrivialAugmentWide: figures of torchvision 0.14's _augmentation_space.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

using Kind = ColorParameters::Kind;

constexpr ImageSize kPhotograph = {480, 640};

// What was drawn, the magnitude apart, and its sign.
struct Outcome {
  std::string name;
  double magnitude = 0;
};

Outcome NameOf(const ColorParameters& color) {
  switch (color.kind) {
    case Kind::kBrightness: return {"Brightness", color.value - 1};
    case Kind::kSaturation: return {"Color", color.value - 1};
    case Kind::kContrast: return {"Contrast", color.value - 1};
    case Kind::kPosterize: return {"Posterize", color.value};
    case Kind::kSolarize: return {"Solarize", color.value};
    case Kind::kAutocontrast: return {"AutoContrast"};
    case Kind::kEqualize: return {"Equalize"};
    case Kind::kInvert: return {"Invert"};
    default: return {"?"};
  }
}

Outcome NameOf(const AffineParameters& warp) {
  const auto& m = warp.matrix;
  if (m[3] == 0 && m[2] == 0 && m[5] == 0) return {"ShearX", m[1]};
  if (m[1] == 0 && m[2] == 0 && m[5] == 0) return {"ShearY", m[3]};
  return {"Rotate", std::atan2(m[3], m[0]) * 180 / M_PI};
}

Outcome NameOf(const OpParameters& drawn) {
  if (const auto* color = std::get_if<ColorParameters>(&drawn)) return NameOf(*color);
  if (const auto* warp = std::get_if<AffineParameters>(&drawn)) return NameOf(*warp);
  if (const auto* sharpness = std::get_if<SharpnessParameters>(&drawn)) return {"Sharpness", sharpness->factor - 1};
  const auto& crop = std::get<CropParameters>(drawn);
  return crop.top == 0 ? Outcome{"TranslateX", static_cast<double>(-crop.left)}
                       : Outcome{"TranslateY", static_cast<double>(-crop.top)};
}

const std::set<std::string> kUnsigned = {"Identity", "Posterize", "Solarize", "AutoContrast", "Equalize", "Invert"};

TEST(PoliciesTest, RandAugmentDrawsFourteenOpsEquallyOftenAndSignsBothWays) {
  constexpr int kSamples = 14'000;
  std::map<std::string, int> counts, negative;
  for (int position = 0; position < kSamples; ++position) {
    const auto drawn = Drawn("rand_augment { num_ops: 1 }", kPhotograph, position);
    const Outcome outcome = drawn.empty() ? Outcome{"Identity"} : NameOf(drawn[0]);
    ++counts[outcome.name];
    negative[outcome.name] += outcome.magnitude < 0;
  }
  ASSERT_EQ(counts.size(), 14);
  for (const auto& [name, count] : counts) {
    EXPECT_NEAR(count, 1000, 153) << name;  // Five standard deviations.
    EXPECT_NEAR(negative[name], kUnsigned.contains(name) ? 0 : 500, kUnsigned.contains(name) ? 0 : 112) << name;
  }
}

TEST(PoliciesTest, RandAugmentsMagnitudes) {
  const std::map<std::string, double> expected = {
      {"ShearX", 0.09},    {"ShearY", 0.09},     {"TranslateX", 87}, {"TranslateY", 65},
      {"Rotate", 9},       {"Brightness", 0.27}, {"Color", 0.27},    {"Contrast", 0.27},
      {"Sharpness", 0.27}, {"Posterize", 7},     {"Solarize", 179},  // The first one not below 178.5.
      {"AutoContrast", 0}, {"Equalize", 0}};
  std::set<std::string> seen;
  for (int position = 0; position < 500; ++position)
    for (const OpParameters& drawn :
         Drawn("rand_augment { fill: 3 interpolation: INTERPOLATION_BILINEAR }", kPhotograph, position)) {
      const Outcome outcome = NameOf(drawn);
      seen.insert(outcome.name);
      ASSERT_TRUE(expected.contains(outcome.name));
      EXPECT_NEAR(std::abs(outcome.magnitude), expected.at(outcome.name), 1e-9) << outcome.name;
      if (const auto* warp = std::get_if<AffineParameters>(&drawn)) {
        EXPECT_EQ(warp->fill, (Color{3, 3, 3}));
        EXPECT_EQ(warp->interpolation, v1::INTERPOLATION_BILINEAR);
      }
    }
  EXPECT_EQ(seen.size(), expected.size());
}

TEST(PoliciesTest, RandAugmentDrawsEachOfItsOpsAlone) {
  for (uint64_t position = 0; position < 200; ++position) {
    const auto one = Drawn("rand_augment { num_ops: 1 }", kPhotograph, position);
    const auto three = Drawn("rand_augment { num_ops: 3 }", kPhotograph, position);
    ASSERT_LE(one.size(), three.size());
    EXPECT_TRUE(std::equal(one.begin(), one.end(), three.begin()));
  }
  EXPECT_THAT(Drawn("rand_augment { num_ops: 0 }", kPhotograph), testing::IsEmpty());
}

TEST(PoliciesTest, RandAugmentDrawsEachOpsSignAnew) {
  int pairs = 0, equal = 0;
  for (int position = 0; position < 4000; ++position) {
    const auto drawn = Drawn("rand_augment {}", kPhotograph, position);
    if (drawn.size() != 2) continue;
    const Outcome first = NameOf(drawn[0]), second = NameOf(drawn[1]);
    if (kUnsigned.contains(first.name) || kUnsigned.contains(second.name)) continue;
    ++pairs;
    equal += (first.magnitude < 0) == (second.magnitude < 0);
  }
  ASSERT_GT(pairs, 1500);  // (9 / 14)² of them
  EXPECT_NEAR(equal, pairs / 2.0, 5 * std::sqrt(pairs / 4.0));
}

TEST(PoliciesTest, TrivialAugmentSpreadsOverTheWideSpace) {
  const std::map<std::string, std::pair<double, double>> bounds = {
      {"ShearX", {-0.99, 0.99}}, {"ShearY", {-0.99, 0.99}},   {"TranslateX", {-32, 32}},
      {"TranslateY", {-32, 32}}, {"Rotate", {-135, 135}},     {"Brightness", {-0.99, 0.99}},
      {"Color", {-0.99, 0.99}},  {"Contrast", {-0.99, 0.99}}, {"Sharpness", {-0.99, 0.99}},
      {"Posterize", {2, 7}},     {"Solarize", {0, 255}},      {"AutoContrast", {0, 0}},
      {"Equalize", {0, 0}}};
  std::map<std::string, std::set<double>> magnitudes;
  for (int position = 0; position < 14'000; ++position) {
    const auto drawn = Drawn("trivial_augment_wide {}", kPhotograph, position);
    ASSERT_LE(drawn.size(), 1);
    if (!drawn.empty()) magnitudes[NameOf(drawn[0]).name].insert(NameOf(drawn[0]).magnitude);
  }
  ASSERT_EQ(magnitudes.size(), bounds.size());
  for (const auto& [name, seen] : magnitudes) {
    EXPECT_NEAR(*seen.begin(), bounds.at(name).first, 1e-9) << name;
    EXPECT_NEAR(*seen.rbegin(), bounds.at(name).second, 1e-9) << name;
  }
  EXPECT_EQ(magnitudes["Solarize"].size(), 31);
  EXPECT_EQ(magnitudes["Posterize"], (std::set<double>{2, 3, 4, 5, 6, 7}));  // 8 changes nothing.
  EXPECT_EQ(magnitudes["TranslateX"].size(), 60);  // 30 bins of either sign; the first changes nothing.
  EXPECT_GE(magnitudes["Brightness"].size(), 60);
}

// An op's share: the sum of its probabilities in the 25 pairs of torchvision 0.29's tables, and its magnitudes there on
// an image of 640×480. What changes nothing is left out.
struct Share {
  double sum;
  std::set<double> magnitudes;
};

TEST(PoliciesTest, AutoAugmentDrawsTorchvisionsPairsAndMagnitudes) {
  const std::map<std::string, std::map<std::string, Share>> policies = {
      {"AUTO_AUGMENT_POLICY_IMAGENET",
       {{"AutoContrast", {1.2, {0}}},
        {"Color", {3, {0.2, 0.4, 0.8}}},
        {"Contrast", {2, {0.8}}},
        {"Equalize", {11.2, {0}}},
        {"Invert", {1.8, {0}}},
        {"Posterize", {2.8, {4, 5, 6}}},
        {"Rotate", {3.6, {10, 26.6667, 30}}},
        {"Sharpness", {0.4, {0.7}}},
        {"ShearX", {0.6, {0.1667}}},
        {"Solarize", {3.6, {29, 57, 114, 142, 170}}}}},
      {"AUTO_AUGMENT_POLICY_CIFAR10",
       {{"AutoContrast", {5, {0}}},
        {"Brightness", {2.3, {0.3, 0.6, 0.7, 0.9}}},
        {"Color", {2.2, {0.3, 0.7, 0.8, 0.9}}},
        {"Contrast", {0.8, {0.6, 0.7}}},
        {"Equalize", {4.7, {0}}},
        {"Invert", {0.2, {0}}},
        {"Posterize", {0.3, {5}}},
        {"Rotate", {0.7, {6.6667}}},
        {"Sharpness", {2.8, {0.1, 0.3, 0.5, 0.6, 0.9}}},
        {"ShearY", {0.7, {0.2333, 0.2667}}},
        {"Solarize", {1.9, {29, 114, 170, 199}}},
        {"TranslateX", {0.8, {257, 290}}},
        {"TranslateY", {3.4, {72, 217}}}}},
      {"AUTO_AUGMENT_POLICY_SVHN",
       {{"AutoContrast", {2.3, {0}}},
        {"Contrast", {0.3, {0.3}}},
        {"Equalize", {3.9, {0}}},
        {"Invert", {7.6, {0}}},
        {"Rotate", {3.4, {10, 13.3333}}},
        {"ShearX", {4.2, {0.0667, 0.1333, 0.2, 0.3}}},
        {"ShearY", {6.1, {0.1333, 0.1667, 0.2, 0.2333, 0.2667}}},
        {"Solarize", {2.2, {29, 85, 170, 199}}},
        {"TranslateX", {0.9, {96}}},
        {"TranslateY", {2, {72, 145, 169}}}}},
  };
  constexpr int kSamples = 25'000;
  for (const auto& [policy, shares] : policies) {
    std::map<std::string, int> counts, negative;
    for (int position = 0; position < kSamples; ++position)
      for (const OpParameters& drawn : Drawn("auto_augment { policy: " + policy + " }", kPhotograph, position)) {
        const Outcome outcome = NameOf(drawn);
        ++counts[outcome.name];
        negative[outcome.name] += outcome.magnitude < 0;
        ASSERT_TRUE(shares.contains(outcome.name)) << outcome.name;
        const std::set<double>& magnitudes = shares.at(outcome.name).magnitudes;
        EXPECT_TRUE(
            std::any_of(magnitudes.begin(), magnitudes.end(),
                        [&](double magnitude) { return std::abs(magnitude - std::abs(outcome.magnitude)) < 1e-3; }))
            << policy << ": " << outcome.name << " of " << outcome.magnitude;
      }
    ASSERT_EQ(counts.size(), shares.size()) << policy;
    for (const auto& [name, count] : counts) {
      const double expected = shares.at(name).sum * kSamples / 25;
      EXPECT_NEAR(count, expected, 6 * std::sqrt(expected)) << policy << ": " << name;
      const double half = kUnsigned.contains(name) ? 0 : count / 2.0;
      EXPECT_NEAR(negative[name], half, 5 * std::sqrt(half / 2)) << policy << ": " << name;
    }
  }
}

TEST(PoliciesTest, ShearsAreAboutTheCorner) {
  for (int position = 0; position < 500; ++position)
    for (const OpParameters& drawn : Drawn("rand_augment {}", kPhotograph, position)) {
      const auto* warp = std::get_if<AffineParameters>(&drawn);
      if (warp == nullptr || warp->matrix[0] != 1) continue;
      EXPECT_EQ(warp->matrix[2], 0);
      EXPECT_EQ(warp->matrix[5], 0);
      EXPECT_EQ(warp->matrix[4], 1);
      EXPECT_NEAR(std::abs(warp->matrix[1] + warp->matrix[3]), 0.09, 1e-12);
    }
}

}  // namespace
}  // namespace stoker
