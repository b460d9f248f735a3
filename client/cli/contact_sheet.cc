#include "client/cli/contact_sheet.h"

#include <spng.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/fields/schema.h"
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

// Returns the label of pixel number `i` of image number `number`.
int64_t LabelAt(const ImageMap& map, int64_t number, int64_t i, int64_t pixels) {
  if (map.kind != v1::FIELD_KIND_BINARY_MAP)
    return WholeNumberAt(map.values.data, map.values.dtype, number * pixels + i);
  const auto* bits = static_cast<const uint8_t*>(map.values.data) + number * ((pixels + 7) / 8);
  return bits[i / 8] >> (7 - i % 8) & 1;
}

// Returns a channel of the color that shows a label: colors of neighboring labels differ.
int ColorOf(int64_t label, int channel) {
  const uint64_t color = static_cast<uint64_t>(label) * 0x9e3779b97f4a7c15;
  return static_cast<int>(color >> (40 + 8 * channel) & 0xff);
}

// Returns the pixels of the image with the map laid over it, half and half.
std::vector<uint8_t> Overlaid(const Image& image, const ImageMap& map, int64_t number) {
  const int64_t pixels = image.height * image.width;
  std::vector<uint8_t> overlaid(image.pixels, image.pixels + pixels * kChannels);
  for (int64_t i = 0; i < pixels; ++i) {
    const int64_t label = LabelAt(map, number, i, pixels);
    if (label == 0) continue;
    for (int c = 0; c < kChannels; ++c) {
      uint8_t& value = overlaid[i * kChannels + c];
      value = static_cast<uint8_t>((value + ColorOf(label, c) + 1) / 2);
    }
  }
  return overlaid;
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

std::vector<ImageMap> FindMaps(const Tensor& images, const std::vector<Tensor>& fields,
                               const google::protobuf::RepeatedPtrField<v1::Field>& sent) {
  std::vector<ImageMap> maps;
  for (size_t i = 0; i < fields.size(); ++i) {
    const v1::FieldKind kind = sent[static_cast<int>(i)].kind();
    const std::vector<int64_t>& shape = fields[i].shape;
    const bool fits =
        images.shape.size() == 4 && shape.size() == 3 && std::equal(shape.begin(), shape.end(), images.shape.begin());
    if (IsMap(kind) && fits) maps.push_back({fields[i], kind});
  }
  return maps;
}

Picture ContactSheet(const Tensor& images, int64_t count, const std::vector<ImageMap>& maps) {
  STOKER_CHECK(images.dtype == v1::DTYPE_UINT8 && images.shape.size() >= 4 && images.shape.back() == kChannels);
  const size_t axes = images.shape.size();
  const int64_t all = axes == 5 ? images.shape[0] * images.shape[1] : images.shape[0];
  const int64_t height = images.shape[axes - 3], width = images.shape[axes - 2];
  const int64_t shrink = (std::max(height, width) - 1) / kMostTilePixels + 1;
  const int64_t step_y = (height - 1) / shrink + 1 + kMargin, step_x = (width - 1) / shrink + 1 + kMargin;
  const int64_t tiles_each = 1 + static_cast<int64_t>(maps.size()), tiles = std::min(count, all) * tiles_each;
  const int64_t most_columns = std::max<int64_t>(kColumns / tiles_each, 1) * tiles_each;
  const int64_t columns = std::clamp<int64_t>(tiles, 1, most_columns),
                rows = std::max<int64_t>(1, (tiles - 1) / columns + 1);

  Picture sheet{.height = rows * step_y + kMargin, .width = columns * step_x + kMargin};
  sheet.pixels.assign(sheet.height * sheet.width * kChannels, kBackground);
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t number = tile / tiles_each, map = tile % tiles_each - 1;
    Image image = {static_cast<const uint8_t*>(images.data) + number * height * width * kChannels, height, width};
    std::vector<uint8_t> overlaid;
    if (map >= 0) {
      overlaid = Overlaid(image, maps[map], number);
      image.pixels = overlaid.data();
    }
    Place(image, shrink, kMargin + tile / columns * step_y, kMargin + tile % columns * step_x, sheet);
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
