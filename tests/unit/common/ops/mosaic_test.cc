#include "common/ops/mosaic.h"

#include <set>

#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

v1::Mosaic Op(const std::string& arguments) { return ParseOp("mosaic { " + arguments + " }").mosaic(); }

MosaicDraw Draw(const v1::Mosaic& op, uint64_t position, uint64_t count = 1000) {
  return DrawMosaic(op, {.seed = 1, .position = position}, 500, count);
}

const ResizeParameters& ResizeOf(const std::vector<OpParameters>& ops) { return std::get<ResizeParameters>(ops.at(0)); }
const CropParameters& CropOf(const std::vector<OpParameters>& ops) { return std::get<CropParameters>(ops.at(1)); }

TEST(MosaicTest, TheCellsCoverTheCanvasAndMeetAtTheDrawnPoint) {
  const v1::Mosaic op = Op("size: [100, 80] center_range: [0, 1]");
  for (uint64_t position = 0; position < 200; ++position) {
    const MosaicDraw draw = Draw(op, position);
    int64_t pixels = 0;
    for (int cell = 0; cell < kMosaicCells; ++cell) {
      const MosaicCell at = CellOf(op, draw, cell);
      EXPECT_GT(at.size.height, 0);
      EXPECT_GT(at.size.width, 0);
      EXPECT_TRUE(at.top == 0 || at.top == draw.row);
      EXPECT_TRUE(at.left == 0 || at.left == draw.column);
      pixels += at.size.height * at.size.width;
    }
    EXPECT_EQ(pixels, 100 * 80);
  }
}

TEST(MosaicTest, ThePointIsDrawnWithinItsRange) {
  const v1::Mosaic op = Op("size: 1000");
  int64_t least = 1000, most = 0;
  double sum = 0;
  constexpr int kDraws = 4000;
  for (uint64_t position = 0; position < kDraws; ++position) {
    const MosaicDraw draw = Draw(op, position);
    EXPECT_TRUE(draw.joins);
    for (const int64_t at : {draw.row, draw.column}) {
      least = std::min(least, at);
      most = std::max(most, at);
      sum += static_cast<double>(at);
    }
  }
  EXPECT_GE(least, 300);
  EXPECT_LT(least, 303);
  EXPECT_LT(most, 700);
  EXPECT_GE(most, 697);
  EXPECT_NEAR(sum / (2 * kDraws), 500, 5);
}

TEST(MosaicTest, PartnersAreDrawnFromTheWindowEachAsLikely) {
  const v1::Mosaic op = Op("size: 8");
  std::vector<int> seen(10);
  for (uint64_t position = 0; position < 2000; ++position)
    for (const uint64_t partner : Draw(op, position, 10).partners) ++seen.at(partner - 500);
  for (const int count : seen) EXPECT_NEAR(count, 600, 100);  // 4 standard deviations are 93.
}

TEST(MosaicTest, ItHappensWithItsProbability) {
  int joined = 0;
  for (uint64_t position = 0; position < 2000; ++position) joined += Draw(Op("size: 8 p: 0.25"), position).joins;
  EXPECT_NEAR(joined, 500, 80);
}

TEST(MosaicTest, AnImageFitsIntoAQuarterWithItsCornerAtThePoint) {
  const v1::Mosaic op = Op("size: 200");
  const MosaicDraw draw = {.joins = true, .row = 70, .column = 120};
  const ImageSize image = {50, 25};  // becomes 100×50
  const auto cell = [&](int number) { return CellOps(op, draw, number, image); };
  for (int number = 0; number < kMosaicCells; ++number) EXPECT_EQ(ResizeOf(cell(number)).size, (ImageSize{100, 50}));
  EXPECT_EQ(CropOf(cell(0)), (CropParameters{30, -70, {70, 120}, {114, 114, 114}}));
  EXPECT_EQ(CropOf(cell(1)), (CropParameters{30, 0, {70, 80}, {114, 114, 114}}));
  EXPECT_EQ(CropOf(cell(2)), (CropParameters{0, -70, {130, 120}, {114, 114, 114}}));
  EXPECT_EQ(CropOf(cell(3)), (CropParameters{0, 0, {130, 80}, {114, 114, 114}}));
}

TEST(MosaicTest, AnImageThatIsLeftAloneStandsInTheMiddle) {
  const auto ops = Drawn("mosaic { size: [60, 90] fill: 7 map_fill: -1 }", {10, 10});
  EXPECT_EQ(ResizeOf(ops).size, (ImageSize{60, 60}));
  EXPECT_EQ(CropOf(ops), (CropParameters{0, -15, {60, 90}, {7, 7, 7}, v1::PADDING_MODE_CONSTANT, -1}));
}

TEST(MosaicTest, OneOfExtremeShapeKeepsAPixel) {
  const v1::Mosaic op = Op("size: 64");
  EXPECT_EQ(ResizeOf(CellOps(op, {.joins = true, .row = 32, .column = 32}, 0, {100000, 1})).size, (ImageSize{32, 1}));
}

TEST(MosaicTest, ArgumentsAreRefusedByName) {
  const auto refusal = [](const std::string& arguments) {
    return std::string(ValidateOp(ParseOp("mosaic { " + arguments + " }")).message());
  };
  EXPECT_EQ(refusal("size: 1"), "Mosaic.size: four images need at least 2×2 pixels");
  EXPECT_EQ(refusal("size: 8 center_range: 0.5"), "Mosaic.center_range: give two numbers, from and to; found 1");
  EXPECT_EQ(refusal("size: 8 center_range: [0.5, 1.5]"),
            "Mosaic.center_range: [0.5, 1.5] is not an ascending range within 0 and 1");
  EXPECT_EQ(refusal("size: 8 p: 0"), "Mosaic.p: with 0 it joins nothing; leave it out, and Resize instead");
  EXPECT_EQ(refusal("size: 8 labels: ['a', 'a']"), "Mosaic.labels: 'a' stands twice");
}

}  // namespace
}  // namespace stoker
