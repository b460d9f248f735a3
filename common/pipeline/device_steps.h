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

// True if `op`, which must be valid, can be added to DeviceSteps. False if it works on other data than uint8 images, or
// runs on the server only. Its arguments do not matter.
bool IsDeviceStep(const v1::Op& op);

// The device ops that work on an image of uint8, in as few passes over the image as possible, and what a sample draws
// for them. One thread builds it; from then on it is thread-safe.
//
// Geometric ops that follow each other share a pass while one gather can express them (see GatherComposer). Color ops
// share a pass while they make at most ColorsDraw::kMost changes and need at most one figure of the whole image. Flips
// at the end need no pass of their own: they are done while the output is written. Resizes that weigh more than four
// pixels have passes of their own (see Resampling). A policy, such as RandAugment, has for each change that it may draw
// a pass of geometry, one of colors and one that sharpens; a sample takes one of these, or none.
class DeviceSteps {
 public:
  // Must be the first call. Images have this size and number of channels.
  void Start(ImageSize size, int64_t channels);

  // Appends op number `index` of the pipeline. Requires IsDeviceStep(op). InvalidArgument says why this op cannot run
  // on these images: "RandomCrop.size: …".
  absl::Status Add(const v1::Op& op, int index);

  // Whether label maps and binary maps are moved with the image. Then SampleDraw::map_moves are drawn. Must be called
  // before Finish.
  void MoveMaps() { moves_maps_ = true; }

  // Must be called after all ops were added, before the functions below.
  void Finish();

  const std::vector<DeviceStep>& steps() const { return steps_; }

  // How maps are moved: a kGather for each step that moves the image, the last one with the flips that are left to the
  // output. Empty unless maps are moved.
  const std::vector<DeviceStep>& map_moves() const { return map_moves_; }

  // The size of images after all steps.
  ImageSize size() const { return size_; }

  // Draws all of a SampleDraw but its `erase`. `view` is that of DrawKey.
  SampleDraw Draw(uint64_t seed, uint64_t epoch, uint64_t position, uint64_t view = 0) const;

 private:
  struct TopOp {
    v1::Op op;
    int index;
  };
  class Drawing;

  // AddAny adds any op. A leaf is an op other than RandomApply and RandomChoice; `nested` is true of ops inside of
  // these.
  absl::Status AddAny(const v1::Op& op, int index, bool nested);
  absl::Status AddLeaf(const v1::Op& op, int index, bool nested);
  absl::Status CheckLeaf(const v1::Op& op, const DeviceTraits& traits, ImageSize out, bool nested) const;

  // Adds the steps of a policy.
  void AddPolicy(const DeviceTraits& traits, int index);

  void FinishMapMoves();

  // Returns the last step if the op can join it, or else a new one.
  DeviceStep& StepFor(const DeviceTraits& traits);

  int64_t channels_ = 3;
  ImageSize in_, size_;
  std::vector<TopOp> ops_;

  // Which steps take what a leaf draws: `step` takes all; of a policy, one of the three steps from step + 3 · i on
  // takes parameter number i.
  struct Leaf {
    int step = 0;  // index; steps_.size() for flips that are left to the output
    bool is_policy = false;
  };
  std::vector<Leaf> leaves_;
  std::vector<DeviceStep> steps_;
  bool moves_maps_ = false;
  std::vector<DeviceStep> map_moves_;
  std::vector<std::vector<int>> moving_steps_;  // for each of map_moves_, the steps whose draws it takes

  // What the last step holds so far, while ops may still join it.
  struct Open {
    bool only_flips = false, interpolates = false, crops_interpolated = false, fills = false;
    int colors = 0;
  };
  Open open_;
};

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_DEVICE_STEPS_H_
