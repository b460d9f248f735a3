#ifndef STOKER_COMMON_PIPELINE_COMPOSE_GATHER_H_
#define STOKER_COMMON_PIPELINE_COMPOSE_GATHER_H_

#include "common/fields/image_size.h"
#include "common/ops/parameters.h"
#include "common/pipeline/device_program.h"

namespace stoker {

// Merges geometric ops that follow each other into one GatherDraw. One thread at a time.
//
// Crops, pads and flips are exact, and so is a turn to the nearest pixel among them, but for flips before it. A resize
// and a turn become a single bilinear gather, so pixels are interpolated only once. A crop hides the pixels outside of
// it from a resize after it, but not from one before it.
//
// Not every sequence can be merged; DeviceSteps starts a new step where it cannot:
//   - after a turn or a pad only flips may follow, and crops that stay inside the image;
//   - after a resize a pad may fill, but not mirror or repeat the edge;
//   - after a crop of a resized image neither a pad nor a turn may follow.
class GatherComposer {
 public:
  // Starts with an image of `size`, as it is.
  explicit GatherComposer(ImageSize size);

  void Add(const CropParameters& crop);
  void Add(const ResizeParameters& resize);
  void Add(const FlipParameters& flip);
  void Add(const AffineParameters& turn);

  // The merged gather of all that was added, and the size of its output.
  const GatherDraw& gather() const { return gather_; }
  ImageSize size() const { return size_; }

 private:
  // Makes the new output from the present one by `matrix`, as GatherDraw defines it.
  void Append(const std::array<double, 6>& matrix);

  // Narrows the window to a rectangle of the present output, given in its pixels. Requires that there was neither a
  // resize nor a turn.
  void Narrow(double left, double top, double right, double bottom);

  GatherDraw gather_;
  ImageSize size_;
  bool filled_ = false;  // whether the output may show positions beyond the window
  bool resized_ = false;
};

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_COMPOSE_GATHER_H_
