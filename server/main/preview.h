#ifndef STOKER_SERVER_MAIN_PREVIEW_H_
#define STOKER_SERVER_MAIN_PREVIEW_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/work/engine.h"

namespace stoker {

// Returns a PNG with the first image of each of kPreviewSamples samples of a dataset from `first` on, in the order of
// their ids, as squares in rows of six. Bad samples are substituted. Waits for workers, as a stream does, for a few
// seconds at most.
//
// NotFound where there is no such dataset, or no such sample; FailedPrecondition where it has no images; Unavailable
// where the workers are too busy.
inline constexpr uint64_t kPreviewSamples = 18;
absl::StatusOr<std::string> DrawSamples(Engine& engine, const std::string& dataset, uint64_t first);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_PREVIEW_H_
