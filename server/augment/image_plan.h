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

// A step, and the parts of the images before and after it that have to exist.
struct PlannedStep {
  Step step;
  Region needed, made;  // the parts of the images before and after it; never empty
};

// How one view of an image is made: which part of it to decode, at what size, and in which passes the ops are done.
//
// What a step needs is found backward from the result, as in libvips: a crop shifts what is needed, a blur widens it, a
// warp or a resize needs its whole input. A plan is an immutable value.
class ImagePlan {
 public:
  // Plans `ops`, which were drawn for an image of `size`. `scaling` must not be UNSPECIFIED.
  static ImagePlan Make(ImageSize size, std::span<const OpParameters> ops, v1::JpegScaling scaling);

  // Returns what to decode. It is at a reduced size only where the first step is an antialiased resize.
  const DecodeTarget& target() const { return target_; }

  // Returns the steps in order, at least one. The last one makes the whole result.
  const std::vector<PlannedStep>& steps() const { return steps_; }

  ImageSize size() const { return steps_.front().step.in; }
  ImageSize result() const { return steps_.back().step.out; }

  // Returns the pixels of the largest image that a step makes, or keeps between its own two passes. A step that needs
  // memory for itself counts twice or three times.
  uint64_t peak_pixels() const;

  // Returns FusedOps::undone.
  const std::vector<int>& undone() const { return undone_; }

 private:
  ImagePlan() = default;

  DecodeTarget target_;
  std::vector<PlannedStep> steps_;
  std::vector<int> undone_;
};

// Returns the size of the smallest crop for which the image is decoded at `eighths` < 8 of its size, where `step` is
// the plan's first. Returns nothing where that never happens.
std::optional<ImageSize> LeastCropToReduce(const Step& step, int eighths, v1::JpegScaling scaling);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_IMAGE_PLAN_H_
