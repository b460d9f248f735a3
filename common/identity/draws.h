#ifndef STOKER_COMMON_IDENTITY_DRAWS_H_
#define STOKER_COMMON_IDENTITY_DRAWS_H_

#include <array>
#include <cstdint>
#include <span>

#include "common/identity/mix.h"

namespace stoker {

// Names the random numbers that one op draws for one sample of one epoch. A plain value.
struct DrawKey {
  uint64_t seed = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;
  uint64_t op = 0;    // the op's path in the pipeline as declared: its index, or NestedOp's value
  uint64_t view = 0;  // the view's number, counted through all view groups; 0 if there are none
  friend bool operator==(const DrawKey&, const DrawKey&) = default;
};

// Returns the path of the op that stands at `index` inside of the op at `path`.
inline uint64_t NestedOp(uint64_t path, uint64_t index) { return MixAll({path, index}); }

// The random numbers that belong to a key. They are the same on every machine and for either placement, whatever else
// was drawn before.
//
// The generator is counter-based: Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011)
// from Random123. Each step turns a key of 64 bits and a counter of 128 bits into a block of four words:
//
//   key      MixedKey: a hash of (domain, seed, epoch, op, view)
//   counter  words 0 and 1: position; words 2 and 3: block = 0, 1, 2, …; low word first
//
// Cheap to construct. One thread at a time.
class Draws {
 public:
  explicit Draws(const DrawKey& key);

  // Goes on where `word` words were drawn by the DrawKey with this MixedKey and position.
  Draws(uint64_t mixed_key, uint64_t position, uint64_t word);

  // Returns Philox's key: a hash of all members of the DrawKey but its position.
  static uint64_t MixedKey(const DrawKey& key);

  // Draws 32 uniform bits.
  uint32_t Bits();

  // Fills `words` with what as many calls of Bits() would give, but faster.
  void Fill(std::span<uint32_t> words);

  // Draws a number uniform in [low, high], on a grid of 2^53 steps. Requires low ≤ high.
  double Uniform(double low, double high);

  // Draws a whole number uniform in [0, bound), without bias. Requires bound ≥ 1.
  uint64_t Below(uint64_t bound);

  // Draws true with probability p.
  bool Bernoulli(double p) { return Uniform(0, 1) < p; }

 private:
  uint64_t Bits64() {
    const uint64_t high = Bits();  // Has a line of its own, since operands of | may be evaluated in any order.
    return high << 32 | Bits();
  }

  std::array<uint32_t, 4> NextBlock();

  const uint64_t key_;
  const uint64_t position_;
  uint64_t next_block_ = 0;
  std::array<uint32_t, 4> block_ = {};
  int used_ = 4;  // words of block_ that were drawn already
};

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_DRAWS_H_
