#include "common/identity/permutation.h"

#include <algorithm>
#include <bit>

#include "common/check.h"
#include "common/identity/mix.h"

namespace stoker {
namespace {

// Returns half the number of bits of the network: the smallest for which both halves together hold every value below
// `size`.
int HalfBits(uint64_t size) { return std::max<int>(1, (std::bit_width(size - 1) + 1) / 2); }

}  // namespace

Permutation::Permutation(uint64_t size, uint64_t key) : size_(size), half_bits_(HalfBits(size)) {
  STOKER_CHECK(size >= 1 && size <= uint64_t{1} << 63);
  for (uint64_t& round_key : round_keys_) round_key = Mix(key += 0x9e3779b97f4a7c15);
}

uint64_t Permutation::SampleAt(uint64_t position) const {
  STOKER_CHECK(position < size_);
  do {
    position = Encrypt(position);
  } while (position >= size_);
  return position;
}

uint64_t Permutation::PositionOf(uint64_t sample) const {
  STOKER_CHECK(sample < size_);
  do {
    sample = Decrypt(sample);
  } while (sample >= size_);
  return sample;
}

uint64_t Permutation::Encrypt(uint64_t block) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t left = block >> half_bits_, right = block & mask;
  for (uint64_t key : round_keys_) {
    left ^= Mix(right ^ key) & mask;
    std::swap(left, right);
  }
  return left << half_bits_ | right;
}

uint64_t Permutation::Decrypt(uint64_t block) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t left = block >> half_bits_, right = block & mask;
  for (auto key = round_keys_.rbegin(); key != round_keys_.rend(); ++key) {
    std::swap(left, right);
    left ^= Mix(right ^ *key) & mask;
  }
  return left << half_bits_ | right;
}

}  // namespace stoker
