#ifndef STOKER_SERVER_WORK_SAMPLE_LIMITS_H_
#define STOKER_SERVER_WORK_SAMPLE_LIMITS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/pipeline/server_pipeline.h"

namespace stoker {

// The most that a server does for one sample.
struct SampleLimits {
  uint64_t max_pixels = uint64_t{1} << 26;  // of an image, and of what its ops make of it
  double seconds = 10;                      // of one worker, by Seconds of the pipeline's cost
};

// The size of image that pipelines are weighed by before any is read.
inline constexpr ImageSize kUsualImage = {375, 500};

// OK where an image of `size` has at most the limits' pixels. ResourceExhausted.
absl::Status CheckPixels(ImageSize size, const SampleLimits& limits);

// OK if making a sample with images of `size` takes at most as long as `limits` allow; else says how long it takes.
// ResourceExhausted.
absl::Status CheckSampleCost(const ServerPipeline& pipeline, ImageSize size, const SampleLimits& limits);

// Says to people what CheckSampleCost weighs for images of `size`: "a sample takes at most about 3.1 ms of one
// worker…".
std::string ExplainSampleCost(const ServerPipeline& pipeline, ImageSize size, const SampleLimits& limits);

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_SAMPLE_LIMITS_H_
