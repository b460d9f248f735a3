#ifndef STOKER_COMMON_OPS_POLICY_OP_H_
#define STOKER_COMMON_OPS_POLICY_OP_H_

#include <cstdint>

#include "common/ops/description.h"
#include "common/ops/parameters.h"

namespace stoker {

// What the policies of policies.h and aug_mix.h have in common: the changes of an image among which they choose, and
// how strong these are. Plain values and pure functions.

// By torchvision's names.
enum class PolicyOp {
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
  kInvert,  // AutoAugment alone has it.
};

// What the last magnitude bin means; the first is no change, unless said otherwise. Solarize goes from 255 to 0.
struct PolicySpace {
  double shear = 0;                         // x for each y
  double translate_x = 0, translate_y = 0;  // pixels, cut to whole ones
  double rotate = 0;                        // degrees
  double enhance = 0;                       // of the factor, above and below 1
  double posterize = 0;                     // bits taken away, rounded
  double least_posterize = 0;               // bits taken away in the first bin
};

// Bin `bin` of `bins`, which spread evenly; positive or negative for ops that have a sign.
struct PolicyMagnitude {
  int64_t bin = 0, bins = 2;
  bool negative = false;

  double Of(double most) const { return most * static_cast<double>(bin) / static_cast<double>(bins - 1); }
  double Signed(double most) const { return negative ? -Of(most) : Of(most); }
};

// How warps look.
struct PolicyLook {
  v1::Interpolation interpolation;  // nearest or bilinear
  Color fill;
  int32_t map_fill;
};

// Most additions and multiplications a pixel: those of a bilinear turn.
inline constexpr double kPolicyArithmetic = 160;

// Appends what the op does at this magnitude.
void AppendPolicyOp(PolicyOp op, const PolicyMagnitude& magnitude, const PolicySpace& space, const PolicyLook& look,
                    Drawing& drawing);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_POLICY_OP_H_
