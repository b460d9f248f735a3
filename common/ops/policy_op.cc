#include "common/ops/policy_op.h"

#include <cmath>

#include "common/ops/affine_matrix.h"
#include "common/ops/append.h"

namespace stoker {

void AppendPolicyOp(PolicyOp op, const PolicyMagnitude& magnitude, const PolicySpace& space, const PolicyLook& look,
                    Drawing& drawing) {
  auto warp = [&](const AffineMap& matrix) {
    AppendAffine({matrix, look.interpolation, look.fill, look.map_fill}, drawing);
  };
  auto color = [&](ColorParameters::Kind kind, double value) { AppendColor(kind, value, drawing); };
  const double factor = 1 + magnitude.Signed(space.enhance);
  switch (op) {
    case PolicyOp::kIdentity: return;
    case PolicyOp::kShearX: return warp({1, magnitude.Signed(space.shear), 0, 0, 1, 0});  // About (0, 0).
    case PolicyOp::kShearY: return warp({1, 0, 0, magnitude.Signed(space.shear), 1, 0});
    case PolicyOp::kTranslateX: return warp({1, 0, -std::trunc(magnitude.Signed(space.translate_x)), 0, 1, 0});
    case PolicyOp::kTranslateY: return warp({1, 0, 0, 0, 1, -std::trunc(magnitude.Signed(space.translate_y))});
    case PolicyOp::kRotate: return warp(RotationMatrix(magnitude.Signed(space.rotate), drawing.size));
    case PolicyOp::kBrightness: return color(ColorParameters::Kind::kBrightness, factor);
    case PolicyOp::kColor: return color(ColorParameters::Kind::kSaturation, factor);
    case PolicyOp::kContrast: return color(ColorParameters::Kind::kContrast, factor);
    case PolicyOp::kSharpness: return AppendSharpness(factor, drawing);
    case PolicyOp::kPosterize:
      return color(ColorParameters::Kind::kPosterize,
                   8 - space.least_posterize - std::nearbyint(magnitude.Of(space.posterize)));
    case PolicyOp::kSolarize: return color(ColorParameters::Kind::kSolarize, std::ceil(255 - magnitude.Of(255)));
    case PolicyOp::kAutoContrast: return color(ColorParameters::Kind::kAutocontrast, 0);
    case PolicyOp::kEqualize: return color(ColorParameters::Kind::kEqualize, 0);
    case PolicyOp::kInvert: return color(ColorParameters::Kind::kInvert, 0);
  }
}

}  // namespace stoker
