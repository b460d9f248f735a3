#include "client/cli/contact_sheet.h"

#include <spng.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

// Images whose pixels differ from each other, and the tensor that refers to them.
struct Images {
  Images(int64_t count, int64_t height, int64_t width) : bytes(count * height * width * 3) {
    std::iota(bytes.begin(), bytes.end(), 100);
    tensor = {.name = "image",
              .dtype = v1::DTYPE_UINT8,
              .shape = {count, height, width, 3},
              .data = bytes.data(),
              .bytes = bytes.size()};
  }

  std::vector<uint8_t> Pixel(int64_t image, int64_t y, int64_t x) const {
    const auto at = bytes.begin() + ((image * tensor.shape[1] + y) * tensor.shape[2] + x) * 3;
    return {at, at + 3};
  }

  std::vector<uint8_t> bytes;
  Tensor tensor;
};

std::vector<uint8_t> Pixel(const Picture& picture, int64_t y, int64_t x) {
  const auto at = picture.pixels.begin() + (y * picture.width + x) * 3;
  return {at, at + 3};
}

const std::vector<uint8_t> kBackground = {32, 32, 32};

TEST(ContactSheetTest, PutsEveryImageInItsPlaceWithMarginsBetween) {
  const Images images(11, 2, 3);
  const Picture sheet = ContactSheet(images.tensor, 11);
  EXPECT_EQ(sheet.height, 4 + 2 * (2 + 4));
  EXPECT_EQ(sheet.width, 4 + 8 * (3 + 4));
  for (int64_t y = 0; y < sheet.height; ++y)
    for (int64_t x = 0; x < sheet.width; ++x) {
      const int64_t row = y / 6, column = x / 7, image = row * 8 + column;
      const bool margin = y % 6 < 4 || x % 7 < 4;
      EXPECT_EQ(Pixel(sheet, y, x), margin || image >= 11 ? kBackground : images.Pixel(image, y % 6 - 4, x % 7 - 4))
          << y << ", " << x;
    }
}

TEST(ContactSheetTest, ShowsNoMoreThanAskedFor) {
  const Images images(20, 2, 2);
  EXPECT_EQ(ContactSheet(images.tensor, 3).width, 4 + 3 * 6);
  EXPECT_EQ(ContactSheet(images.tensor, 3).height, 4 + 6);
}

TEST(ContactSheetTest, ShowsAnEmptyBatchAsAnEmptySheet) {
  const Images images(0, 2, 2);
  const Picture sheet = ContactSheet(images.tensor, 32);
  EXPECT_THAT(sheet.pixels, testing::Each(32));
  EXPECT_EQ(sheet.pixels.size(), sheet.width * sheet.height * 3);
}

TEST(ContactSheetTest, MakesLargeImagesSmallerByAveraging) {
  Images images(1, 3, 1025);  // Three times smaller: 1 × 342, the last from two columns.
  const Picture sheet = ContactSheet(images.tensor, 1);
  EXPECT_EQ(sheet.width, 4 + 342 + 4);
  EXPECT_EQ(sheet.height, 4 + 1 + 4);
  for (int64_t x : {0, 1, 200, 341}) {
    const int64_t left = 3 * x, right = std::min<int64_t>(left + 3, 1025);
    int sum = 0;
    for (int64_t y = 0; y < 3; ++y)
      for (int64_t from = left; from < right; ++from) sum += images.Pixel(0, y, from)[1];
    EXPECT_NEAR(Pixel(sheet, 4, 4 + x)[1], sum / (3.0 * (right - left)), 0.5) << x;
  }
}

TEST(ContactSheetTest, FindsTheFirstFieldOfImages) {
  const Images images(1, 2, 2);
  const Tensor label{.name = "label", .dtype = v1::DTYPE_INT64, .shape = {1}};
  const Tensor floats{.name = "floats", .dtype = v1::DTYPE_FLOAT32, .shape = {1, 2, 2, 3}};
  const Tensor planes{.name = "planes", .dtype = v1::DTYPE_UINT8, .shape = {1, 3, 2, 2}};
  const std::vector<Tensor> fields = {label, floats, planes, images.tensor};
  EXPECT_EQ(FindImages(fields), &fields[3]);
  EXPECT_EQ(FindImages({label, floats, planes}), nullptr);
}

TEST(ContactSheetTest, ViewsStandSideBySide) {
  Images images(6, 2, 2);
  const Picture apart = ContactSheet(images.tensor, 6);
  images.tensor.shape = {3, 2, 2, 2, 3};
  EXPECT_EQ(FindImages({images.tensor})->shape.size(), 5);
  EXPECT_EQ(ContactSheet(images.tensor, 6).pixels, apart.pixels);
}

TEST(ContactSheetTest, ADecoderReadsBackTheSamePixels) {
  const Images images(5, 13, 7);
  const Picture sheet = ContactSheet(images.tensor, 5);
  const auto png = EncodePng(sheet);
  ASSERT_TRUE(png.ok()) << png.status();

  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(0), spng_ctx_free);
  ASSERT_EQ(spng_set_png_buffer(context.get(), png->data(), png->size()), SPNG_OK);
  spng_ihdr header;
  ASSERT_EQ(spng_get_ihdr(context.get(), &header), SPNG_OK);
  EXPECT_EQ(header.width, sheet.width);
  EXPECT_EQ(header.height, sheet.height);
  std::vector<uint8_t> pixels(sheet.pixels.size());
  ASSERT_EQ(spng_decode_image(context.get(), pixels.data(), pixels.size(), SPNG_FMT_RGB8, 0), SPNG_OK);
  EXPECT_EQ(pixels, sheet.pixels);
}

TEST(ContactSheetTest, EachImageStandsBeforeItsMaps) {
  const Images images(5, 2, 3);
  std::vector<uint8_t> labels(5 * 2 * 3), bits(5);
  labels[6 + 1] = 7;  // of image 1 at (0, 1)
  bits[1] = 0x04;     // of image 1 at (1, 2)
  const Tensor label_map = {.name = "labels", .dtype = v1::DTYPE_UINT8, .shape = {5, 2, 3}, .data = labels.data()};
  const Tensor binary_map = {.name = "bits", .dtype = v1::DTYPE_UINT8, .shape = {5, 2, 3}, .data = bits.data()};
  v1::DescribeResponse description;
  description.add_fields();
  description.add_fields()->set_kind(v1::FIELD_KIND_LABEL_MAP);
  description.add_fields()->set_kind(v1::FIELD_KIND_BINARY_MAP);
  const std::vector<Tensor> fields = {images.tensor, label_map, binary_map};
  const Overlays overlays = FindOverlays(images.tensor, fields, description.fields());
  ASSERT_EQ(overlays.maps.size(), 2);
  EXPECT_TRUE(FindOverlays(Images(5, 3, 2).tensor, fields, description.fields()).maps.empty());

  const Picture sheet = ContactSheet(images.tensor, 5, overlays);
  EXPECT_EQ(sheet.width, 4 + 6 * 7);  // two images with their maps in a row
  EXPECT_EQ(sheet.height, 4 + 3 * 6);
  for (int64_t tile = 3; tile < 6; ++tile)  // those of image 1
    for (int64_t y = 0; y < 2; ++y)
      for (int64_t x = 0; x < 3; ++x) {
        const bool shown = (tile == 4 && y == 0 && x == 1) || (tile == 5 && y == 1 && x == 2);
        EXPECT_EQ(Pixel(sheet, 4 + y, 4 + tile * 7 + x) == images.Pixel(1, y, x), !shown) << tile << y << x;
      }
}

// The pixels of the letters below an image: what differs from the background there.
std::vector<std::string> Written(const Picture& sheet, int64_t top, int64_t left, int64_t width) {
  std::vector<std::string> rows;
  for (int64_t y = top; y < top + 7; ++y) {
    rows.emplace_back();
    for (int64_t x = left; x < left + width; ++x) rows.back() += Pixel(sheet, y, x) == kBackground ? '.' : '#';
  }
  return rows;
}

TEST(ContactSheetTest, CaptionsStandBelowTheirImages) {
  const Images images(3, 2, 17);
  const std::vector<std::vector<std::string>> captions = {{"T"}, {"", "L1"}};
  const Picture sheet = ContactSheet(images.tensor, 3, {}, captions);
  EXPECT_EQ(sheet.height, 4 + 2 + 2 * 9 + 2 + 4);
  EXPECT_THAT(Written(sheet, 8, 4, 17),
              testing::ElementsAre("#####............", "..#..............", "..#..............", "..#..............",
                                   "..#..............", "..#..............", "..#.............."));
  EXPECT_THAT(Written(sheet, 17, 4 + 21, 17),
              testing::ElementsAre("#.......#........", "#......##........", "#.......#........", "#.......#........",
                                   "#.......#........", "#.......#........", "#####..###......."));
  EXPECT_THAT(Written(sheet, 8, 4 + 21, 17), testing::Each(std::string(17, '.')));
  EXPECT_THAT(Written(sheet, 8, 4 + 42, 17), testing::Each(std::string(17, '.')));
  for (int64_t x = 0; x < 17; ++x) EXPECT_EQ(Pixel(sheet, 4, 4 + x), images.Pixel(0, 0, x));
}

TEST(ContactSheetTest, LongCaptionsAreBrokenWithinTheirImagesTiles) {
  const Images images(2, 2, 29);
  const std::vector<std::vector<std::string>> captions = {{"TTTTTT"}};
  const Picture sheet = ContactSheet(images.tensor, 2, {}, captions);
  EXPECT_EQ(sheet.height, 4 + 2 + 2 * 9 + 2 + 4);
  EXPECT_EQ(Written(sheet, 8, 4, 33)[0], "#####.#####.#####.#####..........");  // Four fit.
  EXPECT_EQ(Written(sheet, 17, 4, 33)[0], "#####.#####......................");
  const std::vector<std::vector<std::string>> none = {{}, {}};
  EXPECT_EQ(ContactSheet(images.tensor, 2, {}, none).pixels, ContactSheet(images.tensor, 2).pixels);
}

TEST(ContactSheetTest, BoxesAndKeypointsAreDrawnOnCopiesOfTheirImages) {
  const Images images(2, 8, 10);
  const std::vector<float> boxes = {2, 1, 5, 4, -3, -3, 99, 99, NAN, 0, 1, 1}, points = {7, 6};
  const std::vector<int64_t> box_offsets = {0, 1, 3}, point_offsets = {0, 0, 1};
  const auto tensor = [](const char* name, v1::Dtype dtype, std::vector<int64_t> shape, const void* data) {
    return Tensor{.name = name, .dtype = dtype, .shape = std::move(shape), .data = data};
  };
  v1::DescribeResponse description;
  description.add_fields()->set_kind(v1::FIELD_KIND_BOXES);
  description.mutable_fields(0)->set_box_format(v1::BOX_FORMAT_XYWH);
  description.add_fields();
  description.add_fields()->set_kind(v1::FIELD_KIND_KEYPOINTS);
  const std::vector<Tensor> fields = {tensor("boxes", v1::DTYPE_FLOAT32, {3, 4}, boxes.data()), images.tensor,
                                      tensor("points", v1::DTYPE_FLOAT32, {1, 2}, points.data()),
                                      tensor("boxes.offsets", v1::DTYPE_INT64, {3}, box_offsets.data()),
                                      tensor("points.offsets", v1::DTYPE_INT64, {3}, point_offsets.data())};
  const Overlays overlays = FindOverlays(images.tensor, fields, description.fields());
  ASSERT_EQ(overlays.points.size(), 2);
  const Picture sheet = ContactSheet(images.tensor, 2, overlays);
  const auto is_drawn = [&](int64_t tile, int64_t y, int64_t x) {  // Three tiles an image, all in a row.
    return Pixel(sheet, 4 + y, 4 + tile * 14 + x) != images.Pixel(tile / 3, y, x);
  };
  for (int64_t y = 0; y < 8; ++y)
    for (int64_t x = 0; x < 10; ++x) {
      const bool in = x >= 2 && x < 7 && y >= 1 && y < 5, inner = x >= 3 && x < 6 && y >= 2 && y < 4;
      EXPECT_EQ(is_drawn(1, y, x), in && !inner) << y << " " << x;
      EXPECT_FALSE(is_drawn(0, y, x) || is_drawn(2, y, x) || is_drawn(3, y, x) || is_drawn(4, y, x)) << y << " " << x;
      EXPECT_EQ(is_drawn(5, y, x), x >= 6 && x < 9 && y >= 5 && y < 8) << y << " " << x;
    }
}

}  // namespace
}  // namespace stoker
