#include "common/pipeline/pipeline.h"

#include <xxhash.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/pipeline/ops.h"

namespace stoker {
namespace {

constexpr int kMaxOps = 64;
constexpr int kMaxFields = 64;

v1::Pipeline WithDefaults(const v1::Pipeline& pipeline) {
  v1::Pipeline full = pipeline;
  for (auto& op : *full.mutable_ops()) op = stoker::WithDefaults(op);
  auto& limits = *full.mutable_limits();
  if (!limits.has_max_pixels()) limits.set_max_pixels(kDefaultMaxPixels);
  if (!limits.has_max_scans()) limits.set_max_scans(kDefaultMaxScans);
  if (full.decode_warnings() == v1::DECODE_WARNINGS_UNSPECIFIED)
    full.set_decode_warnings(v1::DECODE_WARNINGS_FAIL_TRUNCATED);
  if (full.bad_samples() == v1::BAD_SAMPLES_UNSPECIFIED) full.set_bad_samples(v1::BAD_SAMPLES_FAIL);
  full.DiscardUnknownFields();
  return full;
}

uint64_t Hash(const v1::Pipeline& pipeline) {
  const std::string bytes = pipeline.SerializeAsString();  // No maps: one order.
  return XXH3_64bits(bytes.data(), bytes.size());
}

absl::Status ValidateLimits(const v1::Pipeline& pipeline) {
  if (pipeline.limits().has_max_pixels() && pipeline.limits().max_pixels() == 0)
    return absl::InvalidArgumentError("pipeline.limits.max_pixels: 0 refuses every image");
  if (pipeline.limits().has_max_scans() && pipeline.limits().max_scans() == 0)
    return absl::InvalidArgumentError("pipeline.limits.max_scans: 0 refuses every image");
  if (!v1::DecodeWarnings_IsValid(pipeline.decode_warnings()))
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline.decode_warnings: unknown value ", pipeline.decode_warnings()));
  if (!v1::BadSamples_IsValid(pipeline.bad_samples()))
    return absl::InvalidArgumentError(absl::StrCat("pipeline.bad_samples: unknown value ", pipeline.bad_samples()));
  return absl::OkStatus();
}

absl::Status ValidatePlacement(const v1::Op& op, bool after_device) {
  const bool device = PlacementOf(op) == v1::PLACEMENT_DEVICE;
  const bool device_only = op.has_to_dtype() || op.has_normalize() || op.has_to_memory_format();
  const bool flips = op.has_random_horizontal_flip() || op.has_random_vertical_flip();
  if (!device && device_only)
    return absl::InvalidArgumentError(absl::StrCat(OpName(op), ".placement: runs on the device only"));
  if (device && !device_only && !flips)
    return absl::InvalidArgumentError(absl::StrCat(OpName(op), ".placement: runs on the server only"));
  if (!device && after_device)
    return absl::InvalidArgumentError(absl::StrCat(
        OpName(op), ".placement: a server op cannot follow a device op; move it up or place it on the device"));
  return absl::OkStatus();
}

}  // namespace

v1::Pipeline DefaultPipeline() {
  v1::Pipeline pipeline;
  pipeline.add_ops()->mutable_random_resized_crop()->add_size(224);
  pipeline.add_ops()->mutable_random_horizontal_flip();
  return pipeline;
}

absl::Status ValidatePipeline(const v1::Pipeline& pipeline) {
  if (pipeline.ops_size() > kMaxOps)
    return absl::InvalidArgumentError(absl::StrCat("pipeline.ops: ", pipeline.ops_size(), " ops, at most ", kMaxOps));
  if (pipeline.fields_size() > kMaxFields)
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline.fields: ", pipeline.fields_size(), " fields, at most ", kMaxFields));
  bool after_device = false;
  for (int i = 0; i < pipeline.ops_size(); ++i) {
    const v1::Op& op = pipeline.ops(i);
    absl::Status status = ValidateOp(op);
    if (status.ok()) status = ValidatePlacement(op, after_device);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("pipeline.ops[", i, "]: ", status.message()));
    after_device = after_device || PlacementOf(op) == v1::PLACEMENT_DEVICE;
  }
  return ValidateLimits(pipeline);
}

int ServerOps(const v1::Pipeline& pipeline) {
  int count = 0;
  while (count < pipeline.ops_size() && PlacementOf(pipeline.ops(count)) == v1::PLACEMENT_SERVER) ++count;
  return count;
}

uint64_t ServerHash(const v1::Pipeline& pipeline) {
  v1::Pipeline server = WithDefaults(pipeline);
  const int count = ServerOps(server);
  server.mutable_ops()->DeleteSubrange(count, server.ops_size() - count);
  return Hash(server);
}

uint64_t WholeHash(const v1::Pipeline& pipeline) {
  v1::Pipeline whole = WithDefaults(pipeline);
  for (auto& op : *whole.mutable_ops()) op.clear_placement();
  return Hash(whole);
}

}  // namespace stoker
