#include "server/read/registry/open_dataset.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/identity/dataset_name.h"
#include "common/status_macros.h"
#include "server/read/content/content_dataset.h"
#include "server/read/formats/folder/image_folder.h"
#include "server/read/formats/labeled/labeled_folder.h"
#include "server/read/formats/stored_folder/stored_folder.h"
#include "server/read/mixed/mixed_dataset.h"
#include "server/read/printable_name.h"
#include "server/read/registry/open_source.h"
#include "server/read/registry/sharded.h"
#include "server/read/synthetic/synthetic.h"

namespace stoker {
namespace {

// Returns the last component of a path, such as "train" for "/data/train/".
absl::string_view BaseName(absl::string_view path) {
  while (absl::ConsumeSuffix(&path, "/") || absl::ConsumeSuffix(&path, "/.")) {
  }
  return path.substr(path.rfind('/') + 1);
}

// Returns the last folder of a path or URL that has no braces and no wildcards.
std::string NameOfPath(const std::string& path) {
  const auto is_folder = [](const std::string& local) { return absl::EndsWith(local, "/"); };
  const SplitPath split = Split(path, is_folder);
  const bool is_pattern = split.pattern.find_first_of("{*?[") != split.pattern.npos;
  return std::string(BaseName(is_pattern || split.pattern.empty() ? split.root : path));
}

std::string NameOfPaths(const google::protobuf::RepeatedPtrField<std::string>& paths) {
  return paths.empty() ? "unnamed" : NameOfPath(paths[0]);
}

// The URL of class folders in two: that of the folder, and the name of the list of its files.
struct FolderUrl {
  std::string root;
  std::string list;  // empty where the store lists the files
};

FolderUrl FolderUrlOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (!IsUrl(path) || !absl::EndsWith(path, ".txt") || slash == path.npos) return {path, ""};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

std::string DefaultName(const v1::DatasetConfig& config) {
  switch (config.source_case()) {
    case v1::DatasetConfig::kImageFolder: return std::string(BaseName(FolderUrlOf(config.image_folder().path()).root));
    case v1::DatasetConfig::kLabeledFolder: return std::string(BaseName(config.labeled_folder().path()));
    case v1::DatasetConfig::kSynthetic: return "synthetic";
    case v1::DatasetConfig::kData: return NameOfPath(config.data());
    case v1::DatasetConfig::kWebdataset: return NameOfPaths(config.webdataset().path());
    case v1::DatasetConfig::kTfrecord: return NameOfPaths(config.tfrecord().path());
    case v1::DatasetConfig::kMds: return NameOfPaths(config.mds().path());
    case v1::DatasetConfig::kParquet: return NameOfPaths(config.parquet().path());
    case v1::DatasetConfig::kLmdb: return NameOfPaths(config.lmdb().path());
    case v1::DatasetConfig::kHdf5: return NameOfPaths(config.hdf5().path());
    case v1::DatasetConfig::kFeatureVectors: return NameOfPaths(config.feature_vectors().path());
    case v1::DatasetConfig::kMix: return "mix";
    case v1::DatasetConfig::SOURCE_NOT_SET: break;
  }
  return "unnamed";
}

// Opens class folders behind a URL, which is that of their folder or of a list of the files in it.
absl::Status OpenStoredFolder(const v1::DatasetConfig& config, const OpenDatasetOptions& options,
                              OpenedDataset& opened) {
  const FolderUrl url = FolderUrlOf(config.image_folder().path());
  auto store = OpenStore(url.root, config);
  if (!store.ok()) return NamedError(url.root, store.status());
  STOKER_ASSIGN_OR_RETURN(auto folder, StoredFolder::Open(*std::move(store), {.name = opened.name,
                                                                              .list = url.list,
                                                                              .cache_dir = options.cache_dir,
                                                                              .threads = options.threads,
                                                                              .progress = options.progress,
                                                                              .cache = options.raw_cache}));
  opened.warnings = folder->warnings();
  opened.dataset = std::move(folder);
  return absl::OkStatus();
}

absl::Status OpenConfigured(const v1::DatasetConfig& config, const OpenDatasetOptions& options, OpenedDataset& opened) {
  switch (config.source_case()) {
    case v1::DatasetConfig::kImageFolder: {
      if (IsUrl(config.image_folder().path())) return OpenStoredFolder(config, options, opened);
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
    case v1::DatasetConfig::kWebdataset:
    case v1::DatasetConfig::kTfrecord:
    case v1::DatasetConfig::kMds:
    case v1::DatasetConfig::kLmdb:
    case v1::DatasetConfig::kFeatureVectors: {
      STOKER_ASSIGN_OR_RETURN(
          auto shards,
          OpenShards(config, {opened.name, options.cache_dir, options.threads, options.progress, options.raw_cache},
                     options.staging));
      opened.warnings = shards->warnings();
      opened.dataset = std::move(shards);
      return absl::OkStatus();
    }
    case v1::DatasetConfig::kData: {
      STOKER_ASSIGN_OR_RETURN(const v1::DatasetConfig found, FindFormat(config));
      return OpenConfigured(found, options, opened);
    }
    case v1::DatasetConfig::kMix: {
      STOKER_ASSIGN_OR_RETURN(opened.dataset, MixedDataset::Create(config.mix(), options.find));
      return absl::OkStatus();
    }
    case v1::DatasetConfig::kParquet: {
      STOKER_ASSIGN_OR_RETURN(auto parquet, OpenParquet(config, {.name = opened.name,
                                                                 .cache_dir = options.cache_dir,
                                                                 .threads = options.threads,
                                                                 .progress = options.progress}));
      opened.warnings = parquet->warnings();
      opened.dataset = std::move(parquet);
      return absl::OkStatus();
    }
    case v1::DatasetConfig::kHdf5: {
      STOKER_ASSIGN_OR_RETURN(
          auto hdf5, OpenHdf5(config, {.name = opened.name, .threads = options.threads, .progress = options.progress},
                              options.staging));
      opened.warnings = hdf5->warnings();
      opened.dataset = std::move(hdf5);
      return absl::OkStatus();
    }
    case v1::DatasetConfig::SOURCE_NOT_SET: break;
  }
  return absl::InvalidArgumentError(
      "no source; expected data, image_folder, labeled_folder, webdataset, tfrecord, mds, parquet, lmdb, hdf5, "
      "feature_vectors, mix or synthetic");
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
  absl::Status status = OpenConfigured(config, options, opened);
  if (status.ok() && config.fingerprint() == v1::FINGERPRINT_OF_CONTENT) status = KnowContent(options, opened);
  if (status.ok()) return opened;
  return absl::Status(status.code(), absl::StrCat("dataset ", opened.name, ": ", status.message()));
}

}  // namespace stoker
