#ifndef STOKER_COMMON_PIPELINE_PIPELINE_H_
#define STOKER_COMMON_PIPELINE_PIPELINE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// A pipeline as a whole, before it meets a dataset. Pure functions, thread-safe.

// Raised whenever any op's bytes may change; see also the server's self-check.
inline constexpr uint32_t kPixelVersion = 2;

// Of a pipeline that sets no limits.
inline constexpr uint64_t kDefaultMaxPixels = uint64_t{1} << 26;
inline constexpr uint32_t kDefaultMaxScans = 100;

// What runs wherever none is given: RandomResizedCrop(224), RandomHorizontalFlip.
v1::Pipeline DefaultPipeline();

// The same pipeline with every default written out.
v1::Pipeline WithDefaults(const v1::Pipeline& pipeline);

// OK, or InvalidArgument that names the op and its argument: "pipeline.ops[1]: RandomCrop.size: …",
// "pipeline.views[0].ops[2]: ColorJitter.hue: …".
absl::Status ValidatePipeline(const v1::Pipeline& pipeline);

// The number of leading ops that run on the server; the rest run on the device. Requires a valid pipeline.
int ServerOps(const v1::Pipeline& pipeline);

// A hash of what a span's bytes depend on: the server's ops, views, limits and policies, defaults written out.
uint64_t ServerHash(const v1::Pipeline& pipeline);

// A hash of what a cursor depends on: the whole, without placement, so that moving an op keeps it.
uint64_t WholeHash(const v1::Pipeline& pipeline);

// How a pipeline decodes, with defaults written out: limits, warnings and scaling, and nothing else.
v1::Pipeline DecodeSettings(const v1::Pipeline& pipeline);

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_PIPELINE_H_
