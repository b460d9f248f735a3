#include "server/augment/self_check.h"

#include <xxhash.h>

#include <span>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/augment/augmenter.h"
#include "server/augment/self_check_images.h"
#include "server/decode/decoder.h"

namespace stoker {
namespace {

constexpr ImageSize kSize = {16, 16};

// Each list ends in an image of kSize.
std::vector<std::vector<OpParameters>> Recipes() {
  using Axis = FlipParameters::Axis;
  const CropParameters inside = {3, 5, {11, 17}}, padded = {-4, 9, {21, 33}, {90, 160, 230}};
  return {
      {ResizeParameters{kSize}},
      {inside, ResizeParameters{kSize, v1::INTERPOLATION_BICUBIC}, FlipParameters{Axis::kHorizontal}},
      {padded, ResizeParameters{kSize, v1::INTERPOLATION_BILINEAR, false}, FlipParameters{Axis::kVertical}},
      {ResizeParameters{{40, 50}, v1::INTERPOLATION_NEAREST}, CropParameters{20, 20, kSize}},
      {ResizeParameters{{9, 30}, v1::INTERPOLATION_BICUBIC}, CropParameters{-3, 4, kSize}},
  };
}

// Appends what every recipe makes of the image in `file`.
absl::Status AppendPixels(const std::string& file, std::vector<uint8_t>& pixels) {
  const std::span bytes(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  const size_t result_bytes = kSize.height * kSize.width * 3;
  Decoder decoder;
  DecodedImage image;
  Augmenter augmenter;
  STOKER_ASSIGN_OR_RETURN(const ImageSize size, decoder.ReadHeader(bytes, {}));
  for (const std::vector<OpParameters>& ops : Recipes()) {
    STOKER_RETURN_IF_ERROR(decoder.Decode(bytes, {}, Augmenter::Needed(size, ops), image));
    pixels.resize(pixels.size() + result_bytes);
    augmenter.Apply(image.view(), image.region, size, ops, std::span(pixels).last(result_bytes));
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
