#include <algorithm>
#include <map>

#include "common/ops/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

constexpr int kSamples = 4000;

// The size that a resize ends at.
ImageSize ResizedBy(const std::string& op, ImageSize image, uint64_t position = 0) {
  return std::get<ResizeParameters>(Drawn(op, image, position).at(0)).size;
}

// ---- RandomZoomOut ----

// The canvas of an op that happens and draws one factor.
ImageSize CanvasOf(const std::string& factor, ImageSize image) {
  return std::get<CropParameters>(
             Drawn("random_zoom_out { p: 1 side_range: [" + factor + ", " + factor + "] }", image).at(0))
      .size;
}

// torchvision 0.29's figures for the same calls. In float64 100 · 1.15 would be a little less than 115.
TEST(RandomZoomOutTest, SidesAreTorchvisions) {
  EXPECT_EQ(CanvasOf("1.15", {100, 20}), (ImageSize{115, 23}));
  EXPECT_EQ(CanvasOf("1.1", {10, 30}), (ImageSize{11, 33}));
  EXPECT_EQ(CanvasOf("2.5", {375, 501}), (ImageSize{937, 1252}));
}

TEST(RandomZoomOutTest, IsACropThatHoldsTheWholeImage) {
  for (uint64_t position = 0; position < 500; ++position) {
    const auto crop = std::get<CropParameters>(
        Drawn("random_zoom_out { p: 1 side_range: [2, 4] fill: [7, 8, 9] map_fill: 255 }", {30, 40}, position).at(0));
    ASSERT_LE(crop.top, 0);
    ASSERT_LE(crop.left, 0);
    ASSERT_LE(-crop.top + 30, crop.size.height);
    ASSERT_LE(-crop.left + 40, crop.size.width);
    EXPECT_EQ(crop.fill, (Color{7, 8, 9}));
    EXPECT_EQ(crop.padding, v1::PADDING_MODE_CONSTANT);
    EXPECT_EQ(crop.map_fill, 255);
  }
}

TEST(RandomZoomOutTest, DrawsTheFactorAndThePlaceUniformly) {
  double factor = 0, factor2 = 0, across = 0, down = 0, product = 0;
  for (int position = 0; position < kSamples; ++position) {
    const auto crop =
        std::get<CropParameters>(Drawn("random_zoom_out { p: 1 side_range: [2, 4] }", {1000, 2000}, position).at(0));
    const double drawn = static_cast<double>(crop.size.height) / 1000;
    const double left = -static_cast<double>(crop.left) / static_cast<double>(crop.size.width - 2000);
    const double top = -static_cast<double>(crop.top) / static_cast<double>(crop.size.height - 1000);
    factor += drawn / kSamples, factor2 += (drawn - 3) * (drawn - 3) / kSamples;
    across += left / kSamples, down += top / kSamples, product += left * top / kSamples;
    EXPECT_NEAR(static_cast<double>(crop.size.width), 2000 * drawn, 2);
  }
  EXPECT_NEAR(factor, 3, 0.046);         // Five standard errors of U[2, 4],
  EXPECT_NEAR(factor2, 1.0 / 3, 0.024);  // and of its square,
  EXPECT_NEAR(across, 0.5, 0.024);       // of U[0, 1],
  EXPECT_NEAR(down, 0.5, 0.024);         // and of its like,
  EXPECT_NEAR(product, 0.25, 0.018);     // which is independent of it.
}

// torchvision takes the floor of share · gap, which never is the gap itself.
TEST(RandomZoomOutTest, DrawsEachPlaceButTheLastAsOften) {
  std::map<int64_t, int> lefts;
  for (int position = 0; position < kSamples; ++position) {
    const auto drawn = Drawn("random_zoom_out { p: 1 side_range: [2, 2] }", {4, 4}, position);
    ++lefts[-std::get<CropParameters>(drawn.at(0)).left];
  }
  ASSERT_THAT(lefts, testing::SizeIs(4));
  for (const auto& [left, count] : lefts) {
    EXPECT_LT(left, 4);
    EXPECT_NEAR(count, kSamples / 4.0, 137) << left;  // Five standard deviations.
  }
}

TEST(RandomZoomOutTest, HappensWithItsProbability) {
  int happened = 0;
  for (int position = 0; position < kSamples; ++position)
    happened += static_cast<int>(Drawn("random_zoom_out { side_range: [2, 4] }", {8, 8}, position).size());
  EXPECT_NEAR(happened, kSamples / 2.0, 158);  // Five standard deviations.
  EXPECT_THAT(Drawn("random_zoom_out { p: 1 side_range: [1, 1] }", {8, 8}), testing::IsEmpty());
}

TEST(RandomZoomOutTest, RefusesACanvasThatIsTooLarge) {
  EXPECT_EQ(Refusal("random_zoom_out { p: 1 side_range: [100, 100] }", {400, 200}),
            "RandomZoomOut.side_range: an image of 200×400 would become 20000×40000, more than 16384 a side; lower it, "
            "or Resize first");
  EXPECT_THAT(Drawn("random_zoom_out { p: 1 side_range: [1, 1] }", {20, 20000}), testing::IsEmpty());
}

// ---- ScaleJitter ----

// torchvision 0.29's figures for the same calls, whose target_size is width and height.
TEST(ScaleJitterTest, SizesAreTorchvisions) {
  const auto sized = [](int width, int height, const std::string& factor, ImageSize image) {
    return ResizedBy("scale_jitter { target_size: [" + std::to_string(width) + ", " + std::to_string(height) +
                         "] scale_range: [" + factor + ", " + factor + "] }",
                     image);
  };
  EXPECT_EQ(sized(512, 1024, "1", {375, 500}), (ImageSize{384, 512}));
  EXPECT_EQ(sized(512, 1024, "0.3", {375, 500}), (ImageSize{115, 153}));
  EXPECT_EQ(sized(100, 100, "1.15", {100, 100}), (ImageSize{115, 115}));
  EXPECT_EQ(sized(640, 480, "0.1", {480, 640}), (ImageSize{48, 64}));
  EXPECT_EQ(sized(7, 9, "2", {333, 1000}), (ImageSize{4, 14}));
}

TEST(ScaleJitterTest, DrawsTheFactorUniformly) {
  double factor = 0, factor2 = 0;
  for (int position = 0; position < kSamples; ++position) {
    const ImageSize size = ResizedBy("scale_jitter { target_size: [2000, 2000] scale_range: [0.5, 1.5] }", {500, 400},
                                     static_cast<uint64_t>(position));
    const double drawn = static_cast<double>(size.height) / 2000;
    factor += drawn / kSamples, factor2 += (drawn - 1) * (drawn - 1) / kSamples;
    EXPECT_NEAR(static_cast<double>(size.width), 1600 * drawn, 2);
  }
  EXPECT_NEAR(factor, 1, 0.023);          // Five standard errors of U[0.5, 1.5],
  EXPECT_NEAR(factor2, 1.0 / 12, 0.006);  // and of its square.
}

TEST(ScaleJitterTest, ResamplesAsItIsTold) {
  const auto of = [](const std::string& arguments) {
    const std::string op = "scale_jitter { target_size: [20, 20] scale_range: [1, 1] " + arguments + " }";
    return std::get<ResizeParameters>(Drawn(op, {40, 40}).at(0));
  };
  EXPECT_EQ(of(""), (ResizeParameters{{20, 20}, v1::INTERPOLATION_BILINEAR, true}));
  EXPECT_EQ(of("interpolation: INTERPOLATION_BICUBIC antialias: false"),
            (ResizeParameters{{20, 20}, v1::INTERPOLATION_BICUBIC, false}));
}

TEST(ScaleJitterTest, ASideHasAtLeastOnePixel) {
  EXPECT_EQ(ResizedBy("scale_jitter { target_size: [4, 4] scale_range: [0.1, 0.1] }", {8, 400}), (ImageSize{1, 1}));
}

TEST(ScaleJitterTest, RefusesAnImageThatIsTooLarge) {
  EXPECT_EQ(
      Refusal("scale_jitter { target_size: [400, 400] scale_range: [100, 100] }", {400, 200}),
      "ScaleJitter.scale_range: an image of 200×400 would become 20000×40000, more than 16384 a side; lower it, or "
      "give a smaller target_size");
}

// ---- RandomShortestSize ----

// torchvision 0.29's figures for the same calls. In floating point 21 · (51 / 21) is a little less than
// 51.
TEST(RandomShortestSizeTest, SizesAreTorchvisions) {
  const auto sized = [](int shorter, int longer, ImageSize image) {
    return ResizedBy(
        "random_shortest_size { min_size: " + std::to_string(shorter) + " max_size: " + std::to_string(longer) + " }",
        image);
  };
  EXPECT_EQ(sized(300, 350, {375, 500}), (ImageSize{262, 350}));
  EXPECT_EQ(sized(200, 0, {500, 375}), (ImageSize{266, 200}));
  EXPECT_EQ(sized(100, 0, {49, 60}), (ImageSize{100, 122}));
  EXPECT_EQ(sized(800, 1333, {480, 640}), (ImageSize{800, 1066}));
  EXPECT_EQ(sized(800, 1333, {427, 640}), (ImageSize{800, 1199}));
  EXPECT_EQ(sized(51, 0, {21, 30}), (ImageSize{50, 72}));
}

TEST(RandomShortestSizeTest, DrawsEachSizeAsOften) {
  std::map<int64_t, int> heights;
  for (int position = 0; position < kSamples; ++position)
    ++heights[ResizedBy("random_shortest_size { min_size: [100, 200, 300, 200] max_size: 350 }", {375, 500},
                        static_cast<uint64_t>(position))
                  .height];
  ASSERT_THAT(heights, testing::SizeIs(3));
  EXPECT_NEAR(heights[100], kSamples / 4.0, 137);  // Five standard deviations,
  EXPECT_NEAR(heights[262], kSamples / 4.0, 137);
  EXPECT_NEAR(heights[200], kSamples / 2.0, 158);  // and of what stands twice.
}

TEST(RandomShortestSizeTest, TellsItsSizeOnlyWhereThereIsOne) {
  const auto size_of = [](const std::string& op) { return OutputSize(ParseOp(op), ImageSize{375, 500}); };
  EXPECT_EQ(size_of("random_shortest_size { min_size: [150, 150] }"), (ImageSize{150, 200}));
  EXPECT_EQ(size_of("random_shortest_size { min_size: [150, 151] }"), std::nullopt);
  EXPECT_EQ(OutputSize(ParseOp("random_shortest_size { min_size: 150 }"), std::nullopt), std::nullopt);
  EXPECT_TRUE(IsDeterministic(ParseOp("random_shortest_size { min_size: [150, 150] }")));
  EXPECT_FALSE(IsDeterministic(ParseOp("random_shortest_size { min_size: [150, 151] }")));
  EXPECT_EQ(Refusal("random_shortest_size { min_size: 800 }", {10, 500}),
            "RandomShortestSize.min_size: an image of 500×10 would become 40000×800, more than 16384 a side; set "
            "max_size");
}

// ---- All of them ----

TEST(ZoomOpsTest, TheMostThatASizeMayBeCoversWhatIsDrawn) {
  for (const std::string op :
       {"random_zoom_out {}", "scale_jitter { target_size: [60, 90] }",
        "random_shortest_size { min_size: [20, 70, 30] }",
        "random_apply { transforms { random_zoom_out {} } transforms { random_zoom_out {} } }",
        "random_choice { transforms { random_zoom_out {} } transforms { center_crop { size: 8 } } }"}) {
    const ImageSize most = MostSize(ParseOp(op), {30, 40});
    ImageSize seen = {0, 0};
    for (uint64_t position = 0; position < 500; ++position) {
      ImageSize size = {30, 40};
      std::vector<OpParameters> parameters;
      ASSERT_TRUE(DrawOp(ParseOp(op), {.seed = 1, .position = position}, size, parameters).ok());
      seen = {std::max(seen.height, size.height), std::max(seen.width, size.width)};
    }
    EXPECT_LE(seen.height, most.height) << op;
    EXPECT_LE(seen.width, most.width) << op;
    EXPECT_GT(seen.height, most.height / 2) << op;
  }
}

TEST(ZoomOpsTest, TheMostThatASizeMayBeHasABoundHoweverOftenItGrows) {
  std::string op = "random_zoom_out { side_range: [1, 1000] }";
  ImageSize size = {30, 40};
  for (int i = 0; i < 20; ++i) size = MostSize(ParseOp(op), size);
  EXPECT_EQ(size, (ImageSize{16384, 16384}));
  EXPECT_EQ(MostSize(ParseOp("random_horizontal_flip {}"), size), size);
}

TEST(ZoomOpsTest, CostsAreOfTheLargestImage) {
  EXPECT_EQ(CostOf(ParseOp("random_zoom_out {}"), {10, 20}).bytes, 3 * 40 * 80);
  const std::string resized = "transforms { random_zoom_out {} } transforms { random_invert {} }";
  EXPECT_EQ(CostOf(ParseOp("random_apply { " + resized + " }"), {10, 20}).bytes, 2 * 3 * 40 * 80);
  EXPECT_EQ(CostOf(ParseOp("random_shortest_size { min_size: [10, 40] }"), {80, 80}).arithmetic,
            CostOf(ParseOp("resize { size: 40 }"), {80, 80}).arithmetic);
}

}  // namespace
}  // namespace stoker
