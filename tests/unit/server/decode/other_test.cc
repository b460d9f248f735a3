#include "server/decode/other.h"

#include <array>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/decode/decoder.h"
#include "server/decode/other_header.h"

namespace stoker {
namespace {

using Bytes = std::vector<uint8_t>;
using testing::HasSubstr;

void Append(Bytes& file, std::initializer_list<int> values, int bytes) {
  for (int value : values)
    for (int i = 0; i < bytes; ++i) file.push_back(static_cast<uint8_t>(value >> 8 * i));
}

// A picture of 3×2 pixels, each with colors of its own.
constexpr ImageSize kSize = {2, 3};
uint8_t ValueAt(int y, int x, int channel) { return static_cast<uint8_t>(100 * y + 20 * x + 7 * channel); }

Bytes Bmp(bool from_top) {
  Bytes file = {'B', 'M'};
  Append(file, {54 + 24, 0, 54, 40, 3, from_top ? -2 : 2}, 4);
  Append(file, {1, 24}, 2);
  Append(file, {0, 24, 0, 0, 0, 0}, 4);
  for (int row : {0, 1}) {
    const int y = from_top ? row : 1 - row;
    for (int x = 0; x < 3; ++x)
      for (int channel : {2, 1, 0}) file.push_back(ValueAt(y, x, channel));
    file.insert(file.end(), 3, 0);  // Rows of whole words.
  }
  return file;
}

Bytes Ppm() {
  const std::string header = "P6\n# a comment\n3 2\n255\n";
  Bytes file(header.begin(), header.end());
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 3; ++x)
      for (int channel = 0; channel < 3; ++channel) file.push_back(ValueAt(y, x, channel));
  return file;
}

Bytes Tiff() {
  Bytes file = {'I', 'I', 42, 0};
  Append(file, {8 + 18}, 4);  // The directory follows the pixels.
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 3; ++x)
      for (int channel = 0; channel < 3; ++channel) file.push_back(ValueAt(y, x, channel));
  const std::vector<std::array<int, 4>> entries = {{256, 3, 1, 3},  {257, 3, 1, 2}, {258, 3, 1, 8}, {259, 3, 1, 1},
                                                   {262, 3, 1, 2},  {273, 4, 1, 8}, {277, 3, 1, 3}, {278, 3, 1, 2},
                                                   {279, 4, 1, 18}, {284, 3, 1, 1}};
  Append(file, {static_cast<int>(entries.size())}, 2);
  for (const auto& [tag, type, count, value] : entries) {
    Append(file, {tag, type}, 2);
    Append(file, {count, value}, 4);
  }
  Append(file, {0}, 4);
  return file;
}

TEST(OtherFormatsTest, DecodesBmpPnmAndTiff) {
  if (!STOKER_OPENCV) GTEST_SKIP() << "built without OpenCV";
  Decoder decoder;
  DecodedImage image;
  for (const Bytes& file : {Bmp(false), Bmp(true), Ppm(), Tiff()}) {
    const auto size = decoder.Open(file, {});
    ASSERT_TRUE(size.ok()) << size.status();
    ASSERT_EQ(*size, kSize);
    const absl::Status status = decoder.Decode({{0, 1, {2, 2}}, 4}, image);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(image.eighths, 8);
    ASSERT_EQ(image.region, WholeOf(kSize));
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 3; ++x)
        for (int channel = 0; channel < 3; ++channel)
          EXPECT_EQ(image.view().At(y, x)[channel], ValueAt(y, x, channel)) << file[0] << y << x << channel;
  }
}

// OpenCV ends a comment at a carriage return too.
TEST(OtherFormatsTest, ACommentHidesNoOtherSize) {
  const std::string text = "P4\n#\r32000 32000\n1 1\n";
  EXPECT_EQ(PnmSize(Bytes(text.begin(), text.end())), (ImageSize{32000, 32000}));
  for (const char* ending : {"\n", "\r", "\r\n"}) {
    const std::string header = std::string("P6 # a comment") + ending + "3 #" + ending + " 2\n255\n";
    const Bytes file(header.begin(), header.end());
    ASSERT_EQ(PnmSize(file), kSize);
    const Bytes plain = PlainPnm(file);
    EXPECT_EQ(std::string(plain.begin(), plain.end()), "P6\n3 2\n255\n");
  }
}

// Appends an entry to the directory of Tiff().
Bytes TiffWith(std::vector<std::array<int, 4>> more) {
  Bytes file = Tiff();
  file.erase(file.end() - 4, file.end());
  file[26] = static_cast<uint8_t>(file[26] + more.size());
  for (const auto& [tag, type, count, value] : more) {
    Append(file, {tag, type}, 2);
    Append(file, {count, value}, 4);
  }
  Append(file, {0}, 4);
  return file;
}

TEST(OtherFormatsTest, RefusesTiffsThatTakeFarMoreThanTheirPixels) {
  EXPECT_EQ(TiffSize(TiffWith({{322, 3, 1, 256}, {323, 3, 1, 256}})), kSize) << "a small image in one usual tile";
  EXPECT_FALSE(TiffSize(TiffWith({{322, 3, 1, 16000}, {323, 3, 1, 16000}})).has_value());
  EXPECT_FALSE(TiffSize(TiffWith({{322, 3, 1, 0}, {323, 3, 1, 16}})).has_value());
  EXPECT_FALSE(TiffSize(TiffWith({{338, 3, 1, 2}})).has_value()) << "alpha";
  EXPECT_FALSE(TiffSize(TiffWith({{256, 3, 1, 30}})).has_value()) << "two widths";
}

TEST(OtherFormatsTest, RefusesAnImageAboveTheLimitFromItsHeader) {
  Decoder decoder;
  for (const Bytes& file : {Bmp(false), Bmp(true), Ppm(), Tiff()}) {
    EXPECT_TRUE(decoder.Open(file, {.max_pixels = 6}).ok());
    const auto status = decoder.Open(file, {.max_pixels = 5}).status();
    EXPECT_TRUE(absl::IsDataLoss(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("limits.max_pixels, 5"));
  }
}

TEST(OtherFormatsTest, EveryPrefixAndEveryChangedByteHasAStatus) {
  if (!STOKER_OPENCV) GTEST_SKIP() << "built without OpenCV";
  Decoder decoder;
  DecodedImage image;
  const auto check = [&](const Bytes& file) {
    const auto size = decoder.Open(file, {.max_pixels = 1 << 16});
    absl::Status status = size.status();
    if (status.ok()) status = decoder.Decode({WholeOf(*size)}, image);
    EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
  };
  for (Bytes file : {Bmp(false), Ppm(), Tiff()}) {
    for (size_t size = 0; size < file.size(); ++size) check(Bytes(file.begin(), file.begin() + size));
    for (uint8_t& byte : file) {
      for (int change : {0x01, 0x80, 0xff}) {
        byte ^= change;
        check(file);
        byte ^= change;
      }
    }
  }
}

TEST(OtherFormatsTest, AHeaderOfTwoSizesGivesNone) {
  Bytes tiff = Tiff();
  ASSERT_EQ(TiffSize(tiff), kSize);
  tiff[26 + 2 + 2 * 12] = 0;  // The third entry's tag becomes another width's.
  tiff[26 + 2 + 2 * 12 + 1] = 1;
  EXPECT_EQ(TiffSize(tiff), std::nullopt);
  EXPECT_EQ(PnmSize(Bytes{'P', '6', ' ', '0', ' ', '2', ' '}), std::nullopt);
  EXPECT_EQ(BmpSize(Bytes(26)), std::nullopt);
}

}  // namespace
}  // namespace stoker
