#ifndef STOKER_COMMON_OPS_AFFINE_MATRIX_H_
#define STOKER_COMMON_OPS_AFFINE_MATRIX_H_

#include <array>

#include "common/fields/schema.h"

namespace stoker {

// Matrices of AffineParameters: from output to input positions. Pure functions, the same bits on every CPU.
using AffineMap = std::array<double, 6>;

// A turn about the image's center by `degrees` counter-clockwise: that of Pillow's Image.rotate.
AffineMap RotationMatrix(double degrees, ImageSize size);

// What torchvision's affine does to an image, in this order and about the image's center but for the shift: shears,
// scales, turns and shifts. Angles in degrees, clockwise; the shift in pixels.
struct Affine {
  double degrees = 0;
  double shift_x = 0, shift_y = 0;
  double scale = 1;                 // Above 0.
  double shear_x = 0, shear_y = 0;  // Between −90 and 90.
};

// torchvision's _get_inverse_affine_matrix with the center at size / 2.
AffineMap AffineMatrix(const Affine& affine, ImageSize size);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_AFFINE_MATRIX_H_
