#include "common/ops/erase.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/identity/elementary.h"
#include "common/ops/arguments.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr Range kErasedScale = {0.02, 0.33};
constexpr Range kErasedRatio = {0.3, 3.3};

constexpr double kMaxValue = 1e6;

// One number or none stands for three.
std::array<double, 3> ValueOf(const Numbers& value) {
  if (value.size() == 3) return {value[0], value[1], value[2]};
  const double gray = value.empty() ? 0 : value[0];
  return {gray, gray, gray};
}

// In levels: those of a valid op on uint8 are.
Color LevelsOf(const Numbers& value) {
  Color color;
  const std::array<double, 3> values = ValueOf(value);
  for (size_t c = 0; c < color.size(); ++c) color[c] = static_cast<uint8_t>(std::clamp(values[c], 0.0, 255.0));
  return color;
}

}  // namespace

absl::Status Description<v1::RandomErasing>::Validate(const v1::RandomErasing& op) {
  if (op.scale_size() != 0 && op.scale_size() != 2)
    return Invalid(op, "scale", absl::StrCat("give two numbers, from and to; found ", op.scale_size()));
  STOKER_RETURN_IF_ERROR(ValidateRangeWithin(op, "scale", RangeOr(kErasedScale, op.scale()), 0, 1));
  STOKER_RETURN_IF_ERROR(ValidatePositiveRange(op, "ratio", op.ratio(), 1000));
  if (!op.ratio().empty() && op.ratio(0) < 0.001) return Invalid(op, "ratio", "must not be below 0.001");
  if (op.value_size() > 1 && op.value_size() != 3)
    return Invalid(op, "value", absl::StrCat("give one number, or red, green, blue; found ", op.value_size()));
  for (double value : op.value()) {
    STOKER_RETURN_IF_ERROR(ValidateWithin(op, "value", value, -kMaxValue, kMaxValue));
    if (op.noise() && value != 0) return Invalid(op, "value", "with `noise` values are drawn; leave one of them out");
  }
  return absl::OkStatus();
}

absl::Status Description<v1::RandomErasing>::ValidateOnBytes(const v1::RandomErasing& op) {
  if (op.noise())
    return Invalid(op, "noise", "is of floats; place the op on the device, after ToDtype to a float type");
  for (double value : op.value())
    if (!(value >= 0 && value <= 255 && value == std::floor(value)))
      return Invalid(op, "value", absl::StrCat(value, " is not a whole number from 0 to 255; after ToDtype it may be"));
  return absl::OkStatus();
}

void Description<v1::RandomErasing>::FillDefaults(v1::RandomErasing& op) {
  if (op.scale().empty()) Set(kErasedScale, op.mutable_scale());
  if (op.ratio().empty()) Set(kErasedRatio, op.mutable_ratio());
  const std::array<double, 3> value = ValueOf(op.value());
  op.mutable_value()->Assign(value.begin(), value.end());
}

// torchvision's RandomErasing.get_params: ten tries for a rectangle that is smaller than the image both ways.
absl::Status Description<v1::RandomErasing>::Draw(const v1::RandomErasing& op, Drawing& drawing) {
  const Range scale = RangeOr(kErasedScale, op.scale()), ratio = RangeOr(kErasedRatio, op.ratio());
  const ImageSize image = drawing.size;
  const double area = static_cast<double>(image.height) * static_cast<double>(image.width);
  const double log_low = DeterministicLog(ratio.from), log_high = DeterministicLog(ratio.to);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * drawing.draws.Uniform(scale.from, scale.to);
    const double aspect = DeterministicExp(drawing.draws.Uniform(log_low, log_high));
    const ImageSize box = {RoundHalfToEven(std::sqrt(target * aspect)), RoundHalfToEven(std::sqrt(target / aspect))};
    if (box.height >= image.height || box.width >= image.width) continue;
    const auto top = static_cast<int64_t>(drawing.draws.Below(image.height - box.height + 1));
    const auto left = static_cast<int64_t>(drawing.draws.Below(image.width - box.width + 1));
    if (box.height > 0 && box.width > 0)
      drawing.parameters.push_back(EraseParameters{top, left, box, LevelsOf(op.value())});
    break;
  }
  return absl::OkStatus();
}

absl::Status Description<v1::RandomMask>::Validate(const v1::RandomMask& op) {
  if (!(op.ratio() > 0 && op.ratio() <= 1))
    return Invalid(op, "ratio", absl::StrCat(op.ratio(), " is not above 0 and up to 1"));
  return absl::OkStatus();
}

void Description<v1::RandomMask>::FillDefaults(v1::RandomMask& op) {
  if (!op.has_dilate()) op.set_dilate(true);
}

// The pixels are drawn where they are masked, by the key.
absl::Status Description<v1::RandomMask>::Draw(const v1::RandomMask& op, Drawing& drawing) {
  drawing.parameters.push_back(MaskParameters{op.ratio(), !op.has_dilate() || op.dilate(), drawing.key});
  return absl::OkStatus();
}

DeviceTraits Description<v1::RandomErasing>::OnDevice(const v1::RandomErasing& op, ImageSize) {
  return {.pass = DevicePass::kErase, .one_level = IsOneValue(op.value()), .on_floats = true};
}

DeviceTraits Description<v1::RandomMask>::OnDevice(const v1::RandomMask&, ImageSize) {
  return {.pass = DevicePass::kMask};
}

Cost Description<v1::RandomErasing>::CostOf(const v1::RandomErasing&, ImageSize, ImageSize output) {
  return CostOfPixels(output, 3);
}

// Half a word of Philox's ten rounds a pixel, and its neighbors.
Cost Description<v1::RandomMask>::CostOf(const v1::RandomMask&, ImageSize, ImageSize output) {
  return CostOfPixels(output, 16) + Cost{0, Pixels(output), 0};
}

}  // namespace stoker
