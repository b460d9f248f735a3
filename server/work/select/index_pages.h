#ifndef STOKER_SERVER_WORK_SELECT_INDEX_PAGES_H_
#define STOKER_SERVER_WORK_SELECT_INDEX_PAGES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/read/dataset.h"
#include "server/work/select/selections.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Answers of ListClasses and ListSamples: what a dataset's index knows. A page has about 256 KiB at most, and at least
// one entry, if there is one. The functions are pure. InvalidArgument says that the index has no labels, or what id it
// lacks.

// The classes' names from the label `first` on.
absl::StatusOr<v1::ListClassesResponse> PageOfClasses(const Dataset& dataset, uint64_t first);

// The labels of the samples that a job without weights reads, in order, from the one with the rank `first` on.
absl::StatusOr<v1::ListSamplesResponse> PageOfLabels(const Dataset& dataset, const JobSamples& samples, uint64_t first);

// The names of the samples, up to where the page is full.
absl::StatusOr<v1::ListSamplesResponse> PageOfNames(const Dataset& dataset, const v1::SampleIds& samples);

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_SELECT_INDEX_PAGES_H_
