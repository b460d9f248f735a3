#include "common/ops/filter.h"

#include "absl/strings/str_cat.h"
#include "common/ops/append.h"
#include "common/ops/arguments.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr int kMaxKernel = 255;  // pixels
constexpr double kMaxSigma = 1000;
constexpr Range kDefaultSigma = {0.1, 2};

Range SigmaOf(const v1::GaussianBlur& op) {
  if (op.sigma().empty()) return kDefaultSigma;
  return {op.sigma(0), op.sigma(op.sigma_size() - 1)};
}

ImageSize KernelOf(const v1::GaussianBlur& op) {  // Given as across, down.
  return {op.kernel_size(op.kernel_size_size() - 1), op.kernel_size(0)};
}

}  // namespace

absl::Status Description<v1::GaussianBlur>::Validate(const v1::GaussianBlur& op) {
  if (op.kernel_size_size() != 1 && op.kernel_size_size() != 2)
    return Invalid(op, "kernel_size",
                   absl::StrCat("give one number, or across and down; found ", op.kernel_size_size(), " numbers"));
  for (int pixels : op.kernel_size())
    if (pixels < 1 || pixels > kMaxKernel || pixels % 2 == 0)
      return Invalid(op, "kernel_size", absl::StrCat(pixels, " is not an odd number from 1 to ", kMaxKernel));
  if (op.sigma_size() != 1) return ValidatePositiveRange(op, "sigma", op.sigma(), kMaxSigma);
  if (!(op.sigma(0) > 0 && op.sigma(0) <= kMaxSigma))
    return Invalid(op, "sigma", absl::StrCat(op.sigma(0), " is not above 0 and up to ", kMaxSigma));
  return absl::OkStatus();
}

void Description<v1::GaussianBlur>::FillDefaults(v1::GaussianBlur& op) {
  if (op.kernel_size_size() == 1) op.add_kernel_size(op.kernel_size(0));
  Set(SigmaOf(op), op.mutable_sigma());
}

absl::Status Description<v1::GaussianBlur>::Draw(const v1::GaussianBlur& op, Drawing& drawing) {
  const ImageSize kernel = KernelOf(op), image = drawing.size;
  if (image.height <= kernel.height / 2 || image.width <= kernel.width / 2)
    return absl::FailedPreconditionError(absl::StrCat("GaussianBlur.kernel_size: an image of ", image.width, "×",
                                                      image.height, " is not larger than half the kernel of ",
                                                      kernel.width, "×", kernel.height, "; Resize first"));
  const double sigma = drawing.draws.Uniform(SigmaOf(op).from, SigmaOf(op).to);
  if (kernel != ImageSize{1, 1})
    drawing.parameters.push_back(
        BlurParameters{static_cast<int>(kernel.width), static_cast<int>(kernel.height), sigma});
  return absl::OkStatus();
}

absl::Status Description<v1::RandomAdjustSharpness>::Validate(const v1::RandomAdjustSharpness& op) {
  return ValidateGiven(op, "sharpness_factor", op.has_sharpness_factor(), op.sharpness_factor(), 0, kMaxFactor);
}

absl::Status Description<v1::RandomAdjustSharpness>::Draw(const v1::RandomAdjustSharpness& op, Drawing& drawing) {
  AppendSharpness(op.sharpness_factor(), drawing);
  return absl::OkStatus();
}

bool Description<v1::GaussianBlur>::IsDeterministic(const v1::GaussianBlur& op) { return IsOneValue(op.sigma()); }

DeviceTraits Description<v1::GaussianBlur>::OnDevice(const v1::GaussianBlur& op, ImageSize) {
  return {.pass = DevicePass::kBlur, .kernel = KernelOf(op)};
}

DeviceTraits Description<v1::RandomAdjustSharpness>::OnDevice(const v1::RandomAdjustSharpness&, ImageSize) {
  return {.pass = DevicePass::kSharpen};
}

// A multiplication and an addition for each weight along rows, then along columns; sums of 16 bits between.
Cost Description<v1::GaussianBlur>::CostOf(const v1::GaussianBlur& op, ImageSize, ImageSize output) {
  const ImageSize kernel = KernelOf(op);
  return CostOfPixels(output, 6.0 * static_cast<double>(kernel.width + kernel.height)) + Cost{0, 6 * Pixels(output), 0};
}

// A sum of 3×3, and a blend.
Cost Description<v1::RandomAdjustSharpness>::CostOf(const v1::RandomAdjustSharpness&, ImageSize, ImageSize output) {
  return CostOfPixels(output, 36);
}

}  // namespace stoker
