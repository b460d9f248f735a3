#include <algorithm>

#include "common/ops/description.h"
#include "common/ops/ops.h"

namespace stoker {
namespace {

bool IsOneValue(const Numbers& range) {
  return std::adjacent_find(range.begin(), range.end(), std::not_equal_to<>()) == range.end();
}

// With defaults: at most one of the four does something, so that their order does not matter, and always the same.
bool IsOneValue(const v1::ColorJitter& op) {
  int active = 0;
  for (const Numbers* factors : {&op.brightness(), &op.contrast(), &op.saturation()}) {
    if (!IsOneValue(*factors)) return false;
    active += factors->Get(0) != 1;
  }
  return IsOneValue(op.hue()) && active + (op.hue(0) != 0) <= 1;
}

bool IsOneValue(const v1::RandomAffine& op) {
  auto is_none = [](double share) { return share == 0; };
  return IsOneValue(op.degrees()) && std::all_of(op.translate().begin(), op.translate().end(), is_none) &&
         IsOneValue(op.scale()) && op.shear(0) == op.shear(1) && op.shear(2) == op.shear(3);
}

bool AllAreDeterministic(const google::protobuf::RepeatedPtrField<v1::Op>& ops) {
  return std::all_of(ops.begin(), ops.end(), [](const v1::Op& op) { return IsDeterministic(op); });
}

// Weights, defaults written out, leave one choice only.
bool IsDeterministicChoice(const v1::RandomChoice& op) {
  const auto certain = std::find(op.p().begin(), op.p().end(), 1.0);
  return certain != op.p().end() && IsDeterministic(op.transforms(static_cast<int>(certain - op.p().begin())));
}

}  // namespace

bool IsDeterministic(const v1::Op& given) {
  if (const std::optional<double> p = Probability(given); p.has_value() && *p != 1) return *p == 0;
  const v1::Op op = WithDefaults(given);
  switch (op.op_case()) {
    case v1::Op::kRandomResizedCrop:
    case v1::Op::kRandomCrop:
    case v1::Op::kRandomErasing:
    case v1::Op::kRandomMask:
    case v1::Op::kTrivialAugmentWide:
    case v1::Op::kMixUp:
    case v1::Op::kCutMix: return false;
    case v1::Op::kRandAugment: return op.rand_augment().num_ops() == 0;
    case v1::Op::kColorJitter: return IsOneValue(op.color_jitter());
    case v1::Op::kRandomRotation: return IsOneValue(op.random_rotation().degrees());
    case v1::Op::kRandomAffine: return IsOneValue(op.random_affine());
    case v1::Op::kGaussianBlur: return IsOneValue(op.gaussian_blur().sigma());
    case v1::Op::kRandomApply: return AllAreDeterministic(op.random_apply().transforms());
    case v1::Op::kRandomChoice: return IsDeterministicChoice(op.random_choice());
    case v1::Op::kResize:
    case v1::Op::kCenterCrop:
    case v1::Op::kPad:
    case v1::Op::kRandomHorizontalFlip:
    case v1::Op::kRandomVerticalFlip:
    case v1::Op::kGrayscale:
    case v1::Op::kRandomGrayscale:
    case v1::Op::kConvertColor:
    case v1::Op::kRandomPosterize:
    case v1::Op::kRandomSolarize:
    case v1::Op::kRandomEqualize:
    case v1::Op::kRandomAutocontrast:
    case v1::Op::kRandomInvert:
    case v1::Op::kRandomAdjustSharpness:
    case v1::Op::kAdjustBrightness:
    case v1::Op::kAdjustContrast:
    case v1::Op::kAdjustSaturation:
    case v1::Op::kAdjustHue:
    case v1::Op::kToDtype:
    case v1::Op::kNormalize:
    case v1::Op::kToMemoryFormat:
    case v1::Op::kOneHot:
    case v1::Op::kUnpackBits: return true;
    case v1::Op::OP_NOT_SET: break;
  }
  return false;
}

}  // namespace stoker
