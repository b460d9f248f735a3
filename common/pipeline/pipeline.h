#ifndef STOKER_COMMON_PIPELINE_PIPELINE_H_
#define STOKER_COMMON_PIPELINE_PIPELINE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// These functions treat a pipeline as a whole, before it meets a dataset. They are pure, hence thread-safe.

// The number of our pixels' version. It must be raised whenever any op's bytes may change. The server's self-check
// finds changes that nobody meant.
inline constexpr uint32_t kPixelVersion = 2;

// The limits of a pipeline that sets none: pixels of an image, and scans of a progressive JPEG.
inline constexpr uint64_t kDefaultMaxPixels = uint64_t{1} << 26;
inline constexpr uint32_t kDefaultMaxScans = 100;

// Returns the pipeline that runs if none is given: RandomResizedCrop(224), RandomHorizontalFlip.
v1::Pipeline DefaultPipeline();

// Returns the same pipeline with every default written out.
v1::Pipeline WithDefaults(const v1::Pipeline& pipeline);

// OK, or InvalidArgument that names the op and its argument: "pipeline.ops[1]: RandomCrop.size: …",
// "pipeline.views[0].ops[2]: ColorJitter.hue: …".
absl::Status ValidatePipeline(const v1::Pipeline& pipeline);

// Returns the number of leading ops that run on the server; the rest run on the device. Requires a valid pipeline.
int ServerOps(const v1::Pipeline& pipeline);

// The same of any list of ops, such as a view's.
int ServerOps(const google::protobuf::RepeatedPtrField<v1::Op>& ops);

// Returns what a span's bytes depend on, serialized: the server's ops, views, limits and policies, with defaults
// written out. The text is equal for pipelines with the same bytes as far as one build goes; it is no format to keep.
std::string ServerPart(const v1::Pipeline& pipeline);

// Hashes what a cursor depends on: the whole pipeline without placement, so that a cursor stays valid when an op moves
// between server and device.
uint64_t WholeHash(const v1::Pipeline& pipeline);

// Returns a pipeline that says how `pipeline` decodes, and nothing else: limits, warnings and scaling, with defaults
// written out.
v1::Pipeline DecodeSettings(const v1::Pipeline& pipeline);

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_PIPELINE_H_
