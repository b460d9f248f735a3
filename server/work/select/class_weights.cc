#include "server/work/select/class_weights.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/config/nearest_word.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// What a run takes while it is gathered, in vectors that grow, and copied.
constexpr uint64_t kBytesOfRun = 4 * sizeof(WeightedClasses::Run);

using Classes = std::map<int64_t, WeightedClasses::Class>;  // by label

// Returns the classes that have weights, without their samples; none where every class counts alike.
absl::StatusOr<Classes> Weights(const v1::Shuffle& shuffle, const Labels& labels) {
  if (!shuffle.class_weights().empty() && labels.classes().empty())
    return absl::InvalidArgumentError(
        "class_weights: this dataset's labels are numbers without names; leave the weights out to draw all alike");
  Classes classes;
  for (const auto& [name, weight] : shuffle.class_weights()) {
    const auto found = std::find(labels.classes().begin(), labels.classes().end(), name);
    if (found == labels.classes().end())
      return absl::NotFoundError(absl::StrCat("class_weights: no class is called '", absl::CHexEscape(name), "'",
                                              DidYouMean(name, labels.classes())));
    classes[found - labels.classes().begin()].weight = weight;
  }
  return classes;
}

// Gathers the samples' ranks by class.
class Gatherer {
 public:
  Gatherer(Classes classes, bool all, const Labels& labels, uint64_t max_bytes)
      : classes_(std::move(classes)), all_(all), labels_(labels), left_(max_bytes / kBytesOfRun) {}

  // Takes the samples [begin, end), the first of which has the rank that follows those before.
  void Add(uint64_t begin, uint64_t end) {
    while (begin < end && left_ > 0) {
      const LabelRun run = labels_.RunAt(begin);
      const uint64_t next = std::min(run.end, end);
      Take(run.label, rank_, rank_ + next - begin);
      rank_ += next - begin;
      begin = next;
    }
  }

  bool full() const { return left_ == 0; }
  Classes& classes() { return classes_; }

 private:
  void Take(int64_t label, uint64_t begin, uint64_t end) {
    if (!all_ && !classes_.contains(label)) return;
    WeightedClasses::Class& one = classes_[label];
    if (all_) one.weight = 1;
    if (!one.runs.empty() && one.runs.back().end == begin) {
      one.runs.back().end = end;
    } else {
      one.runs.push_back({begin, end});
      --left_;
    }
  }

  Classes classes_;
  const bool all_;
  const Labels& labels_;
  uint64_t left_;  // runs that there is room for
  uint64_t rank_ = 0;
};

}  // namespace

uint64_t MostBytesOfWeights(const Dataset& dataset) {
  uint64_t runs = 0;
  if (const Labels* const labels = dataset.labels())
    for (uint64_t id = 0; id < dataset.size(); ++runs) id = labels->RunAt(id).end;
  return (runs + 1) * kBytesOfRun;
}

absl::StatusOr<WeightedClasses> ResolveWeights(const v1::Shuffle& shuffle, const Dataset& dataset,
                                               const SampleSet* subset, uint64_t max_bytes) {
  const Labels* const labels = dataset.labels();
  if (labels == nullptr)
    return absl::InvalidArgumentError(
        "shuffle: samples cannot be drawn by class, for this dataset's index has no labels; take another mode");
  STOKER_ASSIGN_OR_RETURN(Classes weights, Weights(shuffle, *labels));
  Gatherer gatherer(std::move(weights), shuffle.class_weights().empty(), *labels, max_bytes);
  if (subset == nullptr)
    gatherer.Add(0, dataset.size());
  else
    subset->ForEachRun([&](uint64_t begin, uint64_t end) { gatherer.Add(begin, end); });
  if (gatherer.full())
    return absl::ResourceExhaustedError(absl::StrCat("class_weights: the classes' samples are too scattered for the ",
                                                     max_bytes,
                                                     " bytes that this server's memory allows for them; "
                                                     "raise its memory_limit"));
  std::vector<WeightedClasses::Class> classes;
  for (auto& [label, one] : gatherer.classes()) {
    if (one.runs.empty())
      return absl::InvalidArgumentError(absl::StrCat("class_weights: class '", labels->classes()[label],
                                                     "' has no sample in the subset; leave it out"));
    classes.push_back(std::move(one));
  }
  return WeightedClasses(classes);
}

}  // namespace stoker
