#include "server/work/select/subset.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/config/nearest_word.h"
#include "common/identity/subset.h"
#include "common/status_macros.h"
#include "server/read/fingerprint.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

// Ids from `begin` on, up to but without `end`. Lists of them are sorted and neither overlap nor touch.
struct Range {
  uint64_t begin = 0, end = 0;
};

std::vector<Range> Merged(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> merged;
  for (const Range& range : ranges) {
    if (!merged.empty() && range.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, range.end);
    else
      merged.push_back(range);
  }
  return merged;
}

std::vector<Range> Intersection(const std::vector<Range>& a, const std::vector<Range>& b) {
  std::vector<Range> both;
  for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
    const Range common = {std::max(left->begin, right->begin), std::min(left->end, right->end)};
    if (common.begin < common.end) both.push_back(common);
    (left->end < right->end ? left : right)++;
  }
  return both;
}

std::string TextOf(const v1::IdRange& range) {
  return absl::StrCat("[", range.begin(), ":", range.has_end() ? absl::StrCat(range.end()) : "", "]");
}

// Returns the place that `number`, which counts from the end if it is negative, stands for, if the dataset has it.
std::optional<uint64_t> Place(int64_t number, uint64_t samples) {
  const uint64_t distance = number < 0 ? -static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  if (distance > samples) return std::nullopt;
  return number < 0 ? samples - distance : distance;
}

absl::StatusOr<std::vector<Range>> RangesOfIds(const v1::Subset& subset, uint64_t samples) {
  if (subset.ids().empty()) return std::vector<Range>{{0, samples}};
  std::vector<Range> ranges;
  for (const v1::IdRange& range : subset.ids()) {
    const auto begin = Place(range.begin(), samples);
    const auto end = range.has_end() ? Place(range.end(), samples) : samples;
    if (!begin.has_value() || !end.has_value())
      return absl::InvalidArgumentError(
          absl::StrCat("subset: the dataset has ", samples, " samples, and ", TextOf(range), " reaches past them"));
    if (*begin < *end) ranges.push_back({*begin, *end});
  }
  return Merged(std::move(ranges));
}

absl::StatusOr<std::set<int64_t>> LabelsOf(const v1::Subset& subset, const Labels* labels) {
  if (labels == nullptr || labels->classes().empty())
    return absl::InvalidArgumentError(
        "subset: classes cannot be chosen, for this dataset's index has none; choose by ids or names");
  std::set<int64_t> chosen;
  for (const std::string& name : subset.classes()) {
    const auto found = std::find(labels->classes().begin(), labels->classes().end(), name);
    if (found == labels->classes().end())
      return absl::NotFoundError(absl::StrCat("subset: no class is called '", absl::CHexEscape(name), "'",
                                              DidYouMean(name, labels->classes())));
    chosen.insert(found - labels->classes().begin());
  }
  return chosen;
}

std::vector<Range> RangesOfLabels(const std::set<int64_t>& chosen, const Labels& labels, uint64_t samples) {
  std::vector<Range> ranges;
  for (uint64_t id = 0; id < samples;) {
    const LabelRun run = labels.RunAt(id);
    if (chosen.contains(run.label)) ranges.push_back({id, run.end});
    id = run.end;
  }
  return Merged(std::move(ranges));
}

absl::StatusOr<std::vector<Range>> RangesOfList(const std::string& name, const SampleLists& lists) {
  const auto found = lists.find(name);
  if (found == lists.end()) {
    std::string names;
    for (const auto& [other, set] : lists) absl::StrAppend(&names, names.empty() ? "" : ", ", other);
    return absl::NotFoundError(
        absl::StrCat("subset: no list '", absl::CHexEscape(name),
                     "' is configured for this dataset; there are: ", names.empty() ? "none" : names));
  }
  std::vector<Range> ranges;
  found->second->ForEachRun([&](uint64_t begin, uint64_t end) { ranges.push_back({begin, end}); });
  return ranges;
}

// Returns what the conditions leave that ranges of ids can tell.
absl::StatusOr<std::vector<Range>> Candidates(const v1::Subset& subset, const Dataset& dataset,
                                              const SampleLists& lists) {
  STOKER_ASSIGN_OR_RETURN(std::vector<Range> ranges, RangesOfIds(subset, dataset.size()));
  if (!subset.classes().empty()) {
    STOKER_ASSIGN_OR_RETURN(const auto chosen, LabelsOf(subset, dataset.labels()));
    ranges = Intersection(ranges, RangesOfLabels(chosen, *dataset.labels(), dataset.size()));
  }
  if (!subset.list().empty()) {
    STOKER_ASSIGN_OR_RETURN(const auto listed, RangesOfList(subset.list(), lists));
    ranges = Intersection(ranges, listed);
  }
  return ranges;
}

// Says whether a sample's name meets the subset's conditions.
bool NameFits(const v1::Subset& subset, const std::string& name) {
  if (subset.name_hashes().empty()) return true;
  const uint64_t hash = HashOfName(name, subset.split_seed());
  for (const v1::HashRange& range : subset.name_hashes())
    if (range.first() <= hash && hash <= range.last()) return true;
  return false;
}

void SetBits(std::vector<uint64_t>& words, uint64_t begin, uint64_t end) {
  while (begin < end && begin % 64 != 0) words[begin / 64] |= uint64_t{1} << begin % 64, ++begin;
  for (; begin + 64 <= end; begin += 64) words[begin / 64] = ~uint64_t{0};
  for (; begin < end; ++begin) words[begin / 64] |= uint64_t{1} << begin % 64;
}

}  // namespace

absl::StatusOr<SampleSet> ResolveSubset(const v1::Subset& subset, const Dataset& dataset, const SampleLists& lists,
                                        uint64_t max_bytes) {
  if (!subset.name_hashes().empty() && !dataset.names_are_lasting())
    return absl::InvalidArgumentError(
        "subset: this dataset's index has no lasting names to cut by percent or fraction; cut by counts or ids");
  STOKER_ASSIGN_OR_RETURN(const std::vector<Range> ranges, Candidates(subset, dataset, lists));
  const uint64_t end = ranges.empty() ? 0 : ranges.back().end;
  if (SampleSet::BytesFor(end) > max_bytes)
    return absl::ResourceExhaustedError(absl::StrCat("subset: it takes ", SampleSet::BytesFor(end),
                                                     " bytes, and this server's memory allows ", max_bytes,
                                                     " for subsets; raise its memory_limit"));
  std::vector<uint64_t> words(end / 64 + (end % 64 != 0 ? 1 : 0));
  for (const Range& range : ranges) {
    if (subset.name_hashes().empty()) {
      SetBits(words, range.begin, range.end);
      continue;
    }
    for (uint64_t id = range.begin; id < range.end; ++id)
      if (NameFits(subset, dataset.SampleName(id))) SetBits(words, id, id + 1);
  }
  SampleSet set(std::move(words));
  if (set.size() == 0)
    return absl::InvalidArgumentError("subset: no sample of the dataset meets all of its conditions");
  return set;
}

std::string SubsetFingerprint(const std::string& fingerprint, const SampleSet& subset) {
  uint64_t runs = 0;
  subset.ForEachRun([&](uint64_t, uint64_t) { ++runs; });
  Fingerprint hash("stoker.subset.v1");
  hash.AddBytes(fingerprint);
  hash.AddNumber(runs);
  subset.ForEachRun([&](uint64_t begin, uint64_t end) {
    hash.AddNumber(begin);
    hash.AddNumber(end);
  });
  return hash.Finish();
}

}  // namespace stoker
