#include "common/ops/zoom.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/ops/append.h"
#include "common/ops/arguments.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr Range kDefaultSides = {1, 4};
constexpr Range kDefaultJitter = {0.1, 2};
constexpr int kMostSizes = 1024;

// Draws what torch.rand draws: a multiple of 2^-24 in [0, 1), each as likely.
float DrawShare(Draws& draws) { return static_cast<float>(draws.Bits() >> 8) * 0x1p-24F; }

// Draws a factor in float32, as torchvision does: where a side times the factor is close to a whole number, the type
// decides which pixel count it is rounded to.
float DrawFactor(Draws& draws, Range range) {
  return static_cast<float>(range.from) + DrawShare(draws) * static_cast<float>(range.to - range.from);
}

int64_t Truncated(int64_t extent, float factor) { return static_cast<int64_t>(static_cast<float>(extent) * factor); }

// A canvas is never smaller than its image, also where float32 has not all digits of the image's sides.
ImageSize CanvasOf(ImageSize image, float factor) {
  return {std::max(image.height, Truncated(image.height, factor)),
          std::max(image.width, Truncated(image.width, factor))};
}

// torchvision's target_size begins with the width. The factor that just fits is a float64 there, and becomes a float32
// when it meets the drawn one.
ImageSize JitteredSize(const v1::ScaleJitter& op, ImageSize image, float drawn) {
  const double fitting = std::min(static_cast<double>(op.target_size(1)) / static_cast<double>(image.height),
                                  static_cast<double>(op.target_size(0)) / static_cast<double>(image.width));
  const float factor = static_cast<float>(fitting) * drawn;
  return {std::max<int64_t>(1, Truncated(image.height, factor)), std::max<int64_t>(1, Truncated(image.width, factor))};
}

// The image by the factor that makes its shorter side `shorter`, or its longer side max_size where that is less. All is
// float64, as in torchvision, whose truncation may take a pixel off either.
ImageSize ShortestSize(const v1::RandomShortestSize& op, int shorter, ImageSize image) {
  const auto [least, most] = std::minmax({image.height, image.width});
  double factor = static_cast<double>(shorter) / static_cast<double>(least);
  if (op.max_size() != 0) factor = std::min(factor, static_cast<double>(op.max_size()) / static_cast<double>(most));
  const auto scaled = [&](int64_t extent) {
    return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(extent) * factor));
  };
  return {scaled(image.height), scaled(image.width)};
}

// Refuses to make an image larger than outputs may be. `mend` says which argument, and what to do about it.
absl::Status CheckSides(absl::string_view argument, ImageSize from, ImageSize to, absl::string_view mend) {
  if (to == from || (to.height <= kMaxExtent && to.width <= kMaxExtent)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(argument, ": an image of ", from.width, "×", from.height,
                                                    " would become ", to.width, "×", to.height, ", more than ",
                                                    kMaxExtent, " a side; ", mend));
}

// What CheckSides leaves of `size`.
ImageSize Allowed(ImageSize from, ImageSize size) {
  return {std::min(size.height, std::max<int64_t>(from.height, kMaxExtent)),
          std::min(size.width, std::max<int64_t>(from.width, kMaxExtent))};
}

// Writes out what RandomShortestSize and ScaleJitter have in common.
template <typename Arguments>
void FillResize(Arguments& op) {
  op.set_interpolation(OrBilinear(op.interpolation()));
  if (!op.has_antialias()) op.set_antialias(true);
}

template <typename Arguments>
bool Antialiases(const Arguments& op) {
  return !op.has_antialias() || op.antialias();
}

}  // namespace

absl::Status Description<v1::RandomZoomOut>::Validate(const v1::RandomZoomOut& op) {
  if (!op.side_range().empty() && op.side_range_size() != 2)
    return Invalid(op, "side_range", absl::StrCat("give two numbers, from and to; found ", op.side_range_size()));
  STOKER_RETURN_IF_ERROR(ValidateRangeWithin(op, "side_range", RangeOr(kDefaultSides, op.side_range()), 1, kMaxFactor));
  return ValidateFill(op);
}

void Description<v1::RandomZoomOut>::FillDefaults(v1::RandomZoomOut& op) {
  Set(ColorOf(op.fill()), op.mutable_fill());
  if (op.side_range().empty()) Set(kDefaultSides, op.mutable_side_range());
}

ImageSize Description<v1::RandomZoomOut>::MostSize(const v1::RandomZoomOut& op, ImageSize input) {
  return Allowed(input, CanvasOf(input, static_cast<float>(RangeOr(kDefaultSides, op.side_range()).to)));
}

absl::Status Description<v1::RandomZoomOut>::Draw(const v1::RandomZoomOut& op, Drawing& drawing) {
  const ImageSize image = drawing.size;
  const ImageSize canvas = CanvasOf(image, DrawFactor(drawing.draws, RangeOr(kDefaultSides, op.side_range())));
  const int64_t left = Truncated(canvas.width - image.width, DrawShare(drawing.draws));
  const int64_t top = Truncated(canvas.height - image.height, DrawShare(drawing.draws));
  STOKER_RETURN_IF_ERROR(CheckSides("RandomZoomOut.side_range", image, canvas, "lower it, or Resize first"));
  AppendCrop({-top, -left, canvas, ColorOf(op.fill()), v1::PADDING_MODE_CONSTANT, op.map_fill()}, drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::ScaleJitter>::Validate(const v1::ScaleJitter& op) {
  if (op.target_size_size() != 2)
    return Invalid(op, "target_size",
                   absl::StrCat("give two numbers, width and height; found ", op.target_size_size()));
  for (int extent : op.target_size()) STOKER_RETURN_IF_ERROR(ValidateWithin(op, "target_size", extent, 1, kMaxExtent));
  STOKER_RETURN_IF_ERROR(ValidatePositiveRange(op, "scale_range", op.scale_range(), kMaxFactor));
  return ValidateInterpolation(op, op.interpolation());
}

void Description<v1::ScaleJitter>::FillDefaults(v1::ScaleJitter& op) {
  if (op.scale_range().empty()) Set(kDefaultJitter, op.mutable_scale_range());
  FillResize(op);
}

std::optional<ImageSize> Description<v1::ScaleJitter>::OutputSize(const v1::ScaleJitter& op,
                                                                  std::optional<ImageSize> input) {
  if (!input.has_value() || op.scale_range().empty() || !IsOneValue(op.scale_range())) return std::nullopt;
  return JitteredSize(op, *input, static_cast<float>(op.scale_range(0)));
}

ImageSize Description<v1::ScaleJitter>::MostSize(const v1::ScaleJitter& op, ImageSize input) {
  return Allowed(input, JitteredSize(op, input, static_cast<float>(RangeOr(kDefaultJitter, op.scale_range()).to)));
}

bool Description<v1::ScaleJitter>::IsDeterministic(const v1::ScaleJitter& op) { return IsOneValue(op.scale_range()); }

absl::Status Description<v1::ScaleJitter>::Draw(const v1::ScaleJitter& op, Drawing& drawing) {
  const float factor = DrawFactor(drawing.draws, RangeOr(kDefaultJitter, op.scale_range()));
  const ImageSize to = JitteredSize(op, drawing.size, factor);
  STOKER_RETURN_IF_ERROR(
      CheckSides("ScaleJitter.scale_range", drawing.size, to, "lower it, or give a smaller target_size"));
  AppendResize(to, op.interpolation(), Antialiases(op), drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::RandomShortestSize>::Validate(const v1::RandomShortestSize& op) {
  if (op.min_size().empty() || op.min_size_size() > kMostSizes)
    return Invalid(op, "min_size", absl::StrCat("give 1 to ", kMostSizes, " numbers; found ", op.min_size_size()));
  for (int extent : op.min_size()) STOKER_RETURN_IF_ERROR(ValidateWithin(op, "min_size", extent, 1, kMaxExtent));
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "max_size", op.max_size(), 0, kMaxExtent));
  return ValidateInterpolation(op, op.interpolation());
}

void Description<v1::RandomShortestSize>::FillDefaults(v1::RandomShortestSize& op) { FillResize(op); }

std::optional<ImageSize> Description<v1::RandomShortestSize>::OutputSize(const v1::RandomShortestSize& op,
                                                                         std::optional<ImageSize> input) {
  if (!input.has_value() || !IsOneValue(op.min_size())) return std::nullopt;
  return ShortestSize(op, op.min_size(0), *input);
}

ImageSize Description<v1::RandomShortestSize>::MostSize(const v1::RandomShortestSize& op, ImageSize input) {
  return Allowed(input, ShortestSize(op, *std::max_element(op.min_size().begin(), op.min_size().end()), input));
}

bool Description<v1::RandomShortestSize>::IsDeterministic(const v1::RandomShortestSize& op) {
  return IsOneValue(op.min_size());
}

absl::Status Description<v1::RandomShortestSize>::Draw(const v1::RandomShortestSize& op, Drawing& drawing) {
  const auto chosen = static_cast<int>(drawing.draws.Below(op.min_size_size()));
  const ImageSize to = ShortestSize(op, op.min_size(chosen), drawing.size);
  STOKER_RETURN_IF_ERROR(CheckSides("RandomShortestSize.min_size", drawing.size, to, "set max_size"));
  AppendResize(to, op.interpolation(), Antialiases(op), drawing);
  return absl::OkStatus();
}

Cost Description<v1::RandomZoomOut>::CostOf(const v1::RandomZoomOut&, ImageSize, ImageSize output) {
  return CostOfPixels(output, 3);  // A copy.
}
Cost Description<v1::ScaleJitter>::CostOf(const v1::ScaleJitter& op, ImageSize input, ImageSize output) {
  return CostOfResize(OrBilinear(op.interpolation()), input, output);
}
Cost Description<v1::RandomShortestSize>::CostOf(const v1::RandomShortestSize& op, ImageSize input, ImageSize output) {
  return CostOfResize(OrBilinear(op.interpolation()), input, output);
}

}  // namespace stoker
