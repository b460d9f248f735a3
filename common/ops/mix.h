#ifndef STOKER_COMMON_OPS_MIX_H_
#define STOKER_COMMON_OPS_MIX_H_

#include <string>

#include "absl/status/status.h"
#include "common/identity/draws.h"
#include "common/ops/batch_draw.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops on a batch rather than a sample: MixUp, CutMix, or a RandomChoice of them. Pure functions, thread-safe.

bool IsBatchOp(const v1::Op& op);

// Whether any of its transforms is MixUp or CutMix.
bool ChoosesBatchOp(const v1::RandomChoice& op);

// OK if all of them are, valid, and for the same labels.
absl::Status ValidateBatchChoice(const v1::RandomChoice& op);

// Of a valid batch op: the field of labels and how many there are.
struct MixedLabels {
  std::string field;
  int64_t classes = 0;
};
MixedLabels MixedLabelsOf(const v1::Op& op);

// Whether it may be MixUp, CutMix.
bool MayMixUp(const v1::Op& op);
bool MayCutMix(const v1::Op& op);

// Draws a valid batch op by `key` for images of `size`.
BatchDraw DrawBatchOp(const v1::Op& op, const DrawKey& key, ImageSize size);

// torchvision's CutMix of a drawn λ and center: the rectangle, cut where the image ends, and what is left of λ.
BatchDraw CutMixOf(double lambda, int64_t x, int64_t y, ImageSize size);

// A number from Beta(alpha, alpha), 0 to 1, as the ratio of two of Gamma(alpha): Marsaglia and Tsang, "A Simple Method
// for Generating Gamma Variables" (2000). The same bits on every machine. Requires 0.001 ≤ alpha ≤ 1000.
double DrawBeta(double alpha, Draws& draws);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_MIX_H_
