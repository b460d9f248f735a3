#include "common/ops/ops.h"

#include <type_traits>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/ops/description.h"
#include "common/ops/mix.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// Calls `f` with the op's own message. Requires that an op is set.
template <typename F>
auto Visit(const v1::Op& op, F f) {
  switch (op.op_case()) {
    case v1::Op::kRandomResizedCrop: return f(op.random_resized_crop());
    case v1::Op::kResize: return f(op.resize());
    case v1::Op::kCenterCrop: return f(op.center_crop());
    case v1::Op::kRandomCrop: return f(op.random_crop());
    case v1::Op::kRandomHorizontalFlip: return f(op.random_horizontal_flip());
    case v1::Op::kRandomVerticalFlip: return f(op.random_vertical_flip());
    case v1::Op::kToDtype: return f(op.to_dtype());
    case v1::Op::kNormalize: return f(op.normalize());
    case v1::Op::kToMemoryFormat: return f(op.to_memory_format());
    case v1::Op::kPad: return f(op.pad());
    case v1::Op::kColorJitter: return f(op.color_jitter());
    case v1::Op::kGrayscale: return f(op.grayscale());
    case v1::Op::kRandomGrayscale: return f(op.random_grayscale());
    case v1::Op::kRandomRotation: return f(op.random_rotation());
    case v1::Op::kRandomAffine: return f(op.random_affine());
    case v1::Op::kGaussianBlur: return f(op.gaussian_blur());
    case v1::Op::kRandomErasing: return f(op.random_erasing());
    case v1::Op::kRandomMask: return f(op.random_mask());
    case v1::Op::kConvertColor: return f(op.convert_color());
    case v1::Op::kRandomPosterize: return f(op.random_posterize());
    case v1::Op::kRandomSolarize: return f(op.random_solarize());
    case v1::Op::kRandomEqualize: return f(op.random_equalize());
    case v1::Op::kRandomAutocontrast: return f(op.random_autocontrast());
    case v1::Op::kRandomInvert: return f(op.random_invert());
    case v1::Op::kRandomAdjustSharpness: return f(op.random_adjust_sharpness());
    case v1::Op::kAdjustBrightness: return f(op.adjust_brightness());
    case v1::Op::kAdjustContrast: return f(op.adjust_contrast());
    case v1::Op::kAdjustSaturation: return f(op.adjust_saturation());
    case v1::Op::kAdjustHue: return f(op.adjust_hue());
    case v1::Op::kRandAugment: return f(op.rand_augment());
    case v1::Op::kTrivialAugmentWide: return f(op.trivial_augment_wide());
    case v1::Op::kRandomApply: return f(op.random_apply());
    case v1::Op::kRandomChoice: return f(op.random_choice());
    case v1::Op::kMixUp: return f(op.mix_up());
    case v1::Op::kCutMix: return f(op.cut_mix());
    case v1::Op::kOneHot: return f(op.one_hot());
    case v1::Op::kUnpackBits: return f(op.unpack_bits());
    case v1::Op::OP_NOT_SET: break;
  }
  STOKER_CHECK(false);
  return f(op.resize());  // Never reached.
}

}  // namespace

std::string OpName(const v1::Op& op) {
  const auto* oneof = v1::Op::descriptor()->FindOneofByName("op");
  const auto* field = op.GetReflection()->GetOneofFieldDescriptor(op, oneof);
  return field == nullptr ? "" : field->message_type()->name();
}

bool IsDeviceOnly(const v1::Op& op) {
  return op.has_to_dtype() || op.has_normalize() || op.has_to_memory_format() || op.has_one_hot() ||
         op.has_unpack_bits() || IsBatchOp(op);
}

v1::Placement PlacementOf(const v1::Op& op) {
  if (op.placement() != v1::PLACEMENT_UNSPECIFIED) return op.placement();
  return IsDeviceOnly(op) ? v1::PLACEMENT_DEVICE : v1::PLACEMENT_SERVER;
}

std::optional<double> Probability(const v1::Op& op) {
  if (op.op_case() == v1::Op::OP_NOT_SET) return std::nullopt;
  return Visit(op, []<typename Arguments>(const Arguments& arguments) -> std::optional<double> {
    if constexpr (HasProbability<Arguments>) return ProbabilityOf(arguments);
    return std::nullopt;
  });
}

v1::Op WithDefaults(const v1::Op& op) {
  v1::Op full = op;
  full.set_placement(PlacementOf(op));
  if (op.op_case() == v1::Op::OP_NOT_SET) return full;
  Visit(full, []<typename Arguments>(const Arguments& arguments) {
    auto& filled = const_cast<Arguments&>(arguments);  // A part of `full`, which is ours.
    if constexpr (HasProbability<Arguments>) filled.set_p(ProbabilityOf(filled));
    FillDefaults(filled);
  });
  return full;
}

absl::Status ValidateOp(const v1::Op& op) {
  if (!v1::Placement_IsValid(op.placement()))
    return absl::InvalidArgumentError(absl::StrCat("placement: unknown value ", op.placement()));
  if (op.op_case() == v1::Op::OP_NOT_SET)
    return absl::InvalidArgumentError("no op, or one that this build does not know");
  return Visit(op, []<typename Arguments>(const Arguments& arguments) -> absl::Status {
    if constexpr (HasProbability<Arguments>)
      STOKER_RETURN_IF_ERROR(ValidateProbability(arguments, ProbabilityOf(arguments)));
    return ValidateArguments(arguments);
  });
}

std::optional<ImageSize> OutputSize(const v1::Op& op, std::optional<ImageSize> input) {
  return Visit(op, [&](const auto& arguments) { return OutputSizeOf(arguments, input); });
}

absl::Status DrawOp(const v1::Op& op, const DrawKey& key, ImageSize& size, std::vector<OpParameters>& parameters) {
  Drawing drawing = {key, Draws(key), size, parameters};
  return Visit(op, [&]<typename Arguments>(const Arguments& arguments) {
    if constexpr (HasProbability<Arguments>)
      if (!drawing.draws.Bernoulli(ProbabilityOf(arguments))) return absl::OkStatus();
    return DrawArguments(arguments, drawing);
  });
}

}  // namespace stoker
