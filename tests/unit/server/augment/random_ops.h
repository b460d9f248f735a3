#ifndef STOKER_TESTS_UNIT_SERVER_AUGMENT_RANDOM_OPS_H_
#define STOKER_TESTS_UNIT_SERVER_AUGMENT_RANDOM_OPS_H_

#include <algorithm>
#include <random>
#include <vector>

#include "common/ops/parameters.h"
#include "server/decode/image.h"

namespace stoker {

// Draws pipelines such as DrawOp might make, often with values that change nothing.
class RandomOps {
 public:
  explicit RandomOps(uint32_t seed) : random_(seed) {}

  int64_t Between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

  ImageSize Size() { return {Between(1, 24), Between(1, 24)}; }

  // Returns up to `most` ops for an image of `size`.
  std::vector<OpParameters> Ops(ImageSize size, int64_t most) {
    std::vector<OpParameters> ops;
    for (int64_t n = Between(0, most); n > 0; --n) {
      ops.push_back(Op(size));
      if (const auto* crop = std::get_if<CropParameters>(&ops.back())) size = crop->size;
      if (const auto* resize = std::get_if<ResizeParameters>(&ops.back())) size = resize->size;
    }
    return ops;
  }

  // Returns some rectangle of an image of size `whole` that contains `inner`.
  Region Around(const Region& inner, ImageSize whole) {
    const int64_t top = Between(0, inner.top), left = Between(0, inner.left);
    return {top, left, {Between(inner.bottom(), whole.height) - top, Between(inner.right(), whole.width) - left}};
  }

 private:
  bool Coin() { return Between(0, 1) == 1; }
  double Factor() { return static_cast<double>(Between(0, 8)) / 4; }

  OpParameters Op(ImageSize size) {
    switch (Between(0, 17)) {
      case 0:
      case 1: return Inside(size);
      case 2: return Padded(size);
      case 3:
      case 4: return Resize(size);
      case 5: return FlipParameters{FlipParameters::Axis::kHorizontal};
      case 6: return FlipParameters{FlipParameters::Axis::kVertical};
      case 7:
      case 8: return Color();
      case 9: return SharpnessParameters{Factor()};
      case 10: return Blur(size);
      case 11: return ApplyAffine();
      case 12: return NoiseParameters{0, static_cast<double>(Between(0, 4)) / 16, {.position = 8}};
      case 13: return RecompressParameters{static_cast<int>(Between(1, 100))};
      case 14: return Perspective();
      case 16:
        return MixedChainsParameters{{{Color()}, {ApplyAffine(), SharpnessParameters{2}}},
                                     {kMixedWhole - 9000, 4000, 5000}};
      case 15: return ElasticParameters{.length_across = Factor(), .length_down = Factor(), .key = {.position = 9}};
      default: return Cover(size);
    }
  }

  CropParameters Inside(ImageSize size) {
    const int64_t top = Between(0, size.height - 1), left = Between(0, size.width - 1);
    return {top, left, {Between(1, size.height - top), Between(1, size.width - left)}};
  }

  CropParameters Padded(ImageSize size) {
    const auto padding = static_cast<v1::PaddingMode>(Between(1, 4));
    if (padding == v1::PADDING_MODE_CONSTANT) {
      const uint8_t red = Coin() ? 1 : 2;
      return {Between(-12, 16), Between(-12, 16), Size(), {red, 22, 233}};
    }
    const auto [top, height] = PaddedAxis(size.height, padding);
    const auto [left, width] = PaddedAxis(size.width, padding);
    return {top, left, {height, width}, {}, padding};
  }

  // A run that reaches over both borders by up to what the mode allows.
  std::pair<int64_t, int64_t> PaddedAxis(int64_t extent, v1::PaddingMode padding) {
    const int64_t most = std::min<int64_t>(padding == v1::PADDING_MODE_REFLECT ? extent - 1 : extent, 9);
    const int64_t begin = Between(-most, extent - 1);
    return {begin, Between(1, extent + most - begin)};
  }

  ResizeParameters Resize(ImageSize size) {
    const auto interpolation = static_cast<v1::Interpolation>(Between(1, 4));
    return {Between(0, 5) == 0 ? size : Size(), interpolation, interpolation == v1::INTERPOLATION_LANCZOS || Coin()};
  }

  ColorParameters Color() {
    using Kind = ColorParameters::Kind;
    const auto kind = static_cast<Kind>(Between(0, 10));
    switch (kind) {
      case Kind::kHue: return {kind, static_cast<double>(Between(-4, 4)) / 8};
      case Kind::kPosterize: return {kind, static_cast<double>(Between(0, 8))};
      case Kind::kSolarize: return {kind, static_cast<double>(Between(0, 4) * 64)};
      default: return {kind, Factor()};
    }
  }

  BlurParameters Blur(ImageSize size) {
    const auto kernel = [&](int64_t extent) {
      return static_cast<int>(2 * Between(0, std::min<int64_t>(extent - 1, 5)) + 1);
    };
    return {kernel(size.width), kernel(size.height), static_cast<double>(Between(1, 8)) / 4};
  }

  AffineParameters ApplyAffine() {
    AffineParameters warp;
    warp.fill = {50, 60, 70};
    if (Coin()) warp.interpolation = v1::INTERPOLATION_BILINEAR;
    for (double& value : warp.matrix)
      value += static_cast<double>(Between(-6, 6)) / 8 * static_cast<double>(Between(0, 1));
    return warp;
  }

  PerspectiveParameters Perspective() {
    PerspectiveParameters warp;
    warp.fill = {50, 60, 70};
    if (Coin()) warp.interpolation = v1::INTERPOLATION_NEAREST;
    for (double& value : warp.coefficients) value += static_cast<double>(Between(-6, 6)) / 64;
    return warp;
  }

  OpParameters Cover(ImageSize size) {
    if (Coin()) return MaskParameters{static_cast<double>(Between(0, 3)) / 8, Coin(), {.position = 7}};
    const CropParameters inside = Inside(size);
    return EraseParameters{inside.top, inside.left, inside.size, {9, 99, 199}};
  }

  std::mt19937 random_;
};

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_AUGMENT_RANDOM_OPS_H_
