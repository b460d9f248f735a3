#include "server/decode/decoder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/decode/golden.h"
#include "tests/unit/server/decode/pixels.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using Bytes = std::vector<uint8_t>;

Bytes ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

Bytes GoldenFile(const std::string& name) {
  std::string format = name.substr(name.starts_with("bad_") ? 4 : 0);
  format.resize(format.find('_'));
  return ReadFile(fs::path(STOKER_SOURCE_DIR) / "tests/fuzz/corpus" / format / name);
}

uint64_t Fnv1a(const Bytes& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

// Header, then all pixels.
absl::Status DecodeAll(Decoder& decoder, const Bytes& file, DecodedImage& image, const DecodeOptions& options = {}) {
  const absl::StatusOr<ImageSize> size = decoder.Open(file, options);
  if (!size.ok()) return size.status();
  return decoder.Decode({WholeOf(*size)}, image);
}

absl::Status DecodeAll(const Bytes& file, const DecodeOptions& options = {}) {
  Decoder decoder;
  DecodedImage image;
  return DecodeAll(decoder, file, image, options);
}

void ExpectDataLoss(const absl::Status& status, const std::string& reason) {
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(reason));
}

size_t Find(const Bytes& file, std::string_view bytes) {
  return std::search(file.begin(), file.end(), bytes.begin(), bytes.end(),
                     [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); }) -
         file.begin();
}

void ExpectPillowsPixels(std::span<const Golden> files) {
  Decoder decoder;
  DecodedImage image;
  for (const Golden& golden : files) {
    SCOPED_TRACE(golden.name);
    const Bytes file = GoldenFile(golden.name);
    const absl::StatusOr<ImageSize> size = decoder.Open(file, {});
    ASSERT_TRUE(size.ok()) << size.status();
    EXPECT_EQ(*size, golden.size);
    const absl::Status status = decoder.Decode({WholeOf(*size)}, image);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(image.region, WholeOf(*size));
    EXPECT_EQ(Fnv1a(Pixels(image, image.region)), golden.pixels_hash);
  }
}

TEST(DecoderTest, GivesPillowsPixels) { ExpectPillowsPixels(kGolden); }
TEST(DecoderTest, GivesPillowsPixelsOfOtherFormats) {
  if (!STOKER_OPENCV) GTEST_SKIP() << "built without OpenCV";
  ExpectPillowsPixels(kOtherGolden);
}

TEST(DecoderTest, ARegionHasThePixelsOfTheWhole) {
  Decoder decoder;
  DecodedImage whole, part;
  for (const Golden& golden : kGolden) {
    SCOPED_TRACE(golden.name);
    const Bytes file = GoldenFile(golden.name);
    ASSERT_TRUE(DecodeAll(decoder, file, whole).ok());
    for (const Region& needed : {Region{0, 0, {1, 1}}, Region{20, 36, {1, 1}}, Region{0, 5, {21, 3}},
                                 Region{7, 0, {2, 37}}, Region{8, 16, {9, 9}}, Region{19, 1, {2, 30}}}) {
      const absl::Status status = decoder.Decode({needed}, part);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_TRUE(part.region.Contains(needed));
      ASSERT_TRUE(WholeOf(golden.size).Contains(part.region));
      EXPECT_EQ(Pixels(part, needed), Pixels(whole, needed)) << "top " << needed.top;
    }
  }
}

TEST(DecoderTest, StopsAfterTheLastRowNeeded) {
  Bytes file = GoldenFile("jpeg_444");
  file.resize(file.size() * 3 / 4);
  Decoder decoder;
  DecodedImage image;
  ASSERT_TRUE(decoder.Open(file, {}).ok());
  EXPECT_TRUE(decoder.Decode({{0, 0, {3, 37}}}, image).ok());
  EXPECT_FALSE(decoder.Decode({{0, 0, {21, 37}}}, image).ok());
}

// A reused libjpeg object keeps the tables of the image before.
TEST(DecoderTest, AnImageNeverInheritsTablesOfTheOneBefore) {
  Decoder decoder;
  DecodedImage image;
  ASSERT_TRUE(DecodeAll(decoder, GoldenFile("jpeg_gray"), image).ok());
  const Bytes expected = Pixels(image, image.region);  // The same picture, with tables of its own.
  ASSERT_TRUE(DecodeAll(decoder, GoldenFile("jpeg_no_huffman_tables"), image).ok());
  EXPECT_EQ(Pixels(image, image.region), expected);

  Bytes no_quantization = GoldenFile("jpeg_gray");
  const size_t table = Find(no_quantization, "\xff\xdb");
  ASSERT_LT(table, no_quantization.size());
  no_quantization[table + 1] = 0xfe;  // A comment.
  ExpectDataLoss(DecodeAll(decoder, no_quantization, image), "Quantization table 0x00 was not defined");
}

TEST(DecoderTest, DecodesAfterAnyFailure) {
  Decoder decoder;
  DecodedImage image;
  for (const char* bad : {"bad_jpeg_bomb", "bad_jpeg_lossless", "bad_jpeg_12_bits", "bad_png_bomb", "bad_webp_bomb",
                          "bad_webp_animated"}) {
    EXPECT_FALSE(DecodeAll(decoder, GoldenFile(bad), image).ok()) << bad;
    for (const Golden& golden : {kGolden[0], kGolden[std::size(kGolden) - 1]}) {
      ASSERT_TRUE(DecodeAll(decoder, GoldenFile(golden.name), image).ok());
      EXPECT_EQ(Fnv1a(Pixels(image, image.region)), golden.pixels_hash) << "after " << bad;
    }
  }
}

TEST(DecoderTest, EveryPrefixOfAFileHasAStatus) {
  Decoder decoder;
  DecodedImage image;
  for (const Golden& golden : kGolden) {
    const Bytes file = GoldenFile(golden.name);
    for (size_t size = 0; size < file.size(); ++size) {
      const Bytes prefix(file.begin(), file.begin() + size);
      const absl::Status status = DecodeAll(decoder, prefix, image);
      if (status.ok()) {
        // Only what follows the pixels may be missing.
        EXPECT_GE(size + 20, file.size()) << golden.name;
        EXPECT_EQ(Fnv1a(Pixels(image, image.region)), golden.pixels_hash) << golden.name << ", " << size << " bytes";
      } else {
        EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << golden.name << ", " << size << " bytes: " << status;
      }
    }
  }
}

TEST(DecoderTest, SaysWhatAFileStartsWithThatIsNoImage) {
  ExpectDataLoss(DecodeAll(Bytes{}), "the file is empty");
  ExpectDataLoss(DecodeAll(Bytes{0xff}), "not a JPEG, PNG, WebP, BMP, PNM or TIFF file (starts with ff)");
  ExpectDataLoss(DecodeAll(Bytes{'G', 'I', 'F', '8', '9', 'a', 1, 2, 3, 4, 5, 6, 7}),
                 "(starts with 474946383961010203040506)");
  ExpectDataLoss(DecodeAll(Bytes{'R', 'I', 'F', 'F', 4, 0, 0, 0, 'W', 'A', 'V', 'E'}), "not a JPEG");
}

TEST(DecoderTest, RefusesABombFromItsHeader) {
  Decoder decoder;
  DecodedImage image;
  for (const auto& [name, size] : {std::pair{"bad_jpeg_bomb", "56321x7789"}, std::pair{"bad_png_bomb", "56321x7789"},
                                   std::pair{"bad_webp_bomb", "16383x16383"}}) {
    SCOPED_TRACE(name);
    const Bytes file = GoldenFile(name);
    ExpectDataLoss(decoder.Open(file, {}).status(), std::string("an image of ") + size);
    ExpectDataLoss(DecodeAll(decoder, file, image), "limits.max_pixels, 67108864");
    EXPECT_EQ(image.pixels.capacity(), 0);
  }
}

TEST(DecoderTest, HoldsTheLimitOfPixelsExactly) {
  for (const char* name : {"jpeg_420", "png_rgb8", "webp_lossy"}) {
    EXPECT_TRUE(DecodeAll(GoldenFile(name), {.max_pixels = 21 * 37}).ok()) << name;
    ExpectDataLoss(DecodeAll(GoldenFile(name), {.max_pixels = 21 * 37 - 1}), "limits.max_pixels, 776");
  }
}

TEST(DecoderTest, RefusesMoreScansThanTheLimit) {
  Bytes file = GoldenFile("jpeg_gray_progressive");
  ASSERT_GT(file.size(), 2);
  size_t scan = file.size() - 2;  // The last one begins here, and ends before the two bytes of EOI.
  while (file[scan] != 0xff || file[scan + 1] != 0xda) --scan;
  const Bytes last_scan(file.begin() + scan, file.end() - 2);
  for (int i = 0; i < 100; ++i) file.insert(file.end() - 2, last_scan.begin(), last_scan.end());

  Decoder decoder;
  ExpectDataLoss(decoder.Open(file, {}).status(), "limits.max_scans, 100");
  ExpectDataLoss(DecodeAll(file), "limits.max_scans, 100");
  const absl::Status status = DecodeAll(file, {.max_scans = 200, .warnings = v1::DECODE_WARNINGS_IGNORE});
  EXPECT_TRUE(status.ok()) << status;
}

TEST(DecoderTest, SaysWhichJpegItCannotDecode) {
  ExpectDataLoss(DecodeAll(GoldenFile("bad_jpeg_12_bits")), "Unsupported JPEG data precision 12");
  ExpectDataLoss(DecodeAll(GoldenFile("bad_jpeg_lossless")), "Unsupported JPEG process");
}

TEST(DecoderTest, ATruncatedJpegFailsUnlessWarningsAreIgnored) {
  for (const char* name : {"jpeg_420", "jpeg_420_progressive"}) {
    SCOPED_TRACE(name);
    Bytes file = GoldenFile(name);
    file.resize(file.size() - 40);
    ExpectDataLoss(DecodeAll(file), "Premature end of JPEG file");
    ExpectDataLoss(DecodeAll(file, {.warnings = v1::DECODE_WARNINGS_UNSPECIFIED}), "Premature end of JPEG file");
    ExpectDataLoss(DecodeAll(file, {.warnings = v1::DECODE_WARNINGS_FAIL}), "Premature end of JPEG file");
    EXPECT_TRUE(DecodeAll(file, {.warnings = v1::DECODE_WARNINGS_IGNORE}).ok());
  }
}

TEST(DecoderTest, OtherWarningsFailOnlyWhereEveryWarningDoes) {
  Bytes file = GoldenFile("jpeg_420");
  file.erase(file.end() - 42, file.end() - 2);  // Leaves the end-of-image marker.
  EXPECT_TRUE(DecodeAll(file).ok());
  EXPECT_TRUE(DecodeAll(file, {.warnings = v1::DECODE_WARNINGS_IGNORE}).ok());
  ExpectDataLoss(DecodeAll(file, {.warnings = v1::DECODE_WARNINGS_FAIL}), "premature end of data segment");
}

TEST(DecoderTest, APngWithAnyByteChangedFailsOrKeepsItsPixels) {
  Decoder decoder;
  DecodedImage image;
  for (const Golden& golden : kGolden) {
    Bytes file = GoldenFile(golden.name);
    if (!std::string_view(golden.name).starts_with("png")) continue;
    size_t failures = 0;
    for (uint8_t& byte : file) {
      byte ^= 0x10;
      if (DecodeAll(decoder, file, image).ok()) {
        ASSERT_EQ(Fnv1a(Pixels(image, image.region)), golden.pixels_hash) << golden.name << " at " << &byte - &file[0];
      } else {
        ++failures;
      }
      byte ^= 0x10;
    }
    EXPECT_GE(failures, file.size() - 8) << golden.name;
  }
}

TEST(DecoderTest, RefusesAnAnimation) {
  ExpectDataLoss(DecodeAll(GoldenFile("bad_webp_animated")), "an animated WebP: only still images are decoded");
}

TEST(DecoderTest, EveryMalformedFileHasAStatus) {
  const char* data = std::getenv("STOKER_DATA_DIR");
  const fs::path folder =
      (data != nullptr ? fs::path(data) : fs::path(STOKER_SOURCE_DIR) / "../shared/data") / "malformed";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no folder " << folder;
  Decoder decoder;
  DecodedImage image;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const Bytes file = ReadFile(entry.path());
    for (v1::DecodeWarnings warnings : {v1::DECODE_WARNINGS_FAIL_TRUNCATED, v1::DECODE_WARNINGS_IGNORE}) {
      const absl::Status status = DecodeAll(decoder, file, image, {.warnings = warnings});
      EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kDataLoss) << entry.path() << ": " << status;
    }
  }
}

}  // namespace
}  // namespace stoker
