#include "server/read/cached/sample_key.h"

#include <algorithm>
#include <string>

#include "common/identity/fingerprint.h"

namespace stoker {

std::optional<SampleKey> KeyOf(const Store& store, const ObjectInfo& object, uint64_t offset, uint64_t size) {
  if (object.version.empty()) return std::nullopt;
  const std::string root = store.identity();
  Fingerprint hash("stoker.raw_sample.v1");
  hash.AddNumber(root.size() + 1 + object.name.size());
  hash.AddBytes(root);
  hash.AddBytes("/");
  hash.AddBytes(object.name);
  hash.AddNumber(object.version.size());
  hash.AddBytes(object.version);
  hash.AddNumber(offset);
  hash.AddNumber(size);
  const std::string bytes = hash.Finish();
  SampleKey key;
  std::copy_n(bytes.begin(), key.size(), key.begin());
  return key;
}

}  // namespace stoker
