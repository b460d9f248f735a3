#include "server/read/synthetic/photograph.h"

#include <cstdio>
#include <cstdlib>

#include "gtest/gtest.h"
#include "jpeglib.h"
#include "xxhash.h"

namespace stoker {
namespace {

constexpr ImageSize kSize = {375, 500};

const uint8_t* Pixel(const std::vector<uint8_t>& rgb, ImageSize size, int64_t y, int64_t x) {
  return &rgb[(y * size.width + x) * 3];
}

std::vector<uint8_t> DecodeJpeg(const std::vector<uint8_t>& file, ImageSize& size) {
  jpeg_error_mgr errors;
  jpeg_decompress_struct codec;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, file.data(), file.size());
  jpeg_read_header(&codec, TRUE);
  jpeg_start_decompress(&codec);
  size = {codec.output_height, codec.output_width};
  std::vector<uint8_t> rgb(size.height * size.width * 3);
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = &rgb[codec.output_scanline * size.width * 3];
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_finish_decompress(&codec);
  jpeg_destroy_decompress(&codec);
  return rgb;
}

TEST(PhotographTest, IsAPureFunctionOfItsArguments) {
  const auto image = PaintPhotograph(1, 2, kSize);
  EXPECT_EQ(image.size(), 375 * 500 * 3);
  EXPECT_EQ(image, PaintPhotograph(1, 2, kSize));
  EXPECT_NE(image, PaintPhotograph(2, 2, kSize));
  EXPECT_NE(image, PaintPhotograph(1, 3, kSize));
}

// Integer arithmetic throughout: the same pixels on every CPU and with every compiler.
TEST(PhotographTest, HasThePixelsThatItHadWhenItWasWritten) {
  const auto image = PaintPhotograph(42, 7, {64, 96});
  EXPECT_EQ(XXH3_64bits(image.data(), image.size()), 10826412076838103824u);
}

TEST(PhotographTest, ShowsWhichWayIsUpAndWhichChannelIsRed) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto image = PaintPhotograph(seed, seed, kSize);
    const uint8_t* marker = Pixel(image, kSize, 40, 40);
    EXPECT_EQ(marker[0], 255);
    EXPECT_EQ(marker[1], 0);
    EXPECT_EQ(marker[2], 0);
    int64_t red = 0, blue = 0;
    for (int64_t x = 0; x < kSize.width; ++x) {
      red += Pixel(image, kSize, 5, x)[0];
      blue += Pixel(image, kSize, 5, x)[2];
    }
    EXPECT_GT(blue, 2 * red) << "the sky is not blue, seed " << seed;
  }
}

TEST(PhotographTest, CanBeOfAnySize) {
  for (ImageSize size : {ImageSize{1, 1}, ImageSize{1, 300}, ImageSize{300, 1}, ImageSize{129, 127}})
    EXPECT_EQ(PaintPhotograph(3, 3, size).size(), size.height * size.width * 3);
}

TEST(EncodeJpegTest, GivesAFileThatDecodesToNearlyTheSame) {
  const auto image = PaintPhotograph(1, 2, kSize);
  const auto file = EncodeJpeg(image, kSize, 90);
  EXPECT_EQ(file, EncodeJpeg(image, kSize, 90));
  ImageSize size;
  const auto decoded = DecodeJpeg(file, size);
  ASSERT_EQ(size, kSize);
  int64_t error = 0;
  for (size_t i = 0; i < image.size(); ++i) error += std::abs(image[i] - decoded[i]);
  EXPECT_LT(error / static_cast<double>(image.size()), 5);
}

// A decoder's speed depends on it: photographs have two to four bits a pixel at this quality.
TEST(EncodeJpegTest, GivesFilesOfAPhotographsSize) {
  const auto file = EncodeJpeg(PaintPhotograph(1, 2, kSize), kSize, 90);
  EXPECT_GT(file.size() * 8, 375 * 500 * 2);
  EXPECT_LT(file.size() * 8, 375 * 500 * 4);
}

}  // namespace
}  // namespace stoker
