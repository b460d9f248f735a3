#ifndef STOKER_TESTS_UNIT_SERVER_READ_CACHED_SAMPLE_KEYS_H_
#define STOKER_TESTS_UNIT_SERVER_READ_CACHED_SAMPLE_KEYS_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "common/identity/mix.h"
#include "server/read/cached/sample_key.h"

namespace stoker {

// Returns a key that looks as random as those of samples.
inline SampleKey KeyNumber(uint64_t number) {
  SampleKey key;
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t bits = MixAll({number, i});
    std::memcpy(key.data() + 8 * i, &bits, sizeof bits);
  }
  return key;
}

// Returns the bytes that tests keep under that key.
inline std::vector<uint8_t> BytesOf(uint64_t number, uint64_t size) {
  std::vector<uint8_t> bytes(size);
  for (uint64_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(Mix(number * 1000003 + i));
  return bytes;
}

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_READ_CACHED_SAMPLE_KEYS_H_
