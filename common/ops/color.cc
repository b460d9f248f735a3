#include "common/ops/color.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/ops/append.h"
#include "common/ops/arguments.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

using Kind = ColorParameters::Kind;

// A number x for factors from max(0, 1 − x) to 1 + x, or from and to; none leaves 1.
absl::Status ValidateFactors(const v1::ColorJitter& op, absl::string_view argument, const Numbers& factors) {
  if (factors.size() == 2) return ValidateRangeWithin(op, argument, {factors[0], factors[1]}, 0, kMaxFactor);
  return ValidateSpread(op, argument, factors, kMaxFactor - 1);
}

Range FactorsOf(const Numbers& factors) {
  if (factors.size() == 2) return {factors[0], factors[1]};
  const Range spread = SpreadOf(factors);
  return {std::max(0.0, 1 + spread.from), 1 + spread.to};
}

}  // namespace

absl::Status Description<v1::ColorJitter>::Validate(const v1::ColorJitter& op) {
  STOKER_RETURN_IF_ERROR(ValidateFactors(op, "brightness", op.brightness()));
  STOKER_RETURN_IF_ERROR(ValidateFactors(op, "contrast", op.contrast()));
  STOKER_RETURN_IF_ERROR(ValidateFactors(op, "saturation", op.saturation()));
  return ValidateSpread(op, "hue", op.hue(), 0.5);
}

void Description<v1::ColorJitter>::FillDefaults(v1::ColorJitter& op) {
  for (Numbers* factors : {op.mutable_brightness(), op.mutable_contrast(), op.mutable_saturation()})
    Set(FactorsOf(*factors), factors);
  Set(SpreadOf(op.hue()), op.mutable_hue());
}

// At most one of the four changes anything, so that their order does not matter, and always by the same.
bool Description<v1::ColorJitter>::IsDeterministic(const v1::ColorJitter& op) {
  int active = 0;
  for (const Numbers* factors : {&op.brightness(), &op.contrast(), &op.saturation()}) {
    if (!IsOneValue(*factors)) return false;
    active += factors->Get(0) != 1;
  }
  return IsOneValue(op.hue()) && active + (op.hue(0) != 0) <= 1;
}

DeviceTraits Description<v1::ColorJitter>::OnDevice(const v1::ColorJitter& op, ImageSize) {
  return {.pass = DevicePass::kColors, .most_colors = 4, .contrast = !op.contrast().empty()};
}

Cost Description<v1::ColorJitter>::CostOf(const v1::ColorJitter&, ImageSize, ImageSize output) {
  return CostOfPixels(output,
                      Description<v1::AdjustBrightness>::kArithmetic + Description<v1::AdjustContrast>::kArithmetic +
                          Description<v1::AdjustSaturation>::kArithmetic + Description<v1::AdjustHue>::kArithmetic);
}

// All is drawn whether it is given or not: one argument must not move what the others draw.
absl::Status Description<v1::ColorJitter>::Draw(const v1::ColorJitter& op, Drawing& drawing) {
  std::array<ColorParameters, 4> colors;
  colors[0] = {Kind::kBrightness, Uniform(drawing.draws, FactorsOf(op.brightness()))};
  colors[1] = {Kind::kContrast, Uniform(drawing.draws, FactorsOf(op.contrast()))};
  colors[2] = {Kind::kSaturation, Uniform(drawing.draws, FactorsOf(op.saturation()))};
  colors[3] = {Kind::kHue, Uniform(drawing.draws, SpreadOf(op.hue()))};
  for (int last = 3; last > 0; --last) std::swap(colors[last], colors[drawing.draws.Below(last + 1)]);
  for (const ColorParameters& color : colors) AppendColor(color.kind, color.value, drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::Grayscale>::Validate(const v1::Grayscale& op) {
  if (op.num_output_channels() != 3)
    return Invalid(
        op, "num_output_channels",
        absl::StrCat("must be 3, found ", op.num_output_channels(), "; images have three channels here, and ",
                     "torchvision's default of 1 is not offered"));
  return absl::OkStatus();
}

absl::Status Description<v1::Grayscale>::Draw(const v1::Grayscale&, Drawing& drawing) {
  AppendColor(Kind::kGrayscale, 0, drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::RandomGrayscale>::Draw(const v1::RandomGrayscale&, Drawing& drawing) {
  AppendColor(Kind::kGrayscale, 0, drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::ConvertColor>::Validate(const v1::ConvertColor& op) {
  if (op.to() != v1::COLOR_SPACE_YCBCR) return Invalid(op, "to", "must be ycbcr");
  return absl::OkStatus();
}

absl::Status Description<v1::ConvertColor>::Draw(const v1::ConvertColor&, Drawing& drawing) {
  AppendColor(Kind::kYCbCr, 0, drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::RandomPosterize>::Validate(const v1::RandomPosterize& op) {
  return ValidateGiven(op, "bits", op.has_bits(), op.bits(), 0, 8);
}

absl::Status Description<v1::RandomPosterize>::Draw(const v1::RandomPosterize& op, Drawing& drawing) {
  AppendColor(Kind::kPosterize, op.bits(), drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::RandomSolarize>::Validate(const v1::RandomSolarize& op) {
  return ValidateGiven(op, "threshold", op.has_threshold(), op.threshold(), 0, 256);
}

absl::Status Description<v1::RandomSolarize>::Draw(const v1::RandomSolarize& op, Drawing& drawing) {
  AppendColor(Kind::kSolarize, std::ceil(op.threshold()), drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::RandomEqualize>::Draw(const v1::RandomEqualize&, Drawing& drawing) {
  AppendColor(Kind::kEqualize, 0, drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::RandomAutocontrast>::Draw(const v1::RandomAutocontrast&, Drawing& drawing) {
  AppendColor(Kind::kAutocontrast, 0, drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::RandomInvert>::Draw(const v1::RandomInvert&, Drawing& drawing) {
  AppendColor(Kind::kInvert, 0, drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::AdjustBrightness>::Validate(const v1::AdjustBrightness& op) {
  return ValidateGiven(op, "brightness_factor", op.has_brightness_factor(), op.brightness_factor(), 0, kMaxFactor);
}

absl::Status Description<v1::AdjustBrightness>::Draw(const v1::AdjustBrightness& op, Drawing& drawing) {
  AppendColor(Kind::kBrightness, op.brightness_factor(), drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::AdjustContrast>::Validate(const v1::AdjustContrast& op) {
  return ValidateGiven(op, "contrast_factor", op.has_contrast_factor(), op.contrast_factor(), 0, kMaxFactor);
}

DeviceTraits Description<v1::AdjustContrast>::OnDevice(const v1::AdjustContrast&, ImageSize) {
  return {.pass = DevicePass::kColors, .most_colors = 1, .contrast = true};
}

absl::Status Description<v1::AdjustContrast>::Draw(const v1::AdjustContrast& op, Drawing& drawing) {
  AppendColor(Kind::kContrast, op.contrast_factor(), drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::AdjustSaturation>::Validate(const v1::AdjustSaturation& op) {
  return ValidateGiven(op, "saturation_factor", op.has_saturation_factor(), op.saturation_factor(), 0, kMaxFactor);
}

absl::Status Description<v1::AdjustSaturation>::Draw(const v1::AdjustSaturation& op, Drawing& drawing) {
  AppendColor(Kind::kSaturation, op.saturation_factor(), drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::AdjustHue>::Validate(const v1::AdjustHue& op) {
  return ValidateGiven(op, "hue_factor", op.has_hue_factor(), op.hue_factor(), -0.5, 0.5);
}

absl::Status Description<v1::AdjustHue>::Draw(const v1::AdjustHue& op, Drawing& drawing) {
  AppendColor(Kind::kHue, op.hue_factor(), drawing);
  return absl::OkStatus();
}

}  // namespace stoker
