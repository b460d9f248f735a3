#ifndef STOKER_SERVER_PREPARE_FOLDER_PLAN_H_
#define STOKER_SERVER_PREPARE_FOLDER_PLAN_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/prepare/sample_source.h"
#include "server/read/formats/folder/folder_index.h"

namespace stoker {

// The class folders that a dataset's samples become. A plain value.
struct FolderPlan {
  FolderIndex index;          // the files in their order; their sizes are not known
  std::vector<uint64_t> ids;  // each one's sample
};

struct FolderPlanOptions {
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;  // Once it is true, Cancelled is returned; null: it cannot be stopped.
  std::function<void(uint64_t samples)> reading = {};  // If set, it is told how many labels were read, by any thread.
};

// Finds a file for each sample, so that class folders of them have the same labels. A class folder has the class's name
// where the dataset knows it, or else the label in digits, as many as the largest has: "007". A file has the sample's
// name, without its class folder where it begins with one, and ends in .jpg where it does not end as an image. In a
// path's components a dot at the beginning is "%2e", and what is longer than 200 bytes ends in a hash.
//
// InvalidArgument says why there can be no such folder: a field that is neither the only image nor the label, which it
// names; a label without samples, or below 0; names of classes that are not in the order of their labels, or cannot be
// folders'. Where the index has no labels, all samples are read to find them.
absl::StatusOr<FolderPlan> PlanFolder(const SampleSource& source, const FolderPlanOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_FOLDER_PLAN_H_
