#ifndef STOKER_COMMON_OPS_LEARNED_POLICIES_H_
#define STOKER_COMMON_OPS_LEARNED_POLICIES_H_

#include <array>
#include <span>

#include "common/ops/policy_op.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// One change of a policy that was found by learning. A plain value.
struct LearnedOp {
  PolicyOp op = PolicyOp::kIdentity;
  double probability = 0;
  int bin = 0;  // its strength, from 0 to kLearnedBins − 1, where it has one
};
using LearnedPair = std::array<LearnedOp, 2>;

inline constexpr int kLearnedBins = 10;

// Returns the pairs of changes of which AutoAugment applies one, each as likely. Pure, thread-safe.
std::span<const LearnedPair> LearnedPolicy(v1::AutoAugmentPolicy policy);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_LEARNED_POLICIES_H_
