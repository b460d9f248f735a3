#include "server/prepare/sample_keys.h"

#include <xxhash.h>

#include <algorithm>

#include "absl/strings/str_replace.h"

namespace stoker {
namespace {

std::string Escaped(std::string_view base) {
  return absl::StrReplaceAll(absl::string_view(base.data(), base.size()), {{"%", "%25"}, {".", "%2e"}});
}

// Returns the key of `path`, a name, with its extension or without.
std::string KeyFrom(std::string_view path, bool with_extension) {
  const size_t base = path.rfind('/') + 1, dot = path.rfind('.');
  // A base name that has nothing before the dot keeps the dot.
  const bool cut = !with_extension && dot != std::string_view::npos && dot > base;
  return std::string(path.substr(0, base)) + Escaped(path.substr(base, cut ? dot - base : std::string_view::npos));
}

uint64_t HashOfKey(const std::string& key) { return XXH3_64bits(key.data(), key.size()); }

}  // namespace

SampleKeys::SampleKeys(const SampleSource& source) {
  std::vector<uint64_t> hashes;
  hashes.reserve(source.dataset().size());
  for (uint64_t id = 0; id < source.dataset().size(); ++id)
    hashes.push_back(HashOfKey(KeyFrom(source.NameOf(id), false)));
  std::sort(hashes.begin(), hashes.end());
  for (size_t i = 1; i < hashes.size(); ++i)
    if (hashes[i] == hashes[i - 1] && (shared_.empty() || shared_.back() != hashes[i])) shared_.push_back(hashes[i]);
}

std::string SampleKeys::KeyOf(const std::string& name) const {
  std::string key = KeyFrom(name, false);
  return std::binary_search(shared_.begin(), shared_.end(), HashOfKey(key)) ? KeyFrom(name, true) : key;
}

}  // namespace stoker
