#ifndef STOKER_COMMON_OPS_AFFINE_MATRIX_H_
#define STOKER_COMMON_OPS_AFFINE_MATRIX_H_

#include <array>
#include <cstdint>
#include <optional>

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

// A matrix that maps whole columns and rows of the output to positions in the input in 1/2^16 pixel:
// x' = m[0]·column + m[1]·row + m[2], y' = m[3]·column + m[4]·row + m[5].
using FixedAffineMap = std::array<int64_t, 6>;
inline constexpr int kFixedAffineBits = 16;

// Returns the matrix by which Pillow turns an image of `size` to the nearest pixel, the one that a position lies in.
// Returns nothing where Pillow does not: the map only scales and shifts, or takes a corner of the image too far away.
std::optional<FixedAffineMap> FixedAffineMapOf(const AffineMap& map, ImageSize size);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_AFFINE_MATRIX_H_
