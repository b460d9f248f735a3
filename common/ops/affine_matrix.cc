#include "common/ops/affine_matrix.h"

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

}  // namespace stoker
