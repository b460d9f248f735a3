#include "server/prepare/sample_source.h"

#include <xxhash.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

uint64_t HashOfName(const std::string& name) { return XXH3_64bits(name.data(), name.size()); }

}  // namespace

std::vector<std::string> SampleSource::Classes() const {
  const Labels* labels = dataset().labels();
  return labels == nullptr ? std::vector<std::string>() : labels->classes();
}

absl::StatusOr<DatasetSource> DatasetSource::Create(const Dataset& dataset) {
  DatasetSource source(dataset);
  std::vector<uint64_t> hashes;
  hashes.reserve(dataset.size());
  for (uint64_t id = 0; id < dataset.size(); ++id) hashes.push_back(HashOfName(dataset.SampleName(id)));
  std::vector<uint64_t> sorted = hashes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return source;
  std::unordered_map<uint64_t, uint64_t> met;
  for (uint64_t id = 0; id < hashes.size(); ++id) {
    const auto [begin, end] = std::equal_range(sorted.begin(), sorted.end(), hashes[id]);
    if (end - begin < 2) continue;
    const uint64_t number = ++met[hashes[id]];
    if (number > 1) source.numbers_.emplace(id, number);
  }
  for (const auto& [id, number] : source.numbers_)
    if (std::binary_search(sorted.begin(), sorted.end(), HashOfName(source.NameOf(id))))
      return absl::InvalidArgumentError(absl::StrCat("two samples are called '", dataset.SampleName(id),
                                                     "', and another one '", source.NameOf(id), "'"));
  return source;
}

std::string DatasetSource::NameOf(uint64_t id) const {
  const auto found = numbers_.find(id);
  return found == numbers_.end() ? dataset_.SampleName(id) : absl::StrCat(dataset_.SampleName(id), "#", found->second);
}

}  // namespace stoker
