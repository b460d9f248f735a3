#include "server/read/registry/open_dataset.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/identity/dataset_name.h"
#include "common/status_macros.h"
#include "server/read/content/content_dataset.h"
#include "server/read/formats/folder/image_folder.h"
#include "server/read/formats/labeled/labeled_folder.h"
#include "server/read/printable_name.h"
#include "server/read/synthetic/synthetic.h"

namespace stoker {
namespace {

// Returns the last component of a path, such as "train" for "/data/train/".
absl::string_view BaseName(absl::string_view path) {
  while (absl::ConsumeSuffix(&path, "/") || absl::ConsumeSuffix(&path, "/.")) {
  }
  return path.substr(path.rfind('/') + 1);
}

std::string DefaultName(const v1::DatasetConfig& config) {
  switch (config.source_case()) {
    case v1::DatasetConfig::kImageFolder: return std::string(BaseName(config.image_folder().path()));
    case v1::DatasetConfig::kLabeledFolder: return std::string(BaseName(config.labeled_folder().path()));
    case v1::DatasetConfig::kSynthetic: return "synthetic";
    case v1::DatasetConfig::SOURCE_NOT_SET: break;
  }
  return "unnamed";
}

absl::Status OpenSource(const v1::DatasetConfig& config, const OpenDatasetOptions& options, OpenedDataset& opened) {
  switch (config.source_case()) {
    case v1::DatasetConfig::kImageFolder: {
      STOKER_ASSIGN_OR_RETURN(auto folder,
                              ImageFolder::Open(config.image_folder(),
                                                {opened.name, options.cache_dir, options.threads, options.progress}));
      opened.warnings = folder->warnings();
      opened.dataset = std::move(folder);
      return absl::OkStatus();
    }
    case v1::DatasetConfig::kLabeledFolder: {
      STOKER_ASSIGN_OR_RETURN(opened.dataset,
                              LabeledFolder::Open(config.labeled_folder(), opened.name, options.threads));
      return absl::OkStatus();
    }
    case v1::DatasetConfig::kSynthetic: {
      auto synthetic = Synthetic::Create(config.synthetic());
      if (!synthetic.ok())
        return absl::Status(synthetic.status().code(), absl::StrCat("synthetic.", synthetic.status().message()));
      opened.dataset = *std::move(synthetic);
      return absl::OkStatus();
    }
    case v1::DatasetConfig::SOURCE_NOT_SET: break;
  }
  return absl::InvalidArgumentError("no source; expected image_folder, labeled_folder or synthetic");
}

// Reads all bytes of a dataset, or what is known of them.
absl::Status KnowContent(const OpenDatasetOptions& options, OpenedDataset& opened) {
  STOKER_ASSIGN_OR_RETURN(auto known,
                          ContentDataset::Open(std::move(opened.dataset), {.name = opened.name,
                                                                           .cache_dir = options.cache_dir,
                                                                           .threads = options.threads,
                                                                           .progress = options.content_progress}));
  opened.warnings.insert(opened.warnings.end(), known->warnings().begin(), known->warnings().end());
  opened.dataset = std::move(known);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> DatasetName(const v1::DatasetConfig& config) {
  const std::string name = config.name().empty() ? DefaultName(config) : config.name();
  if (IsDatasetName(name)) return name;
  return absl::InvalidArgumentError(absl::StrCat("'", ShortPrintableName(name), "'",
                                                 config.name().empty() ? ", the base name of its folder," : "",
                                                 " cannot be a dataset's name: set `name` to ", kDatasetNameRule));
}

absl::StatusOr<OpenedDataset> OpenDataset(const v1::DatasetConfig& config, const OpenDatasetOptions& options) {
  OpenedDataset opened;
  STOKER_ASSIGN_OR_RETURN(opened.name, DatasetName(config));
  absl::Status status = OpenSource(config, options, opened);
  if (status.ok() && config.fingerprint() == v1::FINGERPRINT_OF_CONTENT) status = KnowContent(options, opened);
  if (status.ok()) return opened;
  return absl::Status(status.code(), absl::StrCat("dataset ", opened.name, ": ", status.message()));
}

}  // namespace stoker
