#include "server/decode/packed.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/decode/decoder.h"
#include "server/read/synthetic/photograph.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr ImageSize kSize = {5, 7};

// OK, or the first thing that is wrong with `file`.
absl::Status Decoded(std::span<const uint8_t> file, const DecodeOptions& options = {}) {
  Decoder decoder;
  DecodedImage image;
  const auto size = decoder.Open(file, options);
  return size.ok() ? decoder.Decode({WholeOf(*size)}, image) : size.status();
}

std::vector<uint8_t> Packed() { return PackImage(kSize, PaintPhotograph(1, 1, kSize)); }

TEST(PackedTest, DecodesToThePixelsThatWerePacked) {
  const std::vector<uint8_t> rgb = PaintPhotograph(1, 1, kSize), file = PackImage(kSize, rgb);
  Decoder decoder;
  const auto size = decoder.Open(file, {});
  ASSERT_TRUE(size.ok()) << size.status();
  EXPECT_EQ(*size, kSize);
  DecodedImage image;
  const Region part = {1, 2, {3, 4}};
  for (const Region& region : {WholeOf(kSize), part}) {
    ASSERT_TRUE(decoder.Decode({region}, image).ok());
    ASSERT_TRUE(image.region.Contains(region));
    EXPECT_EQ(image.eighths, 8);
    for (int64_t y = region.top; y < region.bottom(); ++y)
      for (int64_t x = region.left; x < region.right(); ++x)
        EXPECT_TRUE(std::equal(&rgb[(y * 7 + x) * 3], &rgb[(y * 7 + x) * 3] + 3,
                               image.view().At(y - image.region.top, x - image.region.left)))
            << y << ", " << x;
  }
}

TEST(PackedTest, IsNeverDecodedAtAReducedSize) {
  const std::vector<uint8_t> file = Packed();
  Decoder decoder;
  ASSERT_TRUE(decoder.Open(file, {}).ok());
  DecodedImage image;
  ASSERT_TRUE(decoder.Decode({WholeOf(kSize), 4}, image).ok());
  EXPECT_EQ(image.eighths, 8);
  EXPECT_EQ(image.region, WholeOf(kSize));
}

TEST(PackedTest, EveryFlippedBitIsDataLoss) {
  const std::vector<uint8_t> file = Packed();
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::vector<uint8_t> damaged = file;
    damaged[bit / 8] ^= 1 << bit % 8;
    EXPECT_TRUE(absl::IsDataLoss(Decoded(damaged))) << "bit " << bit;
  }
}

TEST(PackedTest, EveryWrongLengthIsDataLoss) {
  std::vector<uint8_t> file = Packed();
  for (size_t bytes = 0; bytes < file.size(); ++bytes)
    EXPECT_TRUE(absl::IsDataLoss(Decoded(std::span(file).first(bytes)))) << bytes;
  file.push_back(0);
  EXPECT_TRUE(absl::IsDataLoss(Decoded(file)));
}

TEST(PackedTest, HasTheLayoutThatItsHeaderDocuments) {
  const std::vector<uint8_t> file = Packed();
  EXPECT_EQ(file.size(), 28u + 5 * 7 * 3);
  EXPECT_EQ(std::string(file.begin(), file.begin() + 8), "\x93STOKER\n");
  const std::vector<uint8_t> numbers(file.begin() + 8, file.begin() + 20);
  EXPECT_THAT(numbers, testing::ElementsAre(1, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0));
}

TEST(PackedTest, LimitsHold) {
  const absl::Status status = Decoded(Packed(), {.max_pixels = 34});
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(status.message(), HasSubstr("7x5 pixels is above limits.max_pixels, 34"));
}

TEST(PackedTest, AReasonComesBackAsTheError) {
  const absl::Status status = Decoded(PackReason("the file is empty"));
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_EQ(status.message(), "the file is empty");
  EXPECT_EQ(Decoded(PackReason("one\ntwo\xff")).message(), "one?two?");
  EXPECT_EQ(Decoded(PackReason(std::string(5000, 'a'))).message(), std::string(4096, 'a'));
  EXPECT_TRUE(absl::IsDataLoss(Decoded(PackReason(""))));
}

TEST(PackedTest, AnImageOfOneEmptySideIsDataLoss) {
  for (int side : {12, 16}) {
    std::vector<uint8_t> file = PackReason("x");
    file[side] = 3;
    EXPECT_TRUE(absl::IsDataLoss(Decoded(file)));
    file.resize(28);
    EXPECT_TRUE(absl::IsDataLoss(Decoded(file)));
  }
}

TEST(PackedTest, AnotherVersionSaysWhatToDo) {
  std::vector<uint8_t> file = Packed();
  file[8] = 2;
  EXPECT_THAT(Decoded(file).message(), HasSubstr("version 2, where this build knows 1: prepare it again"));
}

}  // namespace
}  // namespace stoker
