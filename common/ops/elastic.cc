#include "common/ops/elastic.h"

#include "absl/strings/str_cat.h"
#include "common/ops/arguments.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr double kDefaultAlpha = 50, kDefaultSmoothness = 5;
constexpr double kMostAlpha = 1e6, kMostSmoothness = 100;

// Across and down.
struct Pair {
  double across = 0, down = 0;
};

Pair PairOr(double otherwise, const Numbers& numbers) {
  if (numbers.empty()) return {otherwise, otherwise};
  return {numbers[0], numbers[numbers.size() - 1]};
}

Pair ElasticAlpha(const v1::ElasticTransform& op) { return PairOr(kDefaultAlpha, op.alpha()); }
Pair SmoothnessOf(const v1::ElasticTransform& op) { return PairOr(kDefaultSmoothness, op.sigma()); }

// Nothing, one number, or across and down.
absl::Status ValidatePair(const v1::ElasticTransform& op, absl::string_view argument, const Numbers& numbers,
                          double most) {
  if (numbers.size() > 2)
    return Invalid(op, argument, absl::StrCat("give one number, or across and down; found ", numbers.size()));
  for (double number : numbers) STOKER_RETURN_IF_ERROR(ValidateWithin(op, argument, number, 0, most));
  return absl::OkStatus();
}

}  // namespace

// The whole kernel has int(8 σ + 1) pixels, or one more where that is even.
int ElasticReach(double sigma) { return (static_cast<int>(8 * sigma + 1) | 1) / 2; }

absl::Status Description<v1::ElasticTransform>::Validate(const v1::ElasticTransform& op) {
  STOKER_RETURN_IF_ERROR(ValidatePair(op, "alpha", op.alpha(), kMostAlpha));
  STOKER_RETURN_IF_ERROR(ValidatePair(op, "sigma", op.sigma(), kMostSmoothness));
  STOKER_RETURN_IF_ERROR(ValidateAffineInterpolation(op, op.interpolation()));
  return ValidateFill(op);
}

void Description<v1::ElasticTransform>::FillDefaults(v1::ElasticTransform& op) {
  const Pair alpha = ElasticAlpha(op), smoothness = SmoothnessOf(op);
  Set(Range{alpha.across, alpha.down}, op.mutable_alpha());
  Set(Range{smoothness.across, smoothness.down}, op.mutable_sigma());
  op.set_interpolation(OrBilinear(op.interpolation()));
  Set(ColorOf(op.fill()), op.mutable_fill());
}

bool Description<v1::ElasticTransform>::IsDeterministic(const v1::ElasticTransform& op) {
  return op.alpha(0) == 0 && op.alpha(1) == 0;
}

// How each pixel moves is drawn where pixels move, by the key.
absl::Status Description<v1::ElasticTransform>::Draw(const v1::ElasticTransform& op, Drawing& drawing) {
  const Pair alpha = ElasticAlpha(op), smoothness = SmoothnessOf(op);
  if (alpha.across == 0 && alpha.down == 0) return absl::OkStatus();
  const auto [height, width] = drawing.size;
  if (width <= ElasticReach(smoothness.across) || height <= ElasticReach(smoothness.down))
    return absl::FailedPreconditionError(absl::StrCat("ElasticTransform.sigma: an image of ", width, "×", height,
                                                      " is not larger than the ", ElasticReach(smoothness.across),
                                                      " pixels across and ", ElasticReach(smoothness.down),
                                                      " down that four deviations are; lower sigma, or resize before"));
  drawing.parameters.push_back(ElasticParameters{alpha.across / 2, alpha.down / 2, smoothness.across, smoothness.down,
                                                 OrBilinear(op.interpolation()), ColorOf(op.fill()), op.map_fill(),
                                                 drawing.key});
  return absl::OkStatus();
}

// Both displacements are smoothed along rows and columns, by a multiplication and an addition for each pixel that the
// Gaussian covers. Then pixels are blended as by a turn.
Cost Description<v1::ElasticTransform>::CostOf(const v1::ElasticTransform& op, ImageSize, ImageSize output) {
  const Pair smoothness = SmoothnessOf(op);
  const double taps = 2.0 * (ElasticReach(smoothness.across) + ElasticReach(smoothness.down) + 1);
  return CostOfPixels(output, 200 + 4 * taps) + Cost{0, 12 * Pixels(output), 0};
}

}  // namespace stoker
