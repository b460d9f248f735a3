#ifndef STOKER_CLIENT_LOADER_STATE_DIFFERENCE_H_
#define STOKER_CLIENT_LOADER_STATE_DIFFERENCE_H_

#include <string>

#include "client/loader/state.h"
#include "nlohmann/json.hpp"

namespace stoker {

// Words for people about a saved state that is not of a job. Pure functions, thread-safe.

// Adds to `state` what its reader says of a pipeline that differs: as "pipeline_text" the pipeline in YAML, where that
// takes at most 2 KiB; else as "pipeline_ops" its ops' names, where these take no more. Neither is ever compared to
// decide whether a state fits.
void AddPipelineWords(const v1::Pipeline& pipeline, nlohmann::ordered_json& state);

// Says how the value of `key` in `state`, whose content is anybody's, differs from `value`, which is the job's; and
// what to do: "its seed is 7, and this loader's is 8; give the loader …".
std::string StateDifference(const std::string& key, const nlohmann::json& state, const nlohmann::json& value,
                            const JobIdentity& job);

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_STATE_DIFFERENCE_H_
