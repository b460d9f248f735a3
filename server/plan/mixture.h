#ifndef STOKER_SERVER_PLAN_MIXTURE_H_
#define STOKER_SERVER_PLAN_MIXTURE_H_

#include <cstdint>
#include <vector>

#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Draws samples from several parts by weight, without replacement within a part. Evaluated position by position, in
// memory of O(parts). Immutable, hence thread-safe.
//
// All epochs are one run of positions: position p of epoch e, where an epoch has P positions, is e·P + p of the run.
// With W the sum of the weights, each aligned block of W positions of the run is a keyed permutation that has exactly
// wᵢ samples of part i: block b has the part's ordinals b·wᵢ to b·wᵢ + wᵢ − 1, in the order that the permutation gives
// them. Ordinal k is the sample at place k mod nᵢ of the part's pass k div nᵢ, where a pass is the part's nᵢ samples in
// an order of their own. So passes run on from epoch to epoch, and every sample of a part comes once in each. After any
// number of whole blocks a sample of a part has come at most once more than another.
//
//   run              │ a b a a │ a a a b │ b a a a │ …   (weights 3 and 1)
//   ordinals of a      1   0 2   5 3 4       6 8 7
//   ordinals of b        0             1   2
class Mixture {
 public:
  // Ranks from `begin` on, up to but without `end`.
  struct Part {
    uint64_t begin = 0, end = 0;
    uint64_t weight = 0;
  };

  // Parts have at least one rank and a weight of at least 1 each, and the weights' sum is at most kMostWeight.
  static constexpr uint64_t kMostWeight = uint64_t{1} << 32;
  explicit Mixture(std::vector<Part> parts);

  // Returns the rank of the sample that stands at `position` of an epoch of `positions`, as a pure function of the
  // arguments. `shuffle`, which is valid and not weighted, orders each pass; without one, blocks are not permuted
  // either.
  uint64_t RankAt(const v1::Shuffle& shuffle, uint64_t seed, uint64_t epoch, uint64_t positions,
                  uint64_t position) const;

 private:
  const std::vector<Part> parts_;
  std::vector<uint64_t> weight_ends_;  // the sum of the weights up to each part's
};

}  // namespace stoker

#endif  // STOKER_SERVER_PLAN_MIXTURE_H_
