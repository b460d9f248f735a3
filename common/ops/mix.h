#ifndef STOKER_COMMON_OPS_MIX_H_
#define STOKER_COMMON_OPS_MIX_H_

#include <string>

#include "absl/status/status.h"
#include "common/identity/draws.h"
#include "common/ops/batch_draw.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops on a batch rather than a sample: MixUp, CutMix, or a RandomChoice of them. Pure functions, thread-safe.

// Whether any of the op's transforms is MixUp or CutMix.
bool ChoosesBatchOp(const v1::RandomChoice& op);

// OK if all of them are, valid, for the same labels, and all drawn for a batch or all for each sample.
absl::Status ValidateBatchChoice(const v1::RandomChoice& op);

// What a valid batch op mixes beside images: the field of labels, how many classes these tell apart where they are
// whole numbers (0: they are floats), and whether each sample draws for itself.
struct MixedLabels {
  std::string field;
  int64_t classes = 0;
  bool per_sample = false;
};
MixedLabels MixedLabelsOf(const v1::Op& op);

// Whether the op, which acts on a batch, may turn out to be MixUp, or CutMix.
bool MayMixUp(const v1::Op& op);
bool MayCutMix(const v1::Op& op);

template <>
struct Description<v1::MixUp> : SameSize<v1::MixUp> {
  static constexpr Placements kPlacements = kDeviceOnly;
  static constexpr Acts kActs = Acts::kOnBatch;
  static absl::Status Validate(const v1::MixUp& op);
  static void FillDefaults(v1::MixUp& op);
  static bool IsDeterministic(const v1::MixUp&) { return false; }
  static Cost CostOf(const v1::MixUp& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::CutMix> : SameSize<v1::CutMix> {
  static constexpr Placements kPlacements = kDeviceOnly;
  static constexpr Acts kActs = Acts::kOnBatch;
  static absl::Status Validate(const v1::CutMix& op);
  static void FillDefaults(v1::CutMix& op);
  static bool IsDeterministic(const v1::CutMix&) { return false; }
  static Cost CostOf(const v1::CutMix& op, ImageSize input, ImageSize output);
};

// Draws a valid batch op by `key`, a batch's or a sample's, for images of `size`.
BatchDraw DrawBatchOp(const v1::Op& op, const DrawKey& key, ImageSize size);

// torchvision's CutMix of a drawn λ and center: the rectangle, cut where the image ends, and what is left of λ.
BatchDraw CutMixOf(double lambda, int64_t x, int64_t y, ImageSize size);

// A number from Beta(alpha, alpha), 0 to 1, as the ratio of two of Gamma(alpha): Marsaglia and Tsang, "A Simple Method
// for Generating Gamma Variables" (2000). The same bits on every machine. Requires 0.001 ≤ alpha ≤ 1000.
double DrawBeta(double alpha, Draws& draws);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_MIX_H_
