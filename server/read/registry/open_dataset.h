#ifndef STOKER_SERVER_READ_REGISTRY_OPEN_DATASET_H_
#define STOKER_SERVER_READ_REGISTRY_OPEN_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/dataset.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// What the dataset is called: its configured name, the base name of its folder, or "synthetic". InvalidArgument
// where that is not 1 to 128 letters, digits, '.', '_' and '-', or starts with a dot. Touches no disk.
absl::StatusOr<std::string> DatasetName(const v1::DatasetConfig& config);

struct OpenDatasetOptions {
  std::string cache_dir;  // Where manifests are kept. Empty: nowhere.
  int threads = 16;       // That index a folder; they wait for the disk rather than the CPU.
  // If set, told now and then how many samples were found so far: by any thread, one at a time.
  std::function<void(uint64_t files)> progress;
};

struct OpenedDataset {
  std::string name;
  std::unique_ptr<Dataset> dataset;
  std::vector<std::string> warnings;  // For the log, a line each.
};

// Opens whichever source `config` has. Errors begin with the dataset's name and name the path or field.
absl::StatusOr<OpenedDataset> OpenDataset(const v1::DatasetConfig& config, const OpenDatasetOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_REGISTRY_OPEN_DATASET_H_
