#include "server/scan/duplicates.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/identity/fingerprint.h"

namespace stoker {
namespace {

Finding Duplicate(uint64_t id, uint64_t first, const Dataset& dataset) {
  const Labels* labels = dataset.labels();
  const bool torn = labels != nullptr && labels->RunAt(id).label != labels->RunAt(first).label;
  return {.id = id,
          .kind = FindingKind::kDuplicate,
          .message = absl::StrCat("has the same bytes as ", dataset.SampleName(first), " (id ", first, ")",
                                  torn ? ", and another label" : ""),
          .other = first};
}

}  // namespace

SampleDigest DigestOf(const SourceSchema& schema, const SampleBytes& sample) {
  const auto is_image = [](const SourceField& field) {
    return field.kind == SourceField::Kind::kEncodedImage && !IsMap(field.meaning);
  };
  const bool has_images = std::any_of(schema.begin(), schema.end(), is_image);
  Fingerprint sha("");
  for (size_t i = 0; i < schema.size(); ++i) {
    if (has_images && !is_image(schema[i])) continue;
    const auto& field = sample.fields[i];
    sha.AddNumber(field.size());
    sha.AddBytes({reinterpret_cast<const char*>(field.data()), field.size()});
  }
  SampleDigest digest;
  std::memcpy(digest.data(), sha.Finish().data(), sizeof(digest));
  return digest;
}

std::vector<Finding> FindDuplicates(const std::vector<SampleDigest>& digests, const Dataset& dataset) {
  std::vector<uint64_t> ids;
  ids.reserve(digests.size());
  for (uint64_t id = 0; id < digests.size(); ++id)
    if (digests[id] != SampleDigest{}) ids.push_back(id);
  std::sort(ids.begin(), ids.end(),
            [&](uint64_t a, uint64_t b) { return digests[a] != digests[b] ? digests[a] < digests[b] : a < b; });
  std::vector<Finding> found;
  for (size_t i = 1, first = 0; i < ids.size(); ++i) {
    if (digests[ids[i]] != digests[ids[first]]) {
      first = i;
    } else {
      found.push_back(Duplicate(ids[i], ids[first], dataset));
    }
  }
  return found;
}

}  // namespace stoker
