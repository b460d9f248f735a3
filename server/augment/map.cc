#include "server/augment/map.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/fields/schema.h"
#include "server/augment/pixel.h"

namespace stoker {
namespace {

Color PixelOf(int32_t value) { return {static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8), 0}; }

// What each op does to a map; nothing where it does not move the image.
struct ToMapOp {
  std::optional<OpParameters> operator()(CropParameters crop) const {
    crop.fill = PixelOf(crop.map_fill);
    return crop;
  }
  std::optional<OpParameters> operator()(const ResizeParameters& resize) const {
    return ResizeParameters{resize.size, v1::INTERPOLATION_NEAREST, false};
  }
  std::optional<OpParameters> operator()(const FlipParameters& flip) const { return flip; }
  std::optional<OpParameters> operator()(AffineParameters affine) const { return Nearest(affine); }
  std::optional<OpParameters> operator()(PerspectiveParameters perspective) const { return Nearest(perspective); }
  std::optional<OpParameters> operator()(ElasticParameters elastic) const { return Nearest(elastic); }
  template <typename Other>
  std::optional<OpParameters> operator()(const Other&) const {
    return std::nullopt;
  }

  template <typename Warp>
  static OpParameters Nearest(Warp warp) {
    warp.fill = PixelOf(warp.map_fill);
    warp.interpolation = v1::INTERPOLATION_NEAREST;
    return warp;
  }
};

// Returns what of a pixel's value `dtype` cannot hold; 0 where it holds all.
uint8_t Beyond(const uint8_t* pixel, v1::Dtype dtype) { return pixel[2] | (dtype == v1::DTYPE_UINT8 ? pixel[1] : 0); }

absl::Status TooLarge(v1::Dtype dtype) {
  return absl::DataLossError(absl::StrCat("a map's value is above ", dtype == v1::DTYPE_UINT8 ? "255" : "32767",
                                          ", the most that ", DtypeName(dtype), " holds",
                                          dtype == v1::DTYPE_UINT8 ? "; set the field's dtype to int16" : ""));
}

void WriteBits(std::span<const uint8_t> rgb, std::span<uint8_t> out) {
  std::fill(out.begin(), out.end(), uint8_t{0});
  for (size_t i = 0; i * kChannels < rgb.size(); ++i)
    if (rgb[kChannels * i] != 0 || rgb[kChannels * i + 1] != 0) out[i / 8] |= 0x80 >> i % 8;
}

}  // namespace

std::vector<OpParameters> MapOps(std::span<const OpParameters> ops) {
  std::vector<OpParameters> moves;
  for (const OpParameters& op : ops)
    if (auto move = std::visit(ToMapOp(), op); move.has_value()) moves.push_back(*move);
  return moves;
}

void WriteMapPixels(std::span<const uint8_t> values, v1::Dtype dtype, uint8_t* rgb) {
  const size_t bytes = ByteSize(dtype);
  for (size_t i = 0; i < values.size(); i += bytes, rgb += kChannels) {
    rgb[0] = values[i];
    rgb[1] = bytes == 2 ? values[i + 1] : 0;
    rgb[2] = 0;
  }
}

absl::Status CheckMapValues(const ImageView& pixels, v1::FieldKind kind, v1::Dtype dtype) {
  if (kind == v1::FIELD_KIND_BINARY_MAP) return absl::OkStatus();
  uint8_t beyond = 0;
  for (int64_t y = 0; y < pixels.size.height; ++y)
    for (int64_t x = 0; x < pixels.size.width; ++x) beyond |= Beyond(pixels.At(y, x), dtype);
  return beyond == 0 ? absl::OkStatus() : TooLarge(dtype);
}

absl::Status WriteMapValues(std::span<const uint8_t> rgb, v1::FieldKind kind, v1::Dtype dtype, std::span<uint8_t> out) {
  const size_t count = rgb.size() / kChannels;
  if (kind == v1::FIELD_KIND_BINARY_MAP) {
    STOKER_CHECK(out.size() == (count + 7) / 8);
    WriteBits(rgb, out);
    return absl::OkStatus();
  }
  const size_t bytes = ByteSize(dtype);
  STOKER_CHECK(out.size() == count * bytes);
  uint8_t beyond = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* const pixel = &rgb[kChannels * i];
    out[i * bytes] = pixel[0];
    if (bytes == 2) out[i * bytes + 1] = pixel[1];
    beyond |= Beyond(pixel, dtype);
  }
  return beyond == 0 ? absl::OkStatus() : TooLarge(dtype);
}

}  // namespace stoker
