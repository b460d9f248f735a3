#ifndef STOKER_CLIENT_LOADER_PIPELINE_DIFFERENCE_H_
#define STOKER_CLIENT_LOADER_PIPELINE_DIFFERENCE_H_

#include <optional>
#include <string>
#include <vector>

#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Words for people about how two pipelines differ. Pure functions, thread-safe.

// The first place where two pipelines differ, and what each has there: "RandomResizedCrop(size=224)", with the
// arguments that differ; empty where it has nothing there. A value.
struct PipelineDifference {
  std::string place;  // "ops[0]", "views[1].count", "bad_samples"
  std::string one, other;
};

// Requires valid pipelines. None where they differ in nothing but where ops are placed, all defaults written out.
std::optional<PipelineDifference> FindDifference(const v1::Pipeline& one, const v1::Pipeline& other);

// The names of all ops, those of views behind their view's: "RandomResizedCrop", "global: RandomResizedCrop".
std::vector<std::string> OpNames(const v1::Pipeline& pipeline);

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_PIPELINE_DIFFERENCE_H_
