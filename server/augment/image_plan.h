#ifndef STOKER_SERVER_AUGMENT_IMAGE_PLAN_H_
#define STOKER_SERVER_AUGMENT_IMAGE_PLAN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/ops/parameters.h"
#include "server/augment/fuse.h"
#include "server/decode/image.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// A step, and how much of the images before and after it is worth having.
struct PlannedStep {
  Step step;
  Region needed, made;  // Of step.in and of step.out; never empty.
};

// How one view of an image comes about: which part of it to decode, at what size, and in which passes ops are done.
//
// Demands run backward from the result (as in libvips): a crop shifts what is needed, a blur widens it, a warp or a
// resize needs its whole input. Immutable value.
class ImagePlan {
 public:
  // For `ops` drawn for an image of `size`. `scaling` is not UNSPECIFIED.
  static ImagePlan Make(ImageSize size, std::span<const OpParameters> ops, v1::JpegScaling scaling);

  // What to decode. Its size is reduced only where the first step is an antialiased resize.
  const DecodeTarget& target() const { return target_; }

  // Never empty; the last one makes the whole of the result.
  const std::vector<PlannedStep>& steps() const { return steps_; }

  ImageSize size() const { return steps_.front().step.in; }
  ImageSize result() const { return steps_.back().step.out; }

  // Pixels of the largest image that a step makes, or keeps within.
  uint64_t peak_pixels() const;

  // See FusedOps.
  const std::vector<int>& undone() const { return undone_; }

 private:
  ImagePlan() = default;

  DecodeTarget target_;
  std::vector<PlannedStep> steps_;
  std::vector<int> undone_;
};

// The least crop that `step`, where it is the first one, is given at `eighths` < 8 of its size; none where it never is.
std::optional<ImageSize> LeastCropToReduce(const Step& step, int eighths, v1::JpegScaling scaling);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_IMAGE_PLAN_H_
