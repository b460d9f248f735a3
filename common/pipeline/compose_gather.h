#ifndef STOKER_COMMON_PIPELINE_COMPOSE_GATHER_H_
#define STOKER_COMMON_PIPELINE_COMPOSE_GATHER_H_

#include "common/fields/image_size.h"
#include "common/ops/parameters.h"
#include "common/pipeline/device_program.h"

namespace stoker {

// Makes one GatherDraw of geometric ops that follow each other. One thread at a time.
//
// Exact for crops, pads and flips. One interpolation stands for all of them: a resize and a turn become one bilinear
// gather. A crop hides the pixels outside of it from a resize after it, not from one before it.
//
// Once pixels from beyond the image may show, only crops that stay inside and flips may follow; after a resize no
// padding that mirrors, and after a crop of that nothing that shows pixels from beyond. DeviceSteps sees to it.
class GatherComposer {
 public:
  // Of an image of `size`.
  explicit GatherComposer(ImageSize size);

  void Add(const CropParameters& crop);
  void Add(const ResizeParameters& resize);
  void Add(const FlipParameters& flip);
  void Add(const AffineParameters& turn);

  // What was added; size() is the output's.
  const GatherDraw& gather() const { return gather_; }
  ImageSize size() const { return size_; }

 private:
  // The output becomes what `matrix` shows of it.
  void Append(const std::array<double, 6>& matrix);

  // Narrows the window to a part of the output, given in its pixels. Requires neither a resize nor a turn so far.
  void Narrow(double left, double top, double right, double bottom);

  GatherDraw gather_;
  ImageSize size_;
  bool filled_ = false;  // Pixels from beyond the window show.
  bool resized_ = false;
};

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_COMPOSE_GATHER_H_
