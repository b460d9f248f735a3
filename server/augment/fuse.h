#ifndef STOKER_SERVER_AUGMENT_FUSE_H_
#define STOKER_SERVER_AUGMENT_FUSE_H_

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "common/ops/parameters.h"

namespace stoker {

// A pass that crops, then resizes, then flips. A crop that is resized lies inside the image.
struct Geometry {
  CropParameters crop;
  std::optional<ResizeParameters> resize;
  bool flip_horizontal = false, flip_vertical = false;

  // Returns whether the pass leaves an image of `size` as it is.
  bool identity(ImageSize size) const;
};

// A pass that applies color ops one after the other. There is at least one.
struct Coloring {
  std::vector<ColorParameters> ops;
};

// One pass over an image.
struct Step {
  using Action = std::variant<Geometry, Coloring, SharpnessParameters, BlurParameters, AffineParameters,
                              PerspectiveParameters, ElasticParameters, EraseParameters, MaskParameters,
                              NoiseParameters, RecompressParameters, MixedChainsParameters, OwnParameters>;
  Action action;
  std::vector<int> ops;  // the indexes of the ops that it carries out; empty where it only copies the image's pixels
  ImageSize in, out;     // the image's size before and after it

  // Returns whether the step changes an image in place, rather than making another one.
  bool in_place() const;
};

struct FusedOps {
  std::vector<Step> steps;  // at least one; the first is not in place
  std::vector<int> undone;  // ascending indexes of the ops that are left out, because they undo each other
};

// Turns `ops` into as few passes over an image of `size` as it can. The passes make the same bytes as the ops one after
// the other.
//
// Crops of crops become one crop. A crop moves ahead of color ops that look at single pixels only. A flip moves ahead
// of all color ops, because an image and its mirror image have the same histogram and mean. After that, crop, resize
// and flips are one pass, and neighboring color ops are another. Ops that undo each other are left out. (An op that
// changes nothing by itself is not in `ops`: DrawOp does not draw it.) Pure.
FusedOps Fuse(ImageSize size, std::span<const OpParameters> ops);

// Returns whether `op` looks at the whole image, not at each pixel alone.
bool LooksAtWhole(const ColorParameters& op);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_FUSE_H_
