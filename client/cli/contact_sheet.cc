#include "client/cli/contact_sheet.h"

#include <spng.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr int64_t kChannels = 3;
constexpr int64_t kColumns = 8;
constexpr int64_t kMargin = 4;            // pixels
constexpr int64_t kMostTilePixels = 512;  // pixels of a tile's longer side
constexpr uint8_t kBackground = 32;

// Refers to the pixels of one image.
struct Image {
  const uint8_t* pixels;
  int64_t height, width;

  uint8_t At(int64_t y, int64_t x, int64_t channel) const { return pixels[(y * width + x) * kChannels + channel]; }
};

// Returns the mean of a square of `side` × `side` pixels whose upper left one is (top, left), as far as it lies in the
// image.
uint8_t Mean(const Image& image, int64_t top, int64_t left, int64_t side, int64_t channel) {
  const int64_t bottom = std::min(top + side, image.height), right = std::min(left + side, image.width);
  int64_t sum = 0;
  for (int64_t y = top; y < bottom; ++y)
    for (int64_t x = left; x < right; ++x) sum += image.At(y, x, channel);
  const int64_t area = (bottom - top) * (right - left);
  return static_cast<uint8_t>((sum + area / 2) / area);
}

// Draws the image, `shrink` times smaller, into the sheet at (top, left).
void Place(const Image& image, int64_t shrink, int64_t top, int64_t left, Picture& sheet) {
  for (int64_t y = 0; y * shrink < image.height; ++y) {
    uint8_t* out = sheet.pixels.data() + ((top + y) * sheet.width + left) * kChannels;
    for (int64_t x = 0; x * shrink < image.width; ++x)
      for (int64_t c = 0; c < kChannels; ++c) *out++ = Mean(image, y * shrink, x * shrink, shrink, c);
  }
}

absl::Status ToStatus(int error) {
  if (error == SPNG_OK) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("cannot encode the picture as PNG: ", spng_strerror(error)));
}

}  // namespace

const Tensor* FindImages(const std::vector<Tensor>& fields) {
  for (const Tensor& field : fields)
    if (field.dtype == v1::DTYPE_UINT8 && (field.shape.size() == 4 || field.shape.size() == 5) &&
        field.shape.back() == kChannels)
      return &field;
  return nullptr;
}

Picture ContactSheet(const Tensor& images, int64_t count) {
  STOKER_CHECK(images.dtype == v1::DTYPE_UINT8 && images.shape.size() >= 4 && images.shape.back() == kChannels);
  const size_t axes = images.shape.size();
  const int64_t all = axes == 5 ? images.shape[0] * images.shape[1] : images.shape[0];
  const int64_t tiles = std::min(count, all), height = images.shape[axes - 3], width = images.shape[axes - 2];
  const int64_t shrink = (std::max(height, width) - 1) / kMostTilePixels + 1;
  const int64_t step_y = (height - 1) / shrink + 1 + kMargin, step_x = (width - 1) / shrink + 1 + kMargin;
  const int64_t columns = std::clamp<int64_t>(tiles, 1, kColumns),
                rows = std::max<int64_t>(1, (tiles - 1) / columns + 1);

  Picture sheet{.height = rows * step_y + kMargin, .width = columns * step_x + kMargin};
  sheet.pixels.assign(sheet.height * sheet.width * kChannels, kBackground);
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const uint8_t* pixels = static_cast<const uint8_t*>(images.data) + tile * height * width * kChannels;
    Place({pixels, height, width}, shrink, kMargin + tile / columns * step_y, kMargin + tile % columns * step_x, sheet);
  }
  return sheet;
}

absl::StatusOr<std::string> EncodePng(const Picture& picture) {
  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free);
  if (context == nullptr) return ToStatus(SPNG_EMEM);
  spng_ihdr header = {.width = static_cast<uint32_t>(picture.width),
                      .height = static_cast<uint32_t>(picture.height),
                      .bit_depth = 8,
                      .color_type = SPNG_COLOR_TYPE_TRUECOLOR};
  STOKER_RETURN_IF_ERROR(ToStatus(spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1)));
  STOKER_RETURN_IF_ERROR(ToStatus(spng_set_ihdr(context.get(), &header)));
  STOKER_RETURN_IF_ERROR(ToStatus(spng_encode_image(context.get(), picture.pixels.data(), picture.pixels.size(),
                                                    SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE)));
  int error = SPNG_OK;
  size_t size = 0;
  const std::unique_ptr<void, decltype(&std::free)> png(spng_get_png_buffer(context.get(), &size, &error), std::free);
  STOKER_RETURN_IF_ERROR(ToStatus(error));
  return std::string(static_cast<const char*>(png.get()), size);
}

}  // namespace stoker
