#ifndef STOKER_SERVER_PLAN_SELECTION_H_
#define STOKER_SERVER_PLAN_SELECTION_H_

#include <cstdint>
#include <memory>

#include "common/identity/epoch_order.h"
#include "server/plan/sample_set.h"
#include "server/plan/weighted_classes.h"

namespace stoker {

// Which of a dataset's samples a job reads. A value, whose parts are shared by all jobs that read the same.
struct Selection {
  std::shared_ptr<const SampleSet> subset;          // null: all samples
  std::shared_ptr<const WeightedClasses> weighted;  // in mode weighted; null otherwise. Its ranks are the subset's.
};

// Says which sample stands at which position of one epoch. Immutable, hence thread-safe.
class SampleOrder {
 public:
  // An epoch of a job has `positions`: without weights as many as the selection has samples.
  SampleOrder(const Selection& selection, uint64_t positions, const v1::Shuffle& shuffle, uint64_t seed, uint64_t epoch)
      : selection_(selection), order_(positions, shuffle, seed, epoch), seed_(seed), epoch_(epoch) {}

  // Returns the id of the sample at `position`. Requires that the epoch has this position.
  uint64_t SampleAt(uint64_t position) const {
    const uint64_t rank = selection_.weighted == nullptr ? order_.SampleAt(position)
                                                         : selection_.weighted->RankAt(seed_, epoch_, position);
    return selection_.subset == nullptr ? rank : selection_.subset->IdAt(rank);
  }

 private:
  const Selection selection_;
  const EpochOrder order_;
  const uint64_t seed_, epoch_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_PLAN_SELECTION_H_
