#ifndef STOKER_SERVER_AUGMENT_FUSE_H_
#define STOKER_SERVER_AUGMENT_FUSE_H_

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "common/ops/parameters.h"

namespace stoker {

// Crop, then resize, then flip, in one pass. What is resized lies inside of the image.
struct Geometry {
  CropParameters crop;
  std::optional<ResizeParameters> resize;
  bool flip_horizontal = false, flip_vertical = false;

  // Leaves an image of `size` as it is.
  bool identity(ImageSize size) const;
};

// Never empty.
struct Coloring {
  std::vector<ColorParameters> ops;
};

// One pass over an image.
struct Step {
  using Action = std::variant<Geometry, Coloring, SharpnessParameters, BlurParameters, AffineParameters,
                              EraseParameters, MaskParameters>;
  Action action;
  std::vector<int> ops;  // That it does the work of, by index; none where it only takes the image's pixels over.
  ImageSize in, out;     // Of the images before and after it.

  // Changes an image where it lies, rather than making another.
  bool in_place() const;
};

struct FusedOps {
  std::vector<Step> steps;  // Never empty; the first is not in place.
  std::vector<int> undone;  // Ops that no step does any work of: together they change nothing.
};

// The fewest passes found that do to an image of `size` what `ops` do one after the other, to the same bytes.
//
// Crops of crops become one. A crop goes before ops on single pixels, a flip before all color ops (the image's
// histogram and mean are its mirror image's too); then crop, resize and flips are one pass, and neighboring color ops
// another. What undoes itself is left out; what changes nothing by itself DrawOp does not draw. Pure.
FusedOps Fuse(ImageSize size, std::span<const OpParameters> ops);

// True where `op` looks at the whole image, not at each pixel alone.
bool LooksAtWhole(const ColorParameters& op);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_FUSE_H_
