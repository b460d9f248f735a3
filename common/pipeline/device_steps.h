#ifndef STOKER_COMMON_PIPELINE_DEVICE_STEPS_H_
#define STOKER_COMMON_PIPELINE_DEVICE_STEPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/identity/draws.h"
#include "common/ops/device_traits.h"
#include "common/ops/parameters.h"
#include "common/pipeline/device_program.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Whether `op`, which is valid, can be one of DeviceSteps: otherwise it works on another kind of data, or on the server
// only. Of any arguments.
bool IsDeviceStep(const v1::Op& op);

// The device ops that work on an image of uint8, as the fewest passes over it, and what a sample draws for them. Built
// by one thread; thread-safe from then on.
//
// Geometric ops that follow each other share a pass while one gather can show what they do (see GatherComposer); so do
// color ops, while they are at most ColorsDraw::kMost with one mean of the image. Flips at the end are left to the
// output.
class DeviceSteps {
 public:
  // Of images of `size`; must be the first call.
  void Start(ImageSize size, int64_t channels);

  // Appends op number `index` of the pipeline, for which IsDeviceStep holds. InvalidArgument: "RandomCrop.size: …".
  absl::Status Add(const v1::Op& op, int index);

  // Must be the last call before those below.
  void Finish();

  const std::vector<DeviceStep>& steps() const { return steps_; }

  // Of what Finish leaves; the output's.
  ImageSize size() const { return size_; }

  // Everything of SampleDraw but `erase`.
  SampleDraw Draw(uint64_t seed, uint64_t epoch, uint64_t position) const;

 private:
  struct TopOp {
    v1::Op op;
    int index;
  };
  class Drawing;

  // An op that is no RandomApply or RandomChoice; inside of one if `nested`.
  absl::Status AddAny(const v1::Op& op, int index, bool nested);
  absl::Status AddLeaf(const v1::Op& op, int index, bool nested);
  absl::Status CheckLeaf(const v1::Op& op, const DeviceTraits& traits, ImageSize out, bool nested) const;

  // The last step if it can take the op over, or else a new one.
  DeviceStep& StepFor(const DeviceTraits& traits);

  int64_t channels_ = 3;
  ImageSize in_, size_;
  std::vector<TopOp> ops_;
  std::vector<int> leaf_steps_;  // Of each leaf, in order: which step it belongs to; steps_.size(): the output's flips.
  std::vector<DeviceStep> steps_;

  // Of the last step, while it may grow.
  struct Open {
    bool only_flips = false, interpolates = false, crops_interpolated = false, fills = false;
    int colors = 0;
  };
  Open open_;
};

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_DEVICE_STEPS_H_
