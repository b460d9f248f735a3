#ifndef STOKER_SERVER_PREPARE_SAMPLE_KEYS_H_
#define STOKER_SERVER_PREPARE_SAMPLE_KEYS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/prepare/sample_source.h"

namespace stoker {

// The keys of samples in tar shards: a sample's name, such as a file's path, without its extension. A dot ends a key,
// so that further dots of the base name are written "%2e", and a percent sign "%25". Where several samples would have
// one key, as "a.jpg" and "a.png", the keys have the extensions too: "a%2ejpg". Immutable, hence thread-safe. It takes
// 8 bytes of memory for each of these.
class SampleKeys {
 public:
  explicit SampleKeys(const SampleSource& source);

  std::string KeyOf(const std::string& name) const;

 private:
  std::vector<uint64_t> shared_;  // hashes of the keys that several samples would have, in order
};

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_SAMPLE_KEYS_H_
