#include "server/prepare/jpeg_writer.h"

#include <algorithm>
#include <ostream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/decode/decoder.h"
#include "tests/unit/server/decode/pixels.h"
#include "tests/unit/server/prepare/jpeg_files.h"

namespace stoker {
namespace {

using testing::ElementsAre;

std::vector<uint8_t> PixelsOf(std::span<const uint8_t> file) {
  Decoder decoder;
  DecodedImage image;
  const auto size = decoder.Open(file, {});
  EXPECT_TRUE(size.ok()) << size.status();
  if (!size.ok()) return {};
  const absl::Status decoded = decoder.Decode({WholeOf(*size)}, image);
  EXPECT_TRUE(decoded.ok()) << decoded;
  return decoded.ok() ? Pixels(image, WholeOf(*size)) : std::vector<uint8_t>();
}

int McusPerRow(const JpegMarkers& markers) {
  const int pixels = markers.components == 1 ? 8 : 8 * markers.across;
  return (markers.width + pixels - 1) / pixels;
}

struct Original {
  JpegKind kind;
  ImageSize size;
};

void PrintTo(const Original& original, std::ostream* out) {
  *out << original.kind.name << ", " << original.size.width << "x" << original.size.height;
}

std::vector<Original> KindsAndSizes() {
  std::vector<Original> originals;
  for (const JpegKind& kind : AllJpegKinds())
    for (const ImageSize& size : {ImageSize{1, 1}, ImageSize{31, 17}, ImageSize{97, 333}, ImageSize{128, 256}})
      originals.push_back({kind, size});
  return originals;
}

class TranscodeJpegTest : public testing::TestWithParam<Original> {};

TEST_P(TranscodeJpegTest, KeepsEveryPixelInABaselineFileWithRestarts) {
  const auto& [kind, size] = GetParam();
  const std::vector<uint8_t> original = MakeJpeg(kind, size);
  const auto made = TranscodeJpeg(original, {.restart_interval = 4});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(PixelsOf(*made), PixelsOf(original));
  const JpegMarkers before = ReadMarkers(original), after = ReadMarkers(*made);
  EXPECT_EQ(after.frame, 0xc0);
  EXPECT_EQ(after.scans, 1);
  EXPECT_EQ(after.segments, before.segments);
  EXPECT_EQ(after.restart_interval, RestartInterval(4, McusPerRow(after)));
  const int rows = (size.height + 8 * after.down - 1) / (8 * after.down);
  if (after.components == 1) return;  // A scan of one component has MCUs of one block, whatever its factors.
  EXPECT_EQ(after.restarts, (McusPerRow(after) * rows - 1) / after.restart_interval);
}

INSTANTIATE_TEST_SUITE_P(KindsAndSizes, TranscodeJpegTest, testing::ValuesIn(KindsAndSizes()));

TEST(JpegWriterTest, IntervalsDivideTheMcusOfARowWhereThatIsNear) {
  EXPECT_EQ(RestartInterval(4, 32), 4);
  EXPECT_EQ(RestartInterval(4, 21), 3);  // 3 × 7
  EXPECT_EQ(RestartInterval(4, 25), 5);  // 5 × 5
  EXPECT_EQ(RestartInterval(4, 31), 4);  // a prime
  EXPECT_EQ(RestartInterval(4, 14), 4);  // 2 and 7 are too far
  EXPECT_EQ(RestartInterval(1, 7), 1);
  EXPECT_EQ(RestartInterval(65535, 9), 65535);
}

TEST(JpegWriterTest, StripDropsAllButWhatSaysTheColors) {
  const std::vector<uint8_t> original = MakeJpeg({.name = "4:2:0", .segments = true}, {40, 50});
  EXPECT_THAT(ReadMarkers(original).segments, ElementsAre(0xe0, 0xe1, 0xe2, 0xfe));
  EXPECT_THAT(ReadMarkers(*TranscodeJpeg(original, {})).segments, ElementsAre(0xe0, 0xe1, 0xe2, 0xfe));
  const auto stripped = TranscodeJpeg(original, {.strip = true});
  EXPECT_THAT(ReadMarkers(*stripped).segments, ElementsAre(0xe0));
  EXPECT_EQ(PixelsOf(*stripped), PixelsOf(original));
  const std::vector<uint8_t> cmyk = MakeJpeg({.name = "CMYK", .components = 4, .across = 1, .down = 1}, {40, 50});
  const auto stripped_cmyk = TranscodeJpeg(cmyk, {.strip = true});
  EXPECT_THAT(ReadMarkers(*stripped_cmyk).segments, ElementsAre(0xee));
  EXPECT_EQ(PixelsOf(*stripped_cmyk), PixelsOf(cmyk));
}

TEST(JpegWriterTest, WhatIsDamagedIsNotTranscoded) {
  const std::vector<uint8_t> original = MakeJpeg({.name = "4:2:0"}, {64, 64});
  for (size_t bytes : {size_t{3}, size_t{100}, original.size() / 2, original.size() - 2}) {
    const auto cut = TranscodeJpeg(std::span(original).first(bytes), {});
    EXPECT_TRUE(absl::IsDataLoss(cut.status())) << bytes << " bytes: " << cut.status();
  }
  std::vector<uint8_t> twelve_bits = original;
  const uint8_t baseline[] = {0xff, 0xc0};
  const auto frame = std::search(twelve_bits.begin(), twelve_bits.end(), std::begin(baseline), std::end(baseline));
  ASSERT_NE(frame, twelve_bits.end());
  frame[1] = 0xc1;
  frame[4] = 12;
  EXPECT_TRUE(absl::IsDataLoss(TranscodeJpeg(twelve_bits, {}).status()));
}

TEST(JpegWriterTest, CompressesColorTo420AndGrayToOneComponent) {
  const ImageSize size = {48, 80};
  std::vector<uint8_t> rgb = PaintPhotograph(3, 3, size);
  const auto color = CompressJpeg(rgb, size, 95, {.restart_interval = 4}, {});
  ASSERT_TRUE(color.ok()) << color.status();
  const JpegMarkers of_color = ReadMarkers(*color);
  EXPECT_EQ(of_color.components, 3);
  EXPECT_EQ(of_color.across, 2);
  EXPECT_EQ(of_color.down, 2);
  EXPECT_EQ(of_color.restart_interval, 5);
  EXPECT_EQ(of_color.restarts, 2);
  for (size_t i = 0; i < rgb.size(); i += 3) rgb[i + 1] = rgb[i + 2] = rgb[i];
  const auto gray = CompressJpeg(rgb, size, 100, {}, {});
  ASSERT_TRUE(gray.ok()) << gray.status();
  EXPECT_EQ(ReadMarkers(*gray).components, 1);
  const std::vector<uint8_t> decoded = PixelsOf(*gray);
  for (size_t i = 0; i < rgb.size(); ++i) ASSERT_NEAR(decoded[i], rgb[i], 2) << i;
}

TEST(JpegWriterTest, CompressionKeepsTheOriginalsSegmentsButItsColors) {
  const ImageSize size = {48, 80};
  const std::vector<uint8_t> rgb = PaintPhotograph(3, 3, size);
  const std::vector<uint8_t> original = MakeJpeg({.name = "4:2:0", .segments = true}, {90, 150});
  EXPECT_THAT(ReadMarkers(*CompressJpeg(rgb, size, 95, {}, original)).segments, ElementsAre(0xe0, 0xe1, 0xe2, 0xfe));
  EXPECT_THAT(ReadMarkers(*CompressJpeg(rgb, size, 95, {.strip = true}, original)).segments, ElementsAre(0xe0));
}

}  // namespace
}  // namespace stoker
