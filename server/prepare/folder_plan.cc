#include "server/prepare/folder_plan.h"

#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "common/status_macros.h"
#include "server/read/for_each.h"
#include "server/read/formats/files/image_files.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr size_t kMostComponentBytes = 200;  // file systems take 255
constexpr int64_t kMostClasses = 1'000'000;
constexpr char kInstead[] = "; write shards of it: --format webdataset or mds";

absl::Status Refused(const auto&... what) {
  return absl::InvalidArgumentError(absl::StrCat("--format folder: ", what..., kInstead));
}

// Checks that the dataset has one image and a label, and returns the label's place.
absl::StatusOr<size_t> LabelField(const SourceSchema& schema) {
  std::optional<size_t> image, label;
  for (size_t i = 0; i < schema.size(); ++i) {
    const bool is_image = schema[i].kind == SourceField::Kind::kEncodedImage;
    std::optional<size_t>& place = is_image ? image : label;
    const bool fits =
        is_image || (schema[i].name == "label" && schema[i].shape.empty() && IsWholeNumber(schema[i].dtype));
    if (!fits || place.has_value())
      return Refused("the field '", ShortPrintableName(schema[i].name),
                     "' has no place in class folders, which have an image and a label alone");
    place = i;
  }
  if (!image.has_value()) return Refused("the dataset has no image");
  if (!label.has_value()) return Refused("the dataset has no field 'label', which says the class folders");
  return *label;
}

std::string Component(absl::string_view text) {
  std::string component(text);
  if (component.starts_with('.')) component.replace(0, 1, "%2e");
  if (component.size() > kMostComponentBytes) {
    const uint64_t hash = XXH3_64bits(component.data(), component.size());
    component = absl::StrCat(component.substr(0, kMostComponentBytes - 17), "~", absl::Hex(hash, absl::kZeroPad16));
  }
  return component;
}

// Returns a path below the class folder.
std::string PathFor(absl::string_view name, const std::string& folder) {
  if (absl::StartsWith(name, folder + "/")) name.remove_prefix(folder.size() + 1);
  // The ending is cut off first, so that it stays when a component is cut.
  const size_t dot = name.rfind('.');
  std::string ending = ".jpg";
  if (dot != name.npos && IsImageFileName(std::string_view(name.data(), name.size())) && name.size() - dot <= 5) {
    ending = std::string(name.substr(dot));
    name = name.substr(0, dot);
  }
  std::vector<std::string> components;
  for (const absl::string_view each : absl::StrSplit(name, '/', absl::SkipEmpty()))
    components.push_back(Component(each));
  if (components.empty()) components.emplace_back("_");
  return absl::StrJoin(components, "/") + ending;
}

class Planner {
 public:
  Planner(const SampleSource& source, const FolderPlanOptions& options)
      : source_(source), dataset_(source.dataset()), options_(options) {}

  absl::StatusOr<FolderPlan> Plan() {
    STOKER_ASSIGN_OR_RETURN(label_field_, LabelField(dataset_.schema()));
    STOKER_RETURN_IF_ERROR(dataset_.labels() != nullptr ? TakeLabels() : ReadLabels());
    STOKER_RETURN_IF_ERROR(CheckLabels());
    STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> folders, Folders());
    return Order(folders);
  }

 private:
  absl::Status TakeLabels() {
    labels_.resize(dataset_.size());
    for (uint64_t id = 0; id < labels_.size();) {
      const LabelRun run = dataset_.labels()->RunAt(id);
      for (; id < run.end; ++id) labels_[id] = run.label;
    }
    return absl::OkStatus();
  }

  absl::Status ReadLabels() {
    labels_.resize(dataset_.size());
    std::vector<SampleBytes> samples(options_.threads);
    absl::Mutex mutex;
    uint64_t read = 0;
    return ForEach(labels_.size(), options_.threads, [&](int thread, uint64_t id) -> absl::Status {
      if (options_.stop != nullptr && *options_.stop) return absl::CancelledError("stopped");
      SampleBytes& sample = samples[thread];
      STOKER_RETURN_IF_ERROR(dataset_.Read(id, sample));
      labels_[id] = WholeNumberAt(sample.fields[label_field_].data(), dataset_.schema()[label_field_].dtype, 0);
      const absl::MutexLock lock(&mutex);
      if (options_.reading) options_.reading(++read);
      return absl::OkStatus();
    });
  }

  // Checks that each label from 0 on has samples: class folders are numbered in their order.
  absl::Status CheckLabels() {
    const auto [least, most] = std::minmax_element(labels_.begin(), labels_.end());
    if (*least < 0) return Refused("the label ", *least, " is below 0");
    if (*most >= kMostClasses) return Refused("the label ", *most, " would be one of a million class folders");
    std::vector<bool> used(*most + 1);
    for (const int64_t label : labels_) used[label] = true;
    const auto unused = std::find(used.begin(), used.end(), false);
    if (unused != used.end())
      return Refused("no sample has the label ", unused - used.begin(),
                     ", so that class folders could not keep the labels above it");
    classes_ = *most + 1;
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<std::string>> Folders() const {
    std::vector<std::string> folders = source_.Classes();
    if (folders.empty()) {
      const int digits = static_cast<int>(absl::StrCat(classes_ - 1).size());
      for (int64_t label = 0; label < classes_; ++label) folders.push_back(absl::StrFormat("%0*d", digits, label));
      return folders;
    }
    for (size_t i = 0; i < folders.size(); ++i) {
      const std::string& name = folders[i];
      if (name.empty() || name[0] == '.' || name.size() > 255 || absl::StrContains(name, '/'))
        return Refused("the class '", name, "' cannot be a folder's name");
      if (i > 0 && name <= folders[i - 1])
        return Refused("the class '", name, "' comes after '", folders[i - 1],
                       "', and class folders are numbered in the order of their names");
    }
    if (folders.size() != static_cast<size_t>(classes_))
      return Refused("the class '", folders[classes_], "' has no sample");
    return folders;
  }

  absl::StatusOr<FolderPlan> Order(const std::vector<std::string>& folders) const {
    std::vector<std::tuple<int64_t, std::string, uint64_t>> files;
    files.reserve(labels_.size());
    for (uint64_t id = 0; id < labels_.size(); ++id)
      files.emplace_back(labels_[id], PathFor(source_.NameOf(id), folders[labels_[id]]), id);
    std::sort(files.begin(), files.end());
    FolderPlan plan;
    for (const std::string& folder : folders) plan.index.classes.push_back({folder, 0});
    for (size_t i = 0; i < files.size(); ++i) {
      const auto& [label, path, id] = files[i];
      if (i > 0 && std::get<0>(files[i - 1]) == label && std::get<1>(files[i - 1]) == path)
        return Refused("two samples would be the file '", ShortPrintableName(folders[label] + "/" + path), "'");
      plan.index.files.Add(path, std::numeric_limits<uint32_t>::max());
      plan.index.classes[label].end = i + 1;
      plan.ids.push_back(id);
    }
    if (!plan.index.IsWellFormed()) return Refused("the samples' names are no paths");
    return plan;
  }

  const SampleSource& source_;
  const Dataset& dataset_;
  const FolderPlanOptions& options_;
  size_t label_field_ = 0;
  std::vector<int64_t> labels_;  // of each sample
  int64_t classes_ = 0;
};

}  // namespace

absl::StatusOr<FolderPlan> PlanFolder(const SampleSource& source, const FolderPlanOptions& options) {
  return Planner(source, options).Plan();
}

}  // namespace stoker
