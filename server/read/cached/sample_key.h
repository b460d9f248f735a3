#ifndef STOKER_SERVER_READ_CACHED_SAMPLE_KEY_H_
#define STOKER_SERVER_READ_CACHED_SAMPLE_KEY_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "server/read/stores/store.h"

namespace stoker {

// What the bytes of a sample are kept under: the SHA-256 of
//   "stoker.raw_sample.v1"
//   length of the object's place, its place: Store::identity, '/' and its name
//   length of its version, its version
//   offset and size of the sample's range
// where numbers are 8 bytes, little-endian. So datasets over the same objects share what is kept, whichever of its
// folders is their root, and nobody can make an object whose samples pass for another's (decision 51). An object that
// changed has another version, hence other keys.
using SampleKey = std::array<uint8_t, 32>;

// Returns the key of a range of an object. None where the object has no version: nothing would tell that it changed.
std::optional<SampleKey> KeyOf(const Store& store, const ObjectInfo& object, uint64_t offset, uint64_t size);

// Returns 64 bits of the key, which are as good as random.
inline uint64_t ShortKey(const SampleKey& key) {
  uint64_t bits;
  std::memcpy(&bits, key.data(), sizeof bits);
  return bits;
}

struct HashOfSampleKey {
  size_t operator()(const SampleKey& key) const { return ShortKey(key); }
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CACHED_SAMPLE_KEY_H_
