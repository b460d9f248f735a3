#ifndef STOKER_SERVER_WORK_SELECT_CLASS_WEIGHTS_H_
#define STOKER_SERVER_WORK_SELECT_CLASS_WEIGHTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/plan/sample_set.h"
#include "server/plan/weighted_classes.h"
#include "server/read/dataset.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Finds the samples of the classes that a valid shuffle in mode weighted draws, in a dataset or, if `subset` is not
// null, in that part of it. Classes come in the order of their labels. Errors are InvalidArgument for a dataset whose
// index has no labels and for a class without samples, NotFound for an unknown class, and ResourceExhausted where more
// than `max_bytes` of memory would be needed.
absl::StatusOr<WeightedClasses> ResolveWeights(const v1::Shuffle& shuffle, const Dataset& dataset,
                                               const SampleSet* subset, uint64_t max_bytes);

// Returns what ResolveWeights takes at most for any weights of this dataset, all its samples taken. It goes through the
// labels once.
uint64_t MostBytesOfWeights(const Dataset& dataset);

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_SELECT_CLASS_WEIGHTS_H_
