#include "server/work/select/subset.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/config/nearest_word.h"
#include "common/identity/fingerprint.h"
#include "common/identity/subset.h"
#include "common/status_macros.h"
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
  const std::unordered_set<std::string> names(subset.classes().begin(), subset.classes().end());
  std::set<int64_t> chosen;
  for (size_t label = 0; label < labels->classes().size(); ++label)
    if (names.contains(labels->classes()[label])) chosen.insert(static_cast<int64_t>(label));
  if (chosen.size() == names.size()) return chosen;
  for (const std::string& name : subset.classes())
    if (std::find(labels->classes().begin(), labels->classes().end(), name) == labels->classes().end())
      return absl::NotFoundError(absl::StrCat("subset: no class is called '", absl::CHexEscape(name), "'",
                                              DidYouMean(name, labels->classes())));
  return absl::InvalidArgumentError("subset: two classes have one name");
}

absl::StatusOr<const SampleSet*> ListOf(const v1::Subset& subset, const SampleLists& lists) {
  const auto found = lists.find(subset.list());
  if (found != lists.end()) return found->second.get();
  std::string names;
  for (const auto& [other, set] : lists) absl::StrAppend(&names, names.empty() ? "" : ", ", other);
  return absl::NotFoundError(
      absl::StrCat("subset: no list '", absl::CHexEscape(subset.list()),
                   "' is configured for this dataset; there are: ", names.empty() ? "none" : names));
}

// Says whether a sample's name meets the subset's conditions.
bool NameFits(const v1::Subset& subset, const std::string& name) {
  const uint64_t hash = HashOfName(name, subset.split_seed());
  for (const v1::HashRange& range : subset.name_hashes())
    if (range.first() <= hash && hash <= range.last()) return true;
  return false;
}

// The conditions of a subset but for its ids, and the samples that were found to meet them all.
class Finder {
 public:
  Finder(const v1::Subset& subset, const Dataset& dataset, std::set<int64_t> labels, const SampleSet* list,
         uint64_t end)
      : subset_(subset), dataset_(dataset), labels_(std::move(labels)), list_(list), words_((end + 63) / 64) {}

  // Looks at the samples [begin, end).
  void Look(uint64_t begin, uint64_t end) {
    if (subset_.classes().empty()) return Take(begin, end);
    while (begin < end) {
      const LabelRun run = dataset_.labels()->RunAt(begin);
      const uint64_t next = std::min(run.end, end);
      if (labels_.contains(run.label)) Take(begin, next);
      begin = next;
    }
  }

  SampleSet Found() && { return SampleSet(std::move(words_)); }

 private:
  // Takes those of the samples [begin, end) that are listed and whose names fit.
  void Take(uint64_t begin, uint64_t end) {
    if (list_ == nullptr && subset_.name_hashes().empty()) return SetBits(begin, end);
    for (uint64_t id = begin; id < end; ++id)
      if ((list_ == nullptr || list_->Contains(id)) &&
          (subset_.name_hashes().empty() || NameFits(subset_, dataset_.SampleName(id))))
        SetBits(id, id + 1);
  }

  void SetBits(uint64_t begin, uint64_t end) {
    for (; begin < end && begin % 64 != 0; ++begin) words_[begin / 64] |= uint64_t{1} << begin % 64;
    for (; begin + 64 <= end; begin += 64) words_[begin / 64] = ~uint64_t{0};
    for (; begin < end; ++begin) words_[begin / 64] |= uint64_t{1} << begin % 64;
  }

  const v1::Subset& subset_;
  const Dataset& dataset_;
  const std::set<int64_t> labels_;
  const SampleSet* const list_;
  std::vector<uint64_t> words_;
};

}  // namespace

absl::StatusOr<SampleSet> ResolveSubset(const v1::Subset& subset, const Dataset& dataset, const SampleLists& lists,
                                        uint64_t max_bytes) {
  if (!subset.name_hashes().empty() && !dataset.names_are_lasting())
    return absl::InvalidArgumentError(
        "subset: this dataset's index has no lasting names to cut by percent or fraction; cut by counts or ids");
  STOKER_ASSIGN_OR_RETURN(const std::vector<Range> ranges, RangesOfIds(subset, dataset.size()));
  std::set<int64_t> labels;
  if (!subset.classes().empty()) {
    STOKER_ASSIGN_OR_RETURN(labels, LabelsOf(subset, dataset.labels()));
  }
  const SampleSet* list = nullptr;
  if (!subset.list().empty()) {
    STOKER_ASSIGN_OR_RETURN(list, ListOf(subset, lists));
  }
  const uint64_t end = ranges.empty() ? 0 : ranges.back().end;
  if (SampleSet::BytesFor(end) > max_bytes)
    return absl::ResourceExhaustedError(
        absl::StrCat("subset: it takes ", SampleSet::BytesFor(end), " bytes, and this server has room for ", max_bytes,
                     " more, others being in use; give it a higher memory_limit, or ask when other jobs have ended"));
  Finder finder(subset, dataset, std::move(labels), list, end);
  for (const Range& range : ranges) finder.Look(range.begin, range.end);
  SampleSet set = std::move(finder).Found();
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
