#include "common/ops/policies.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/ops/affine_matrix.h"
#include "common/ops/append.h"
#include "common/ops/arguments.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr int kMaxOps = 64;
constexpr int kDefaultOps = 2;
constexpr int kDefaultMagnitude = 9;
constexpr int kDefaultBins = 31;
constexpr int kMaxBins = 1 << 16;
constexpr double kMostArithmetic = 160;  // The dearest choice, a bilinear turn, takes so much a pixel.

// What a policy chooses among, each as likely.
enum class Choice {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize,
};
constexpr int kChoices = 14;

// What the last magnitude bin means; the first is no change. Solarize goes from 255 to 0 in either space.
struct Space {
  double shear = 0;                         // x for each y
  double translate_x = 0, translate_y = 0;  // pixels, cut to whole ones
  double rotate = 0;                        // degrees
  double enhance = 0;                       // of the factor, above and below 1
  double posterize = 0;                     // bits taken away, rounded
};

// The spaces of torchvision's two classes.
Space RandAugmentSpace(ImageSize size) {
  return {.shear = 0.3,
          .translate_x = 150.0 / 331.0 * static_cast<double>(size.width),
          .translate_y = 150.0 / 331.0 * static_cast<double>(size.height),
          .rotate = 30,
          .enhance = 0.9,
          .posterize = 4};
}

constexpr Space kWideSpace = {
    .shear = 0.99, .translate_x = 32, .translate_y = 32, .rotate = 135, .enhance = 0.99, .posterize = 6};

// Bin `bin` of `bins`, which spread evenly; positive or negative for ops that have a sign.
struct Magnitude {
  int64_t bin = 0, bins = 2;
  bool negative = false;

  double Of(double most) const { return most * static_cast<double>(bin) / static_cast<double>(bins - 1); }
  double Signed(double most) const { return negative ? -Of(most) : Of(most); }
};

// How warps look.
struct Look {
  v1::Interpolation interpolation;
  Color fill;
  int32_t map_fill;
};

void Append(Choice choice, const Magnitude& magnitude, const Space& space, const Look& look, Drawing& drawing) {
  auto warp = [&](const AffineMap& matrix) {
    AppendAffine({matrix, look.interpolation, look.fill, look.map_fill}, drawing);
  };
  auto color = [&](ColorParameters::Kind kind, double value) { AppendColor(kind, value, drawing); };
  const double factor = 1 + magnitude.Signed(space.enhance);
  switch (choice) {
    case Choice::kIdentity: return;
    case Choice::kShearX: return warp({1, magnitude.Signed(space.shear), 0, 0, 1, 0});  // About (0, 0).
    case Choice::kShearY: return warp({1, 0, 0, magnitude.Signed(space.shear), 1, 0});
    case Choice::kTranslateX: return warp({1, 0, -std::trunc(magnitude.Signed(space.translate_x)), 0, 1, 0});
    case Choice::kTranslateY: return warp({1, 0, 0, 0, 1, -std::trunc(magnitude.Signed(space.translate_y))});
    case Choice::kRotate: return warp(RotationMatrix(magnitude.Signed(space.rotate), drawing.size));
    case Choice::kBrightness: return color(ColorParameters::Kind::kBrightness, factor);
    case Choice::kColor: return color(ColorParameters::Kind::kSaturation, factor);
    case Choice::kContrast: return color(ColorParameters::Kind::kContrast, factor);
    case Choice::kSharpness: return AppendSharpness(factor, drawing);
    case Choice::kPosterize:
      return color(ColorParameters::Kind::kPosterize, 8 - std::nearbyint(magnitude.Of(space.posterize)));
    case Choice::kSolarize: return color(ColorParameters::Kind::kSolarize, std::ceil(255 - magnitude.Of(255)));
    case Choice::kAutoContrast: return color(ColorParameters::Kind::kAutocontrast, 0);
    case Choice::kEqualize: return color(ColorParameters::Kind::kEqualize, 0);
  }
}

Choice DrawChoice(Draws& draws) { return static_cast<Choice>(draws.Below(kChoices)); }

int Bins(const auto& op) { return op.has_num_magnitude_bins() ? op.num_magnitude_bins() : kDefaultBins; }
int Ops(const v1::RandAugment& op) { return op.has_num_ops() ? op.num_ops() : kDefaultOps; }
int MagnitudeOf(const v1::RandAugment& op) { return op.has_magnitude() ? op.magnitude() : kDefaultMagnitude; }
Look LookOf(const auto& op) { return {OrNearest(op.interpolation()), ColorOf(op.fill()), op.map_fill()}; }

absl::Status ValidateCommon(const auto& op) {
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "num_magnitude_bins", Bins(op), 2, kMaxBins));
  STOKER_RETURN_IF_ERROR(ValidateAffineInterpolation(op, op.interpolation()));
  return ValidateFill(op);
}

void FillCommon(auto& op) {
  op.set_num_magnitude_bins(Bins(op));
  op.set_interpolation(OrNearest(op.interpolation()));
  Set(ColorOf(op.fill()), op.mutable_fill());
}

}  // namespace

absl::Status Description<v1::RandAugment>::Validate(const v1::RandAugment& op) {
  STOKER_RETURN_IF_ERROR(ValidateCommon(op));
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "num_ops", Ops(op), 0, kMaxOps));
  if (MagnitudeOf(op) < 0 || MagnitudeOf(op) >= Bins(op))
    return Invalid(
        op, "magnitude",
        absl::StrCat(MagnitudeOf(op), " is not between 0 and ", Bins(op) - 1, ", the last of num_magnitude_bins"));
  return absl::OkStatus();
}

void Description<v1::RandAugment>::FillDefaults(v1::RandAugment& op) {
  FillCommon(op);
  op.set_num_ops(Ops(op));
  op.set_magnitude(MagnitudeOf(op));
}

absl::Status Description<v1::RandAugment>::Draw(const v1::RandAugment& op, Drawing& drawing) {
  const Space space = RandAugmentSpace(drawing.size);
  for (int i = 0; i < Ops(op); ++i) {
    const Choice choice = DrawChoice(drawing.draws);
    DrawKey key = drawing.key;
    key.op = NestedOp(drawing.key.op, i);
    Append(choice, {MagnitudeOf(op), Bins(op), Draws(key).Below(2) == 1}, space, LookOf(op), drawing);
  }
  return absl::OkStatus();
}

absl::Status Description<v1::TrivialAugmentWide>::Validate(const v1::TrivialAugmentWide& op) {
  return ValidateCommon(op);
}

void Description<v1::TrivialAugmentWide>::FillDefaults(v1::TrivialAugmentWide& op) { FillCommon(op); }

absl::Status Description<v1::TrivialAugmentWide>::Draw(const v1::TrivialAugmentWide& op, Drawing& drawing) {
  const Choice choice = DrawChoice(drawing.draws);
  DrawKey key = drawing.key;
  key.op = NestedOp(drawing.key.op, 0);
  Draws draws(key);
  const auto bin = static_cast<int64_t>(draws.Below(Bins(op)));
  Append(choice, {bin, Bins(op), draws.Below(2) == 1}, kWideSpace, LookOf(op), drawing);
  return absl::OkStatus();
}

bool Description<v1::RandAugment>::IsDeterministic(const v1::RandAugment& op) { return op.num_ops() == 0; }

Cost Description<v1::RandAugment>::CostOf(const v1::RandAugment& op, ImageSize, ImageSize output) {
  return static_cast<double>(Ops(op)) * CostOfPixels(output, kMostArithmetic);
}

Cost Description<v1::TrivialAugmentWide>::CostOf(const v1::TrivialAugmentWide&, ImageSize, ImageSize output) {
  return CostOfPixels(output, kMostArithmetic);
}

}  // namespace stoker
