#ifndef STOKER_SERVER_PLAN_SELECTION_H_
#define STOKER_SERVER_PLAN_SELECTION_H_

#include <cstdint>
#include <memory>

#include "common/identity/epoch_order.h"
#include "server/plan/mixture.h"
#include "server/plan/sample_set.h"
#include "server/plan/weighted_classes.h"

namespace stoker {

// Which of a dataset's samples a job reads. A value, whose parts are shared by all jobs that read the same.
struct Selection {
  std::shared_ptr<const SampleSet> subset;          // null: all samples
  std::shared_ptr<const WeightedClasses> weighted;  // in mode weighted; null otherwise. Its ranks are the subset's.
  std::shared_ptr<const Mixture> mixture;           // where parts have weights; null otherwise. Likewise.
};

// Says which sample stands at which position of one epoch. Immutable, hence thread-safe.
class SampleOrder {
 public:
  // An epoch of a job has `positions`: without weights as many as the selection has samples.
  SampleOrder(const Selection& selection, uint64_t positions, const v1::Shuffle& shuffle, uint64_t seed, uint64_t epoch)
      : selection_(selection),
        order_(positions, shuffle, seed, epoch),
        shuffle_(selection.mixture == nullptr ? v1::Shuffle() : shuffle),
        positions_(positions),
        seed_(seed),
        epoch_(epoch) {}

  // Returns the id of the sample at `position`. Requires that the epoch has this position.
  uint64_t SampleAt(uint64_t position) const {
    const uint64_t rank = RankAt(position);
    return selection_.subset == nullptr ? rank : selection_.subset->IdAt(rank);
  }

  // Returns the positions from which the partners of the sample at `position` are drawn: its shuffle window, or all.
  EpochOrder::Window WindowOf(uint64_t position) const {
    if (selection_.weighted != nullptr || selection_.mixture != nullptr) return {0, positions_};
    return order_.WindowOf(position);
  }

 private:
  uint64_t RankAt(uint64_t position) const {
    if (selection_.weighted != nullptr) return selection_.weighted->RankAt(seed_, epoch_, position);
    if (selection_.mixture != nullptr) return selection_.mixture->RankAt(shuffle_, seed_, epoch_, positions_, position);
    return order_.SampleAt(position);
  }

  const Selection selection_;
  const EpochOrder order_;
  const v1::Shuffle shuffle_;
  const uint64_t positions_, seed_, epoch_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_PLAN_SELECTION_H_
