#include "server/plan/mixture.h"

#include <algorithm>
#include <utility>

#include "common/check.h"
#include "common/identity/epoch_order.h"
#include "common/identity/mix.h"
#include "common/identity/permutation.h"

namespace stoker {
namespace {

// Counts positions of the run of all epochs, which may be longer than 2^64.
__extension__ using Wide = unsigned __int128;

constexpr uint64_t kBlockDomain = 0x6d69782e626c6f63;  // "mix.bloc"
constexpr uint64_t kPartDomain = 0x6d69782e70617274;   // "mix.part"

}  // namespace

Mixture::Mixture(std::vector<Part> parts) : parts_(std::move(parts)) {
  uint64_t sum = 0;
  for (const Part& part : parts_) {
    STOKER_CHECK(part.begin < part.end && part.weight >= 1 && part.weight <= kMostWeight - sum);
    weight_ends_.push_back(sum += part.weight);
  }
  STOKER_CHECK(!parts_.empty());
}

uint64_t Mixture::RankAt(const v1::Shuffle& shuffle, uint64_t seed, uint64_t epoch, uint64_t positions,
                         uint64_t position) const {
  STOKER_CHECK(position < positions);
  const Wide at = Wide{epoch} * positions + position;
  const uint64_t sum = weight_ends_.back();
  const Wide block = at / sum;
  uint64_t slot = static_cast<uint64_t>(at % sum);
  if (shuffle.mode() != v1::SHUFFLE_MODE_NONE) {
    const uint64_t key = MixAll({kBlockDomain, seed, static_cast<uint64_t>(block), static_cast<uint64_t>(block >> 64)});
    slot = Permutation(sum, key).SampleAt(slot);
  }
  const size_t which = std::upper_bound(weight_ends_.begin(), weight_ends_.end(), slot) - weight_ends_.begin();
  const Part& part = parts_[which];
  const Wide ordinal = block * part.weight + (slot - (weight_ends_[which] - part.weight));
  const uint64_t size = part.end - part.begin;
  const Wide pass = ordinal / size;
  const uint64_t part_seed = MixAll({kPartDomain, seed, which, static_cast<uint64_t>(pass >> 64)});
  const EpochOrder order(size, shuffle, part_seed, static_cast<uint64_t>(pass));
  return part.begin + order.SampleAt(static_cast<uint64_t>(ordinal % size));
}

}  // namespace stoker
