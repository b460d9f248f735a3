#ifndef STOKER_SERVER_WORK_SELECT_SUBSET_H_
#define STOKER_SERVER_WORK_SELECT_SUBSET_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/plan/sample_set.h"
#include "server/read/dataset.h"
#include "stoker/v1/config.pb.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// A dataset's lists of samples, by name.
using SampleLists = std::map<std::string, std::shared_ptr<const SampleSet>>;

// Finds the samples of a valid subset. It takes time in proportion to the dataset's size where names are hashed.
// Errors name what is wrong, and what the dataset has: InvalidArgument for ids that it lacks, conditions that its index
// cannot answer, and a subset without samples; NotFound for an unknown class or list; ResourceExhausted where the set
// would take more than `max_bytes` (SampleSet::BytesFor).
absl::StatusOr<SampleSet> ResolveSubset(const v1::Subset& subset, const Dataset& dataset, const SampleLists& lists,
                                        uint64_t max_bytes);

// Returns what identifies a subset of the dataset with `fingerprint`: see Identity in data_service.proto.
std::string SubsetFingerprint(const std::string& fingerprint, const SampleSet& subset);

// Reads the lists that `config` names. Errors name the key, the file and the line: InvalidArgument for a name that is
// no sample's or stands there twice, or an empty list; NotFound or Unavailable for a file that cannot be read.
absl::StatusOr<SampleLists> ReadLists(const v1::DatasetConfig& config, const Dataset& dataset);

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_SELECT_SUBSET_H_
