#include "common/identity/draws.h"

#include <Random123/philox.h>

#include <algorithm>
#include <bit>

#include "common/check.h"
#include "common/identity/mix.h"

namespace stoker {
namespace {

// This constant keeps draws apart from everything else that is keyed by a seed, such as the shuffle.
constexpr uint64_t kDrawDomain = 0x647261777300;

}  // namespace

uint64_t Draws::MixedKey(const DrawKey& key) { return MixAll({kDrawDomain, key.seed, key.epoch, key.op, key.view}); }

Draws::Draws(const DrawKey& key) : key_(MixedKey(key)), position_(key.position) {}

Draws::Draws(uint64_t mixed_key, uint64_t position, uint64_t word)
    : key_(mixed_key), position_(position), next_block_(word / 4) {
  const int used = static_cast<int>(word % 4);
  if (used == 0) return;
  block_ = NextBlock();
  used_ = used;
}

std::array<uint32_t, 4> Draws::NextBlock() {
  const uint64_t block = next_block_++;
  const r123::Philox4x32::ctr_type counter = {{static_cast<uint32_t>(position_), static_cast<uint32_t>(position_ >> 32),
                                               static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32)}};
  const r123::Philox4x32::key_type key = {{static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)}};
  const auto random = r123::Philox4x32()(counter, key);
  return {random[0], random[1], random[2], random[3]};
}

uint32_t Draws::Bits() {
  if (used_ == 4) {
    block_ = NextBlock();
    used_ = 0;
  }
  return block_[used_++];
}

void Draws::Fill(std::span<uint32_t> words) {
  size_t i = 0;
  while (i < words.size() && used_ < 4) words[i++] = Bits();
  for (; i + 4 <= words.size(); i += 4) {
    const std::array<uint32_t, 4> block = NextBlock();
    std::copy(block.begin(), block.end(), words.begin() + i);
  }
  while (i < words.size()) words[i++] = Bits();
}

double Draws::Uniform(double low, double high) {
  STOKER_CHECK(low <= high);
  return low + (high - low) * (static_cast<double>(Bits64() >> 11) * 0x1p-53);
}

uint64_t Draws::Below(uint64_t bound) {
  STOKER_CHECK(bound >= 1);
  // Keep just the bits that bound − 1 needs, and draw again while the value is too large. Fewer than two draws are
  // expected.
  const int excess = 64 - std::max<int>(1, std::bit_width(bound - 1));
  uint64_t value;
  do {
    value = Bits64() >> excess;
  } while (value >= bound);
  return value;
}

}  // namespace stoker
