#include "server/work/select/selections.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/work/select/class_weights.h"

namespace stoker {
namespace {

bool IsWeighted(const v1::Shuffle& shuffle) { return shuffle.mode() == v1::SHUFFLE_MODE_WEIGHTED; }

// Returns text that is equal for equal requests.
std::string KeyOf(const std::string& dataset, const v1::Subset& subset, const v1::Shuffle& shuffle) {
  std::string key =
      absl::StrCat(dataset, " ", IsWeighted(shuffle), " ", shuffle.samples(), " ", shuffle.class_weights_size(), " ");
  const std::map<std::string, uint64_t> weights(shuffle.class_weights().begin(), shuffle.class_weights().end());
  for (const auto& [name, weight] : weights) absl::StrAppend(&key, name.size(), " ", name, " ", weight, " ");
  return key + subset.SerializeAsString();
}

// Says whether anybody has the parts beside who keeps them.
bool IsInUse(const Selection& selection) {
  return selection.subset.use_count() > 1 || selection.weighted.use_count() > 1;
}

// Forgets parts that are gone, and returns the bytes of the others.
template <typename Part>
uint64_t BytesOf(std::vector<std::weak_ptr<const Part>>& parts) {
  std::erase_if(parts, [](const std::weak_ptr<const Part>& part) { return part.expired(); });
  uint64_t bytes = 0;
  for (const auto& part : parts)
    if (const auto alive = part.lock()) bytes += alive->resident_bytes();
  return bytes;
}

// Finds the samples of a subset that leaves some out, for which there are `room` bytes.
absl::Status FindSubset(const Selections::Source& source, const v1::Subset& subset, uint64_t room,
                        JobSamples& samples) {
  STOKER_ASSIGN_OR_RETURN(SampleSet set, ResolveSubset(subset, source.dataset, source.lists, room));
  if (set.size() == source.dataset.size()) return absl::OkStatus();
  samples.positions = set.size();
  samples.fingerprint = SubsetFingerprint(source.dataset.fingerprint(), set);
  samples.selection.subset = std::make_shared<const SampleSet>(std::move(set));
  return absl::OkStatus();
}

absl::Status FindWeights(const Selections::Source& source, const v1::Shuffle& shuffle, uint64_t room,
                         JobSamples& samples) {
  STOKER_ASSIGN_OR_RETURN(WeightedClasses weighted,
                          ResolveWeights(shuffle, source.dataset, samples.selection.subset.get(), room));
  if (shuffle.samples() != 0) samples.positions = shuffle.samples();
  samples.selection.weighted = std::make_shared<const WeightedClasses>(std::move(weighted));
  return absl::OkStatus();
}

// Mixes the weighted parts of a dataset, of each what the subset has of it.
absl::Status FindMixture(const Selections::Source& source, const v1::Shuffle& shuffle, JobSamples& samples) {
  const PartWeights& weights = *source.dataset.part_weights();
  if (IsWeighted(shuffle))
    return absl::InvalidArgumentError("shuffle.mode: this dataset is mixed by weights of its own; take another mode");
  std::vector<Mixture::Part> parts;
  uint64_t first = 0, begin = 0;
  for (const PartWeights::Part& part : weights.parts) {
    const SampleSet* subset = samples.selection.subset.get();
    const uint64_t end = begin + (subset == nullptr ? part.end - first : subset->CountBelow(part.end) - begin);
    if (begin == end)
      return absl::InvalidArgumentError(
          absl::StrCat("subset: it has no sample of part ", parts.size() + 1, " of the mixed dataset"));
    parts.push_back({begin, end, part.weight});
    first = part.end;
    begin = end;
  }
  if (weights.positions != 0) samples.positions = weights.positions;
  samples.selection.mixture = std::make_shared<const Mixture>(std::move(parts));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<JobSamples> Selections::Find(const Source& source, v1::Subset subset, const v1::Shuffle& shuffle) {
  subset.DiscardUnknownFields();  // They would pass for a condition, and for something else in the key.
  JobSamples samples = {.positions = source.dataset.size(), .fingerprint = source.dataset.fingerprint()};
  const bool is_part = subset.ByteSizeLong() > 0;
  const bool is_mixed = source.dataset.part_weights() != nullptr;
  if (!is_part && is_mixed) {
    STOKER_RETURN_IF_ERROR(FindMixture(source, shuffle, samples));
    return samples;
  }
  if (!is_part && !IsWeighted(shuffle)) return samples;
  const std::string key = KeyOf(source.name, subset, shuffle);
  if (Look(key, samples)) return samples;
  absl::MutexLock lock(&finding_);
  if (Look(key, samples)) return samples;  // Another stream asked for it meanwhile.
  uint64_t room = MakeRoom(SampleSet::BytesFor(source.dataset.size()));
  if (is_part) STOKER_RETURN_IF_ERROR(FindSubset(source, subset, room, samples));
  if (samples.selection.subset != nullptr) room -= samples.selection.subset->resident_bytes();
  if (is_mixed)
    STOKER_RETURN_IF_ERROR(FindMixture(source, shuffle, samples));
  else if (IsWeighted(shuffle))
    STOKER_RETURN_IF_ERROR(FindWeights(source, shuffle, room, samples));
  Keep({key, samples});
  return samples;
}

bool Selections::Look(const std::string& key, JobSamples& samples) {
  absl::MutexLock lock(&mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.key == key; });
  if (found == kept_.end()) return false;
  kept_.splice(kept_.begin(), kept_, found);
  samples = found->samples;
  return true;
}

uint64_t Selections::MakeRoom(uint64_t wanted) {
  absl::MutexLock lock(&mutex_);
  uint64_t used = UsedBytes();
  for (auto last = kept_.end(); last != kept_.begin() && used + wanted > budget_bytes_; used = UsedBytes())
    if (!IsInUse((--last)->samples.selection)) last = kept_.erase(last);
  return budget_bytes_ - std::min(budget_bytes_, used);
}

void Selections::Keep(Kept kept) {
  absl::MutexLock lock(&mutex_);
  subsets_.push_back(kept.samples.selection.subset);
  weighted_.push_back(kept.samples.selection.weighted);
  kept_.push_front(std::move(kept));
  if (kept_.size() > kMostKept) kept_.pop_back();
}

uint64_t Selections::UsedBytes() { return BytesOf(subsets_) + BytesOf(weighted_); }

}  // namespace stoker
