#include "common/ops/affine_matrix.h"

#include <cmath>

#include "common/identity/elementary.h"

namespace stoker {
namespace {

// The map with linear part [a, b; c, d] that takes (from_x, from_y) to (to_x, to_y).
AffineMap Through(double a, double b, double c, double d, double from_x, double from_y, double to_x, double to_y) {
  return {a, b, to_x - (a * from_x + b * from_y), c, d, to_y - (c * from_x + d * from_y)};
}

}  // namespace

AffineMap RotationMatrix(double degrees, ImageSize size) {
  const double sin = DeterministicSinDegrees(degrees), cos = DeterministicCosDegrees(degrees);
  const double x = static_cast<double>(size.width) / 2, y = static_cast<double>(size.height) / 2;
  return Through(cos, -sin, sin, cos, x, y, x, y);
}

AffineMap AffineMatrix(const Affine& affine, ImageSize size) {
  const double sin = DeterministicSinDegrees(affine.degrees), cos = DeterministicCosDegrees(affine.degrees);
  const double tan_x = DeterministicSinDegrees(affine.shear_x) / DeterministicCosDegrees(affine.shear_x);
  const double cos_y = DeterministicCosDegrees(affine.shear_y);
  // Shear across, shear down and turn of the output, as [a, b; c, d] of determinant 1.
  const double a = DeterministicCosDegrees(affine.degrees - affine.shear_y) / cos_y, b = -a * tan_x - sin;
  const double c = DeterministicSinDegrees(affine.degrees - affine.shear_y) / cos_y, d = -c * tan_x + cos;
  const double x = static_cast<double>(size.width) / 2, y = static_cast<double>(size.height) / 2;
  return Through(d / affine.scale, -b / affine.scale, -c / affine.scale, a / affine.scale, x + affine.shift_x,
                 y + affine.shift_y, x, y);
}

std::optional<FixedAffineMap> FixedAffineMapOf(const AffineMap& m, ImageSize size) {
  constexpr double kLimit = 32768;
  if (m[1] == 0 && m[3] == 0) return std::nullopt;
  for (double y : {0.0, static_cast<double>(size.height)})
    for (double x : {0.0, static_cast<double>(size.width)})
      if (!(std::abs(x * m[0] + y * m[1] + m[2]) < kLimit && std::abs(x * m[3] + y * m[4] + m[5]) < kLimit))
        return std::nullopt;
  const auto fixed = [](double value) { return static_cast<int64_t>(std::floor(value * 65536.0 + 0.5)); };
  return FixedAffineMap{fixed(m[0]), fixed(m[1]), fixed(m[2] + m[0] * 0.5 + m[1] * 0.5),
                        fixed(m[3]), fixed(m[4]), fixed(m[5] + m[3] * 0.5 + m[4] * 0.5)};
}

}  // namespace stoker
