#include "server/augment/self_check.h"

#include <xxhash.h>

#include <span>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/augment/augmenter.h"
#include "server/augment/image_plan.h"
#include "server/augment/self_check_images.h"
#include "server/decode/decoder.h"

namespace stoker {
namespace {

using Recipe = std::vector<OpParameters>;

constexpr ImageSize kSize = {16, 16};

std::vector<Recipe> GeometryRecipes() {
  using Axis = FlipParameters::Axis;
  const CropParameters inside = {3, 5, {11, 17}}, padded = {-4, 9, {21, 33}, {90, 160, 230}};
  const CropParameters edge = {-3, -2, {20, 34}, {}, v1::PADDING_MODE_EDGE};
  const CropParameters reflected = {-5, 6, {18, 30}, {}, v1::PADDING_MODE_REFLECT};
  const CropParameters mirrored = {4, -7, {22, 25}, {}, v1::PADDING_MODE_SYMMETRIC};
  return {
      {ResizeParameters{kSize}},
      {inside, ResizeParameters{kSize, v1::INTERPOLATION_BICUBIC}, FlipParameters{Axis::kHorizontal}},
      {inside, ResizeParameters{kSize, v1::INTERPOLATION_LANCZOS}, FlipParameters{Axis::kVertical}},
      {padded, ResizeParameters{kSize, v1::INTERPOLATION_BILINEAR, false}, FlipParameters{Axis::kVertical}},
      {ResizeParameters{{40, 50}, v1::INTERPOLATION_NEAREST}, CropParameters{20, 20, kSize}},
      {ResizeParameters{{9, 30}, v1::INTERPOLATION_BICUBIC}, CropParameters{-3, 4, kSize}},
      {CropParameters{1, 3, {17, 25}}, ResizeParameters{{2, 3}}},  // A JPEG is decoded at a reduced size.
      {edge, FlipParameters{Axis::kHorizontal}},
      {reflected},
      {mirrored},
  };
}

std::vector<Recipe> ColorRecipes() {
  using Kind = ColorParameters::Kind;
  const auto color = [](Kind kind, double value = 0) { return ColorParameters{kind, value}; };
  return {
      {color(Kind::kBrightness, 1.3), color(Kind::kContrast, 0.7), color(Kind::kSaturation, 1.6)},
      {color(Kind::kHue, 0.2)},
      {color(Kind::kHue, -0.45), color(Kind::kContrast, 1.9)},
      {color(Kind::kGrayscale)},
      {color(Kind::kYCbCr)},
      {color(Kind::kPosterize, 3), color(Kind::kInvert)},
      {color(Kind::kSolarize, 100), color(Kind::kSaturation, 0.2)},
      {color(Kind::kBrightness, 0.6), color(Kind::kAutocontrast)},
      {color(Kind::kEqualize)},
  };
}

std::vector<Recipe> OtherRecipes() {
  const AffineParameters nearest = {{0.9, 0.2, -1.5, -0.3, 1.1, 2.25}, v1::INTERPOLATION_NEAREST, {9, 8, 7}};
  const AffineParameters bilinear = {{0.8, -0.4, 3.5, 0.1, 0.7, 0.75}, v1::INTERPOLATION_BILINEAR, {70, 80, 90}};
  return {
      {BlurParameters{5, 3, 1.2}},
      {BlurParameters{9, 11, 2.5}, CropParameters{2, 3, {9, 14}}},
      {SharpnessParameters{0}},
      {SharpnessParameters{1.9}},
      {nearest},
      {bilinear},
      {EraseParameters{3, 4, {8, 9}, {200, 100, 50}}},
      {MaskParameters{0.2, true, {1, 2, 3, 4, 5}}},
      {MaskParameters{0.4, false, {6, 7, 8, 9, 10}}},
  };
}

std::vector<Recipe> Recipes() {
  std::vector<Recipe> all = GeometryRecipes();
  for (const auto& more : {ColorRecipes(), OtherRecipes()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Appends the pixels that every recipe makes of the image in `file`.
absl::Status AppendPixels(const std::string& file, std::vector<uint8_t>& pixels) {
  const std::span bytes(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  Decoder decoder;
  DecodedImage image;
  Augmenter augmenter;
  STOKER_ASSIGN_OR_RETURN(const ImageSize size, decoder.Open(bytes, {}));
  for (const Recipe& ops : Recipes()) {
    const ImagePlan plan = ImagePlan::Make(size, ops, v1::JPEG_SCALING_K2);
    const size_t result_bytes = plan.result().height * plan.result().width * 3;
    STOKER_RETURN_IF_ERROR(decoder.Decode(plan.target(), image));
    pixels.resize(pixels.size() + result_bytes);
    STOKER_RETURN_IF_ERROR(augmenter.Apply(plan, SourceOf(image), std::span(pixels).last(result_bytes)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<uint64_t> PixelCheck() {
  std::vector<uint8_t> pixels;
  for (const SelfCheckImage& image : kSelfCheckImages) {
    const absl::Status status = AppendPixels(absl::HexStringToBytes(image.file), pixels);
    if (!status.ok())
      return absl::InternalError(
          absl::StrCat("this build cannot decode the ", image.name, " of its self check: ", status.message()));
  }
  return XXH3_64bits(pixels.data(), pixels.size());
}

}  // namespace stoker
