#ifndef STOKER_SERVER_AUGMENT_POINTS_H_
#define STOKER_SERVER_AUGMENT_POINTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "common/fields/image_size.h"
#include "common/ops/parameters.h"
#include "common/ops/sample_boxes.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Boxes and keypoints are moved by what the ops became that were drawn for their image. Positions are in pixels, and
// (0, 0) is the image's top left corner. They go where torchvision.transforms.v2 (0.29) takes tv_tensors.BoundingBoxes
// and KeyPoints, but for this:
//
//   - All ops are computed in double, by + − × ÷ alone, and what comes out is rounded once, to the nearest float32. So
//     it has the same bits on every machine.
//   - Boxes are cut to their image before the first op and after every one, as if ClampBoundingBoxes stood everywhere.
//     torchvision's crops, paddings and affine maps cut too, its flips and resizes do not. Here a crop that happens to
//     take the whole image is no op, and must not decide what a box looks like that reaches beyond its image.
//   - What a border mirrors or repeats has no boxes and no keypoints of its own. torchvision refuses such a padding.
//
// Keypoints are never cut, nor does torchvision do it: where a point lies that has left its image is told by its
// position, and on the border it would be a label that is wrong. A flip mirrors boxes at the image's width, so that x
// becomes width − x, and keypoints at the last pixel, so that x becomes width − 1 − x: both are torchvision's.
//
// A number that is not finite is no error. The infinite sides of a box are cut like others; whatever is computed from a
// NaN, or has no value, is the quiet NaN 0x7fc00000; what is beyond float32 is infinite.
//
// All functions are pure. `format` UNSPECIFIED is XYXY.

// Moves the rows of a field that lies on an image, which has `size` before the ops, in place. BOXES have rows of four
// numbers, KEYPOINTS of two, x and y. Returns the image's size after the ops. Requires such a kind, whole rows, and a
// size of at least one pixel.
ImageSize MovePoints(std::span<const OpParameters> ops, ImageSize size, v1::FieldKind kind, v1::BoxFormat format,
                     std::span<float> values);

// A row of boxes, and where its box lies.
struct LeftBox {
  uint32_t row = 0;
  BoxSides sides;
};

// Returns those of `boxes`, which lie on an image that has `size` before the ops, that are left after them, in their
// order: a crop that leaves out boxes leaves out those whose centers, once they are cut to the image, are not strictly
// within it. Requires as MovePoints.
std::vector<LeftBox> BoxesLeft(std::span<const OpParameters> ops, ImageSize size, v1::BoxFormat format,
                               std::span<const float> boxes);

// Returns the numbers of the rows that torchvision's SanitizeBoundingBoxes would keep, ascending: boxes whose width and
// height are at least `min_size`, and whose area is at least `min_area`, in float32, and which lie within an image of
// the size `canvas`. A box with a NaN is none of them. A side that XYWH or CXCYWH give by two numbers may lie beyond
// the border by what the rounding of these is: torchvision drops some CXCYWH boxes for it that its crops have cut.
std::vector<uint32_t> SaneBoxes(std::span<const float> boxes, v1::BoxFormat format, ImageSize canvas, double min_size,
                                double min_area);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_POINTS_H_
