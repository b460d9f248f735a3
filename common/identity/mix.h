#ifndef STOKER_COMMON_IDENTITY_MIX_H_
#define STOKER_COMMON_IDENTITY_MIX_H_

#include <cstdint>
#include <initializer_list>

namespace stoker {

// Scrambles 64 bits: the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), a bijection whose values look
// random.
inline uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Hashes `values` into one key. Their order and number matter.
inline uint64_t MixAll(std::initializer_list<uint64_t> values) {
  uint64_t key = 0x9e3779b97f4a7c15 * (values.size() + 1);
  for (uint64_t value : values) key = Mix(key + 0x9e3779b97f4a7c15) ^ Mix(value + 0xd1342543de82ef95);
  return Mix(key);
}

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_MIX_H_
