#include "server/work/select/index_pages.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

constexpr uint64_t kPageBytes = 256 << 10;
constexpr int kMostRuns = kPageBytes / 16;  // A run takes 4 to 22 bytes, and mostly 7.

absl::Status NoLabels() { return absl::InvalidArgumentError("this dataset's index has no labels"); }

// Fills a page with the labels of runs of samples, but for the first ones.
class LabelWriter {
 public:
  // Skips the first `skipped` samples.
  LabelWriter(const Labels& labels, uint64_t skipped, v1::ListSamplesResponse& page)
      : labels_(labels), skipped_(skipped), page_(page) {}

  void Add(uint64_t begin, uint64_t end) {
    const uint64_t skipped = std::min(skipped_, end - begin);
    skipped_ -= skipped;
    for (begin += skipped; begin < end && page_.labels_size() < kMostRuns;) {
      const LabelRun run = labels_.RunAt(begin);
      const uint64_t next = std::min(run.end, end);
      Append(run.label, next - begin);
      begin = next;
    }
  }

 private:
  void Append(int64_t label, uint64_t count) {
    const int runs = page_.labels_size();
    v1::LabelRun& run =
        runs > 0 && page_.labels(runs - 1).label() == label ? *page_.mutable_labels(runs - 1) : *page_.add_labels();
    run.set_label(label);
    run.set_count(run.count() + count);
  }

  const Labels& labels_;
  uint64_t skipped_;
  v1::ListSamplesResponse& page_;
};

}  // namespace

absl::StatusOr<v1::ListClassesResponse> PageOfClasses(const Dataset& dataset, uint64_t first) {
  if (dataset.labels() == nullptr) return NoLabels();
  const std::vector<std::string>& classes = dataset.labels()->classes();
  v1::ListClassesResponse page;
  page.set_fingerprint(dataset.fingerprint());
  page.set_total(classes.size());
  uint64_t bytes = 0;
  for (uint64_t label = first; label < classes.size() && bytes < kPageBytes; ++label) {
    page.add_classes(classes[label]);
    bytes += classes[label].size() + 2;
  }
  return page;
}

absl::StatusOr<v1::ListSamplesResponse> PageOfLabels(const Dataset& dataset, const JobSamples& samples,
                                                     uint64_t first) {
  if (dataset.labels() == nullptr) return NoLabels();
  v1::ListSamplesResponse page;
  page.set_fingerprint(samples.fingerprint);
  page.set_total(samples.positions);
  LabelWriter writer(*dataset.labels(), first, page);
  if (samples.selection.subset == nullptr)
    writer.Add(0, dataset.size());
  else
    samples.selection.subset->ForEachRun([&](uint64_t begin, uint64_t end) { writer.Add(begin, end); });
  return page;
}

absl::StatusOr<v1::ListSamplesResponse> PageOfNames(const Dataset& dataset, const v1::SampleIds& samples) {
  v1::ListSamplesResponse page;
  page.set_fingerprint(dataset.fingerprint());
  page.set_total(dataset.size());
  uint64_t bytes = 0;
  for (const uint64_t id : samples.ids()) {
    if (id >= dataset.size())
      return absl::InvalidArgumentError(
          absl::StrCat("ids: the dataset has ", dataset.size(), " samples, and none has the id ", id));
    if (bytes >= kPageBytes) break;
    const std::string name = dataset.SampleName(id);
    bytes += name.size() + 2;
    page.add_names(name);
  }
  return page;
}

}  // namespace stoker
