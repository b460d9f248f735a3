#include "common/ops/degrade.h"

#include "absl/strings/str_cat.h"
#include "common/ops/arguments.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr double kDefaultDeviation = 0.1;
constexpr double kMostNoise = 10;  // In units of 255 levels: more than that leaves nothing of an image.

double DeviationOf(const v1::GaussianNoise& op) { return op.has_sigma() ? op.sigma() : kDefaultDeviation; }

int LeastQuality(const v1::JPEG& op) { return op.quality(0); }
int MostQuality(const v1::JPEG& op) { return op.quality(op.quality_size() - 1); }

}  // namespace

absl::Status Description<v1::GaussianNoise>::Validate(const v1::GaussianNoise& op) {
  if (op.has_clip() && !op.clip())
    return Invalid(op, "clip", "must be true: images are uint8 here, which would wrap around");
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "mean", op.mean(), -kMostNoise, kMostNoise));
  return ValidateWithin(op, "sigma", DeviationOf(op), 0, kMostNoise);
}

void Description<v1::GaussianNoise>::FillDefaults(v1::GaussianNoise& op) {
  op.set_mean(op.mean());
  op.set_sigma(DeviationOf(op));
  op.set_clip(true);
}

bool Description<v1::GaussianNoise>::IsDeterministic(const v1::GaussianNoise& op) { return op.sigma() == 0; }

// The noise is drawn where it is added, by the key.
absl::Status Description<v1::GaussianNoise>::Draw(const v1::GaussianNoise& op, Drawing& drawing) {
  drawing.parameters.push_back(NoiseParameters{op.mean(), DeviationOf(op), drawing.key});
  return absl::OkStatus();
}

// Half a word of Philox's ten rounds, and a table's look-up, for each of three values.
Cost Description<v1::GaussianNoise>::CostOf(const v1::GaussianNoise&, ImageSize, ImageSize output) {
  return CostOfPixels(output, 3 * 20) + Cost{0, 6 * Pixels(output), 0};
}

absl::Status Description<v1::JPEG>::Validate(const v1::JPEG& op) {
  if (op.quality_size() < 1 || op.quality_size() > 2)
    return Invalid(op, "quality", absl::StrCat("give one number, or from and to; found ", op.quality_size()));
  return ValidateRangeWithin(op, "quality",
                             {static_cast<double>(LeastQuality(op)), static_cast<double>(MostQuality(op))}, 1, 100);
}

void Description<v1::JPEG>::FillDefaults(v1::JPEG& op) {
  if (op.quality_size() == 1) op.add_quality(op.quality(0));
}

bool Description<v1::JPEG>::IsDeterministic(const v1::JPEG& op) { return IsOneValue(op.quality()); }

absl::Status Description<v1::JPEG>::Draw(const v1::JPEG& op, Drawing& drawing) {
  const auto [height, width] = drawing.size;
  if (height > kMaxJpegExtent || width > kMaxJpegExtent)
    return absl::FailedPreconditionError(absl::StrCat("JPEG: an image of ", width, "×", height,
                                                      " has a side of more than ", kMaxJpegExtent,
                                                      " pixels, which no JPEG has; resize it before"));
  const auto above = drawing.draws.Below(MostQuality(op) - LeastQuality(op) + 1);
  drawing.parameters.push_back(RecompressParameters{LeastQuality(op) + static_cast<int>(above)});
  return absl::OkStatus();
}

// Both ways take about what decoding a photograph of the size takes, twice. The file and the image beside it are
// written on the way.
Cost Description<v1::JPEG>::CostOf(const v1::JPEG&, ImageSize, ImageSize output) {
  return CostOfPixels(output, 180) + Cost{0, 3 * Pixels(output), 0};
}

}  // namespace stoker
