#ifndef STOKER_SERVER_WORK_SELECT_SELECTIONS_H_
#define STOKER_SERVER_WORK_SELECT_SELECTIONS_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/plan/selection.h"
#include "server/read/dataset.h"
#include "server/work/select/subset.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// The samples that a job reads, and what identifies them.
struct JobSamples {
  Selection selection;
  uint64_t positions = 0;   // of an epoch
  std::string fingerprint;  // of the dataset's part: see Identity in data_service.proto
};

// Finds the parts of datasets that jobs ask for. Jobs that ask for the same share it, and those asked for last are
// kept.
//
// Thread-safe. All parts together, kept or in use, take at most the budget. They are found one at a time, which may
// take seconds for many millions of samples; a part that is kept is not waited for.
class Selections {
 public:
  explicit Selections(uint64_t budget_bytes) : budget_bytes_(budget_bytes) {}

  uint64_t budget_bytes() const { return budget_bytes_; }

  // A dataset, and a name that tells it and its lists from all others.
  struct Source {
    const std::string& name;
    const Dataset& dataset;
    const SampleLists& lists;
  };

  // Returns what `subset` and `shuffle`, which are valid, stand for. Errors as of ResolveSubset and ResolveWeights.
  absl::StatusOr<JobSamples> Find(const Source& source, v1::Subset subset, const v1::Shuffle& shuffle)
      ABSL_LOCKS_EXCLUDED(mutex_, finding_);

 private:
  struct Kept {
    std::string key;
    JobSamples samples;
  };

  bool Look(const std::string& key, JobSamples& samples) ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes room for `wanted` bytes, as far as parts are only kept, and returns how many there are room for.
  uint64_t MakeRoom(uint64_t wanted) ABSL_LOCKS_EXCLUDED(mutex_);
  void Keep(Kept kept) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the bytes of all parts that live.
  uint64_t UsedBytes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static constexpr size_t kMostKept = 64;

  const uint64_t budget_bytes_;

  absl::Mutex finding_ ABSL_ACQUIRED_BEFORE(mutex_);  // Held while a part is found, so that one is at a time.
  absl::Mutex mutex_;
  std::list<Kept> kept_ ABSL_GUARDED_BY(mutex_);                                 // those asked for last come first
  std::vector<std::weak_ptr<const SampleSet>> subsets_ ABSL_GUARDED_BY(mutex_);  // that live
  std::vector<std::weak_ptr<const WeightedClasses>> weighted_ ABSL_GUARDED_BY(mutex_);  // that live
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_SELECT_SELECTIONS_H_
