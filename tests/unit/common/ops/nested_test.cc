#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr ImageSize kSmall = {32, 32};

std::string Nest(const std::string& op, int depth) {
  return depth == 0 ? op : "random_apply { p: 1 transforms { " + Nest(op, depth - 1) + " } }";
}

std::string Errors(const std::string& op) { return std::string(ValidateOp(ParseOp(op)).message()); }

TEST(NestedOpsTest, ErrorsSayWhereTheOpStands) {
  EXPECT_EQ(Errors("random_apply { transforms { random_invert {} } transforms { color_jitter { hue: 2 } } }"),
            "RandomApply.transforms[1]: ColorJitter.hue: 2 is not between 0 and 0.5");
  EXPECT_EQ(Errors("random_choice { transforms { random_apply { transforms {} } } }"),
            "RandomChoice.transforms[0]: RandomApply.transforms[0]: no op, or one that this build does not know");
  EXPECT_EQ(Refusal(Nest("random_crop { size: 99 }", 2), kSmall),
            "RandomApply.transforms[0]: RandomApply.transforms[0]: RandomCrop.size: an image of 32×32, with padding "
            "32×32, is smaller than the crop of 99×99; set pad_if_needed, or Resize first");
}

TEST(NestedOpsTest, OpsInsideHaveNoPlacementOfTheirOwn) {
  EXPECT_EQ(Errors("random_apply { transforms { placement: PLACEMENT_DEVICE random_vertical_flip {} } }"),
            "RandomApply.transforms[0]: RandomVerticalFlip.placement: it runs where the op does that it stands "
            "in; leave it out");
  EXPECT_EQ(Errors("random_apply { transforms { to_dtype { dtype: DTYPE_FLOAT32 } } }"),
            "RandomApply.transforms[0]: ToDtype: stands in no other op");
}

TEST(NestedOpsTest, DepthAndNumberAreBounded) {
  EXPECT_EQ(Errors(Nest("random_invert {}", 4)), "");
  EXPECT_EQ(Errors(Nest("random_invert {}", 5)), "RandomApply.transforms: ops stand 5 deep, at most 4");
  EXPECT_THAT(Errors(Nest("random_invert {}", 40)), HasSubstr("40 deep"));
  std::string many;
  for (int i = 0; i < 32; ++i) many += "transforms { random_choice { transforms { random_invert {} } } } ";
  EXPECT_EQ(Errors("random_apply { " + many + " }"), "");
  EXPECT_EQ(Errors("random_apply { " + many + " transforms { random_invert {} } }"),
            "RandomApply.transforms: 65 ops in all, at most 64");
}

TEST(NestedOpsTest, ApplyAppliesAllOrNone) {
  const v1::Op op = ParseOp(
      "random_apply { p: 0.8 transforms { random_invert { p: 1 } } transforms { adjust_hue { hue_factor: 0.1 } } }");
  constexpr int kSamples = 4000;
  int applied = 0;
  for (int position = 0; position < kSamples; ++position) {
    const auto drawn = Drawn(op, kSmall, position);
    ASSERT_TRUE(drawn.empty() || drawn.size() == 2);
    applied += !drawn.empty();
  }
  EXPECT_NEAR(applied, 3200, 127);  // Five standard deviations.
}

TEST(NestedOpsTest, ChoiceFollowsItsWeights) {
  const v1::Op op = ParseOp(
      "random_choice { transforms { adjust_hue { hue_factor: 0.1 } } transforms { adjust_hue { hue_factor: 0.2 } } "
      "transforms { adjust_hue { hue_factor: 0.3 } } p: [1, 0, 3] }");
  std::map<double, int> counts;
  for (uint64_t position = 0; position < 4000; ++position)
    ++counts[std::get<ColorParameters>(Drawn(op, kSmall, position).at(0)).value];
  EXPECT_NEAR(counts[0.1], 1000, 137);  // Five standard deviations.
  EXPECT_EQ(counts[0.2], 0);
  EXPECT_EQ(counts[0.1] + counts[0.3], 4000);
}

TEST(NestedOpsTest, EqualWeightsAreTheDefault) {
  const v1::Op op = ParseOp(
      "random_choice { transforms { adjust_hue { hue_factor: 0.1 } } transforms { adjust_hue { hue_factor: 0.2 } } "
      "transforms { adjust_hue { hue_factor: 0.3 } } }");
  std::map<double, int> counts;
  for (uint64_t position = 0; position < 3000; ++position)
    ++counts[std::get<ColorParameters>(Drawn(op, kSmall, position).at(0)).value];
  for (const auto& [hue, count] : counts) EXPECT_NEAR(count, 1000, 130) << hue;
  EXPECT_EQ(counts.size(), 3);
}

// What stands beside an op, before or after it, decides nothing for it.
TEST(NestedOpsTest, AnInnerOpDrawsByItsPlaceAlone) {
  const std::string jitter = "transforms { color_jitter { brightness: 0.5 hue: 0.2 } }";
  const v1::Op alone = ParseOp("random_apply { p: 1 transforms { random_invert { p: 0 } } " + jitter + " }");
  const v1::Op between = ParseOp("random_apply { p: 1 transforms { random_rotation { degrees: 30 } } " + jitter +
                                 " transforms { gaussian_blur { kernel_size: 3 } } }");
  for (uint64_t position = 0; position < 50; ++position) {
    const auto inner = Drawn(alone, kSmall, position);
    const auto outer = Drawn(between, kSmall, position);
    ASSERT_EQ(outer.size(), inner.size() + 2);
    EXPECT_TRUE(std::equal(inner.begin(), inner.end(), outer.begin() + 1));
  }
}

TEST(NestedOpsTest, EqualOpsAtTwoPlacesDrawDifferently) {
  const std::string jitter = "transforms { color_jitter { brightness: 0.5 } }";
  const auto drawn = Drawn("random_apply { p: 1 " + jitter + jitter + " }", kSmall);
  ASSERT_EQ(drawn.size(), 2);
  EXPECT_NE(drawn[0], drawn[1]);
}

TEST(NestedOpsTest, TheSizeIsKnownWhereBranchesAgree) {
  auto size = [](const std::string& op) { return OutputSize(ParseOp(op), kSmall); };
  const std::string crop = "transforms { center_crop { size: 8 } }", keep = "transforms { random_invert {} }";
  EXPECT_EQ(size("random_apply { " + keep + " }"), kSmall);
  EXPECT_EQ(size("random_apply { " + crop + " }"), std::nullopt);
  EXPECT_EQ(size("random_apply { p: 1 " + crop + " }"), (ImageSize{8, 8}));
  EXPECT_EQ(size("random_apply { p: 0 " + crop + " }"), kSmall);
  EXPECT_EQ(size("random_apply { transforms { random_crop { size: 32 padding: 4 } } }"), kSmall);
  EXPECT_EQ(size("random_choice { " + crop + keep + " }"), std::nullopt);
  EXPECT_EQ(size("random_choice { " + crop + "transforms { random_crop { size: 8 } } }"), (ImageSize{8, 8}));
  EXPECT_EQ(size("random_choice { " + crop + keep + " p: [0, 1] }"), kSmall);
  EXPECT_EQ(OutputSize(ParseOp("random_choice { " + crop + " }"), std::nullopt), (ImageSize{8, 8}));
}

TEST(DrawsNothingTest, SaysWhatIsTheSameForEveryKey) {
  const char* const constant[] = {
      "resize { size: 8 }",
      "center_crop { size: 8 }",
      "pad { padding: 1 }",
      "random_horizontal_flip { p: 1 }",
      "random_vertical_flip { p: 0 }",
      "grayscale { num_output_channels: 3 }",
      "random_grayscale { p: 1 }",
      "convert_color { to: COLOR_SPACE_YCBCR }",
      "random_posterize { bits: 3 p: 1 }",
      "random_solarize { threshold: 3 p: 1 }",
      "random_equalize { p: 1 }",
      "random_autocontrast { p: 1 }",
      "random_invert { p: 0 }",
      "random_adjust_sharpness { sharpness_factor: 2 p: 1 }",
      "adjust_brightness { brightness_factor: 2 }",
      "adjust_contrast { contrast_factor: 2 }",
      "adjust_saturation { saturation_factor: 2 }",
      "adjust_hue { hue_factor: 0.2 }",
      "random_erasing { p: 0 }",
      "rand_augment { num_ops: 0 }",
      "color_jitter {}",
      "color_jitter { contrast: [2, 2] }",
      "random_rotation { degrees: [30, 30] }",
      "random_affine { degrees: 0 scale: [2, 2] shear: [3, 3] }",
      "gaussian_blur { kernel_size: 3 sigma: 1 }",
      "random_apply { p: 1 transforms { random_invert { p: 1 } } }",
      "random_apply { p: 0 transforms { random_invert {} } }",
      "random_choice { transforms { pad { padding: 1 } } }",
      "random_choice { transforms { random_invert {} } transforms { pad { padding: 1 } } p: [0, 2] }",
  };
  for (const char* op : constant) {
    EXPECT_TRUE(IsDeterministic(ParseOp(op))) << op;
    for (uint64_t position = 1; position < 20; ++position)
      EXPECT_EQ(Drawn(op, kSmall, 0), Drawn(op, kSmall, position)) << op;
  }
}

TEST(DrawsNothingTest, SaysWhatDiffers) {
  const char* const drawn[] = {
      "random_resized_crop { size: 8 }",
      "random_crop { size: 8 }",
      "random_horizontal_flip {}",
      "random_grayscale {}",
      "random_posterize { bits: 3 }",
      "random_erasing {}",
      "random_erasing { p: 1 }",
      "random_mask { ratio: 0.5 }",
      "rand_augment {}",
      "trivial_augment_wide {}",
      "color_jitter { contrast: 0.5 }",
      "color_jitter { hue: 0.5 }",
      "color_jitter { contrast: [2, 2] saturation: [2, 2] }",
      "random_rotation { degrees: 30 }",
      "random_affine { degrees: 0 translate: [0, 0.5] }",
      "random_affine { degrees: 0 shear: 1 }",
      "random_affine { degrees: 1 }",
      "random_affine { degrees: 0 scale: [1, 2] }",
      "gaussian_blur { kernel_size: 3 }",
      "random_apply { transforms { random_invert { p: 1 } } }",
      "random_apply { p: 1 transforms { random_invert {} } }",
      "random_choice { transforms { random_invert { p: 1 } } transforms { pad { padding: 1 } } }",
      "random_choice { transforms { random_invert {} } transforms { pad { padding: 1 } } p: [2, 0] }",
  };
  for (const char* op : drawn) {
    EXPECT_FALSE(IsDeterministic(ParseOp(op))) << op;
    bool differs = false;
    for (uint64_t position = 1; position < 50; ++position)
      differs = differs || Drawn(op, kSmall, 0) != Drawn(op, kSmall, position);
    EXPECT_TRUE(differs) << op;
  }
}

}  // namespace
}  // namespace stoker
