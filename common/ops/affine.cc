#include "common/ops/affine.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/ops/affine_matrix.h"
#include "common/ops/append.h"
#include "common/ops/arguments.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

absl::Status ValidateDegrees(const google::protobuf::Message& op, const Numbers& degrees) {
  if (degrees.empty()) return Invalid(op, "degrees", "give one number, or from and to; found none");
  return ValidateSpread(op, "degrees", degrees, kMaxDegrees);
}

absl::Status ValidateShear(const v1::RandomAffine& op) {
  const Numbers& shear = op.shear();
  constexpr double kMost = 89;  // At 90 the image is a line.
  if (shear.size() != 4) return ValidateSpread(op, "shear", shear, kMost);
  STOKER_RETURN_IF_ERROR(ValidateRangeWithin(op, "shear", {shear[0], shear[1]}, -kMost, kMost));
  return ValidateRangeWithin(op, "shear", {shear[2], shear[3]}, -kMost, kMost);
}

Range ShearAcross(const v1::RandomAffine& op) {
  return op.shear_size() == 4 ? Range{op.shear(0), op.shear(1)} : SpreadOf(op.shear());
}

Range ShearDown(const v1::RandomAffine& op) {
  return op.shear_size() == 4 ? Range{op.shear(2), op.shear(3)} : Range{0, 0};
}

Range ScaleOf(const v1::RandomAffine& op) { return op.scale().empty() ? Range{1, 1} : Range{op.scale(0), op.scale(1)}; }

// A shift by up to `share` of `extent` pixels either way, in whole pixels.
double DrawShift(Draws& draws, double share, int64_t extent) {
  const double most = share * static_cast<double>(extent);
  return static_cast<double>(RoundHalfToEven(draws.Uniform(-most, most)));
}

template <typename Arguments>
DeviceTraits OfTurn(const Arguments& op) {
  return {.pass = DevicePass::kGather,
          .geometry = DeviceTraits::Geometry::kTurn,
          .may_fill = true,
          .one_level = IsOneValue(op.fill())};
}

// Counts finding a pixel's place, and taking one pixel or blending four. That is done in doubles, one value after the
// other, and counts four times as much.
template <typename Arguments>
Cost CostOfTurn(const Arguments& op, ImageSize output) {
  return CostOfPixels(output, OrNearest(op.interpolation()) == v1::INTERPOLATION_NEAREST ? 12 : 160);
}

}  // namespace

absl::Status Description<v1::RandomRotation>::Validate(const v1::RandomRotation& op) {
  STOKER_RETURN_IF_ERROR(ValidateDegrees(op, op.degrees()));
  STOKER_RETURN_IF_ERROR(ValidateAffineInterpolation(op, op.interpolation()));
  return ValidateFill(op);
}

void Description<v1::RandomRotation>::FillDefaults(v1::RandomRotation& op) {
  Set(SpreadOf(op.degrees()), op.mutable_degrees());
  op.set_interpolation(OrNearest(op.interpolation()));
  Set(ColorOf(op.fill()), op.mutable_fill());
}

absl::Status Description<v1::RandomRotation>::Draw(const v1::RandomRotation& op, Drawing& drawing) {
  const double degrees = Uniform(drawing.draws, SpreadOf(op.degrees()));
  AppendAffine(
      {RotationMatrix(degrees, drawing.size), OrNearest(op.interpolation()), ColorOf(op.fill()), op.map_fill()},
      drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::RandomAffine>::Validate(const v1::RandomAffine& op) {
  STOKER_RETURN_IF_ERROR(ValidateDegrees(op, op.degrees()));
  if (op.translate_size() != 0 && op.translate_size() != 2)
    return Invalid(op, "translate", absl::StrCat("give two numbers, across and down; found ", op.translate_size()));
  for (double share : op.translate()) STOKER_RETURN_IF_ERROR(ValidateWithin(op, "translate", share, 0, 1));
  STOKER_RETURN_IF_ERROR(ValidatePositiveRange(op, "scale", op.scale(), kMaxFactor));
  if (!op.scale().empty() && op.scale(0) < 1 / kMaxFactor)
    return Invalid(op, "scale", absl::StrCat("must not be below ", 1 / kMaxFactor));
  STOKER_RETURN_IF_ERROR(ValidateShear(op));
  STOKER_RETURN_IF_ERROR(ValidateAffineInterpolation(op, op.interpolation()));
  return ValidateFill(op);
}

void Description<v1::RandomAffine>::FillDefaults(v1::RandomAffine& op) {
  const Range across = ShearAcross(op), down = ShearDown(op);
  Set(SpreadOf(op.degrees()), op.mutable_degrees());
  if (op.translate().empty()) Set(Range{0, 0}, op.mutable_translate());
  if (op.scale().empty()) Set(Range{1, 1}, op.mutable_scale());
  op.clear_shear();
  for (double degrees : {across.from, across.to, down.from, down.to}) op.add_shear(degrees);
  op.set_interpolation(OrNearest(op.interpolation()));
  Set(ColorOf(op.fill()), op.mutable_fill());
}

// All is drawn whether it is given or not: one argument must not move what the others draw.
absl::Status Description<v1::RandomAffine>::Draw(const v1::RandomAffine& op, Drawing& drawing) {
  const bool shifts = !op.translate().empty();
  Affine affine;
  affine.degrees = Uniform(drawing.draws, SpreadOf(op.degrees()));
  affine.shift_x = DrawShift(drawing.draws, shifts ? op.translate(0) : 0, drawing.size.width);
  affine.shift_y = DrawShift(drawing.draws, shifts ? op.translate(1) : 0, drawing.size.height);
  affine.scale = Uniform(drawing.draws, ScaleOf(op));
  affine.shear_x = Uniform(drawing.draws, ShearAcross(op));
  affine.shear_y = Uniform(drawing.draws, ShearDown(op));
  AppendAffine({AffineMatrix(affine, drawing.size), OrNearest(op.interpolation()), ColorOf(op.fill()), op.map_fill()},
               drawing);
  return absl::OkStatus();
}

bool Description<v1::RandomRotation>::IsDeterministic(const v1::RandomRotation& op) { return IsOneValue(op.degrees()); }

bool Description<v1::RandomAffine>::IsDeterministic(const v1::RandomAffine& op) {
  auto is_none = [](double share) { return share == 0; };
  return IsOneValue(op.degrees()) && std::all_of(op.translate().begin(), op.translate().end(), is_none) &&
         IsOneValue(op.scale()) && op.shear(0) == op.shear(1) && op.shear(2) == op.shear(3);
}

DeviceTraits Description<v1::RandomRotation>::OnDevice(const v1::RandomRotation& op, ImageSize) { return OfTurn(op); }
DeviceTraits Description<v1::RandomAffine>::OnDevice(const v1::RandomAffine& op, ImageSize) { return OfTurn(op); }

Cost Description<v1::RandomRotation>::CostOf(const v1::RandomRotation& op, ImageSize, ImageSize output) {
  return CostOfTurn(op, output);
}
Cost Description<v1::RandomAffine>::CostOf(const v1::RandomAffine& op, ImageSize, ImageSize output) {
  return CostOfTurn(op, output);
}

}  // namespace stoker
