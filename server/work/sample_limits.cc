#include "server/work/sample_limits.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace stoker {

absl::Status CheckPixels(ImageSize size, const SampleLimits& limits) {
  if (static_cast<uint64_t>(size.height) * static_cast<uint64_t>(size.width) <= limits.max_pixels)
    return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("an image of ", size.width, "×", size.height,
                                                   " is above this server's max_pixels of ", limits.max_pixels));
}

absl::Status CheckSampleCost(const ServerPipeline& pipeline, ImageSize size, const SampleLimits& limits) {
  const Cost cost = pipeline.CostOf(size);
  if (Seconds(cost) <= limits.seconds) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "a sample with an image of %d×%d pixels would take about %.2g s of one worker (%.2g passes, %.2g operations, "
      "%.2g bytes), and this server's limits.sample_seconds is %.2g",
      size.width, size.height, Seconds(cost), cost.passes, cost.arithmetic, cost.bytes, limits.seconds));
}

std::string ExplainSampleCost(const ServerPipeline& pipeline, ImageSize size, const SampleLimits& limits) {
  const Cost cost = pipeline.CostOf(size);
  return absl::StrFormat(
      "a sample with an image of %d×%d pixels takes at most about %.2g ms of one worker: %.2g passes, %.2g operations, "
      "%.2g bytes; limits.sample_seconds is %.2g",
      size.width, size.height, Seconds(cost) * 1e3, cost.passes, cost.arithmetic, cost.bytes, limits.seconds);
}

}  // namespace stoker
