#include "client/fleet/dataset_index.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr size_t kMostNames = 4096;  // of one request

}  // namespace

absl::Status DatasetIndex::Check(const absl::Status& status) const {
  if (!absl::IsUnimplemented(status)) return status;
  return absl::FailedPreconditionError("the servers are too old to tell classes, labels and names; upgrade them");
}

absl::Status DatasetIndex::CheckFingerprint(const std::string& found, const std::string& expected) const {
  if (found == expected) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("a server's copy of dataset '", dataset_, "' is another one than when this job began"));
}

absl::StatusOr<std::vector<std::string>> DatasetIndex::Classes() const {
  std::vector<std::string> classes;
  uint64_t total = 0;
  do {
    v1::ListClassesRequest request;
    request.set_dataset(dataset_);
    request.set_first(classes.size());
    const auto page = client_->ListClasses(request);
    STOKER_RETURN_IF_ERROR(Check(page.status()));
    STOKER_RETURN_IF_ERROR(CheckFingerprint(page->fingerprint(), dataset_fingerprint_));
    total = page->total();
    classes.insert(classes.end(), page->classes().begin(), page->classes().end());
  } while (classes.size() < total);
  return classes;
}

absl::StatusOr<std::vector<v1::LabelRun>> DatasetIndex::Labels() const {
  std::vector<v1::LabelRun> labels;
  uint64_t samples = 0, total = 0;
  do {
    v1::ListSamplesRequest request;
    request.set_dataset(dataset_);
    *request.mutable_labels()->mutable_subset() = subset_;
    request.mutable_labels()->set_first(samples);
    const auto page = client_->ListSamples(request);
    STOKER_RETURN_IF_ERROR(Check(page.status()));
    STOKER_RETURN_IF_ERROR(CheckFingerprint(page->fingerprint(), subset_fingerprint_));
    total = page->total();
    for (const v1::LabelRun& run : page->labels()) samples += run.count();
    labels.insert(labels.end(), page->labels().begin(), page->labels().end());
  } while (samples < total);
  return labels;
}

absl::StatusOr<std::vector<std::string>> DatasetIndex::Names(const std::vector<uint64_t>& ids) const {
  std::vector<std::string> names;
  while (names.size() < ids.size()) {
    v1::ListSamplesRequest request;
    request.set_dataset(dataset_);
    const auto first = ids.begin() + names.size();
    request.mutable_names()->mutable_ids()->Assign(first, first + std::min(kMostNames, ids.size() - names.size()));
    const auto page = client_->ListSamples(request);
    STOKER_RETURN_IF_ERROR(Check(page.status()));
    STOKER_RETURN_IF_ERROR(CheckFingerprint(page->fingerprint(), dataset_fingerprint_));
    names.insert(names.end(), page->names().begin(), page->names().end());
  }
  return names;
}

}  // namespace stoker
