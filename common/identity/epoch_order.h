#ifndef STOKER_COMMON_IDENTITY_EPOCH_ORDER_H_
#define STOKER_COMMON_IDENTITY_EPOCH_ORDER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/identity/permutation.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// OK, or InvalidArgument that names the field of `shuffle` at fault.
absl::Status ValidateShuffle(const v1::Shuffle& shuffle);

// Says which sample stands at which position of one epoch. It is evaluated position by position, in O(1) memory. What
// mode weighted draws depends on labels, so the server's plan knows that.
//
// Block mode keeps reading sequential. It permutes blocks of consecutive samples, and then the samples within each
// window of consecutive permuted blocks:
//
//   samples    │ block 0 │ block 1 │ block 2 │ block 3 │ block 4 │ 5 │
//   positions  │ block 3 │ block 0 │ 5 │ block 4 │ block 2 │ block 1 │
//              └──── window 0 ─────┴── window 1 ─┴──── window 2 ─────┘   (two blocks a window; samples mixed in each)
//
// Only the dataset's last block may be short, so no table is needed to find a window's place.
//
// Immutable, hence thread-safe.
class EpochOrder {
 public:
  // Requires 1 ≤ size ≤ 2^63 and a valid shuffle, whose mode is not weighted where SampleAt is called.
  EpochOrder(uint64_t size, const v1::Shuffle& shuffle, uint64_t seed, uint64_t epoch);

  // Consecutive positions: [first, first + count).
  struct Window {
    uint64_t first = 0, count = 0;
  };

  // Returns the sample at `position`. Requires position < size.
  uint64_t SampleAt(uint64_t position) const;

  // Returns the positions whose samples are mixed with that at `position`: its window in block mode, and otherwise all.
  // Requires position < size.
  Window WindowOf(uint64_t position) const;

 private:
  uint64_t NumberOfWindow(uint64_t position) const;
  uint64_t BlockSampleAt(uint64_t position) const;
  uint64_t WindowStart(uint64_t window) const;

  const uint64_t size_;
  const v1::ShuffleMode mode_;
  const uint64_t key_;

  const uint64_t block_samples_;  // samples of a block; 1 in full mode
  const uint64_t blocks_;
  const uint64_t window_blocks_;   // blocks of a window
  const Permutation block_order_;  // the order of blocks, which in full mode is the order of samples
  const uint64_t missing_;         // samples that the dataset's last block lacks
  const uint64_t short_rank_;      // the last block's rank in block_order_
  const uint64_t short_window_;    // the window that holds the last block
};

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_EPOCH_ORDER_H_
