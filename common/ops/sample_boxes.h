#ifndef STOKER_COMMON_OPS_SAMPLE_BOXES_H_
#define STOKER_COMMON_OPS_SAMPLE_BOXES_H_

#include <span>
#include <vector>

#include "common/ops/parameters.h"

namespace stoker {

// A box by its sides, in pixels; (0, 0) is the image's top left corner.
struct BoxSides {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// The boxes of the sample that ops are drawn for. What an op draws may depend on them: they are a part of the sample.
class SampleBoxes {
 public:
  virtual ~SampleBoxes() = default;

  // Returns the boxes that are left after `ops`, all that were drawn so far, where they then lie. Pure.
  virtual std::vector<BoxSides> After(std::span<const OpParameters> ops) const = 0;
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_SAMPLE_BOXES_H_
