#ifndef STOKER_COMMON_IDENTITY_EPOCH_ORDER_H_
#define STOKER_COMMON_IDENTITY_EPOCH_ORDER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/identity/permutation.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// OK, or InvalidArgument that names the field of `shuffle`.
absl::Status ValidateShuffle(const v1::Shuffle& shuffle);

// Which sample stands at which position of one epoch. Evaluated position by position in O(1) memory.
//
// Block mode keeps storage sequential: blocks of consecutive samples are permuted, then the samples within
// windows of consecutive permuted blocks. Only the dataset's last block may be short, so that a window's
// place needs no table. Immutable, hence thread-safe.
class EpochOrder {
 public:
  // Requires 1 ≤ size ≤ 2^63 and a valid shuffle.
  EpochOrder(uint64_t size, const v1::Shuffle& shuffle, uint64_t seed, uint64_t epoch);

  // The sample at `position`. Requires position < size.
  uint64_t SampleAt(uint64_t position) const;

 private:
  uint64_t BlockSampleAt(uint64_t position) const;
  uint64_t WindowStart(uint64_t window) const;

  const uint64_t size_;
  const v1::ShuffleMode mode_;
  const uint64_t key_;

  const uint64_t block_samples_;  // Full mode is one window of blocks of one sample.
  const uint64_t blocks_;
  const uint64_t window_blocks_;
  const Permutation block_order_;  // Full mode: of samples.
  const uint64_t missing_;         // Samples that the dataset's last block lacks.
  const uint64_t short_rank_;      // Where the last block stands in block_order_.
  const uint64_t short_window_;
};

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_EPOCH_ORDER_H_
