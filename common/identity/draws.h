#ifndef STOKER_COMMON_IDENTITY_DRAWS_H_
#define STOKER_COMMON_IDENTITY_DRAWS_H_

#include <array>
#include <cstdint>
#include <span>

#include "common/identity/mix.h"

namespace stoker {

// What one op draws for one sample of one epoch.
struct DrawKey {
  uint64_t seed = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;
  uint64_t op = 0;    // The op's path in the pipeline as declared: its index, see also NestedOp.
  uint64_t view = 0;  // Counted through all view groups; 0 where there are none.
  friend bool operator==(const DrawKey&, const DrawKey&) = default;
};

// The path of the op that stands at `index` inside of the op at `path`.
inline uint64_t NestedOp(uint64_t path, uint64_t index) { return MixAll({path, index}); }

// The random numbers that belong to a key: always the same ones, on every machine and for either placement,
// whatever else was drawn before.
//
// Counter-based: Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011) from
// Random123, its key mixed from (domain, seed, epoch, op, view), its counter (position, block). Cheap to
// construct. One thread at a time.
class Draws {
 public:
  explicit Draws(const DrawKey& key);

  // Philox's key, mixed of all of the DrawKey but its position.
  static uint64_t MixedKey(const DrawKey& key);

  // 32 uniform bits.
  uint32_t Bits();

  // What as many calls of Bits() give, for less.
  void Fill(std::span<uint32_t> words);

  // Uniform in [low, high], of 2^53 steps. Requires low ≤ high.
  double Uniform(double low, double high);

  // Uniform in [0, bound), without bias. Requires bound ≥ 1.
  uint64_t Below(uint64_t bound);

  // True with probability p.
  bool Bernoulli(double p) { return Uniform(0, 1) < p; }

 private:
  uint64_t Bits64() {
    const uint64_t high = Bits();  // First: operands of | may be evaluated in any order.
    return high << 32 | Bits();
  }

  std::array<uint32_t, 4> NextBlock();

  const uint64_t key_;
  const uint64_t position_;
  uint64_t next_block_ = 0;
  std::array<uint32_t, 4> block_ = {};
  int used_ = 4;  // of block_
};

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_DRAWS_H_
