#include "common/pipeline/pipeline.h"

#include <xxhash.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/fields/schema.h"
#include "common/ops/ops.h"
#include "common/pipeline/device_steps.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr int kMaxOps = 64;
constexpr int kMaxFields = 64;
constexpr int kMaxViewGroups = 16;
constexpr uint32_t kMaxViews = 64;  // views of one group

using Ops = google::protobuf::RepeatedPtrField<v1::Op>;

void FillDefaults(Ops& ops) {
  for (v1::Op& op : ops) op = stoker::WithDefaults(op);
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
  if (!v1::JpegScaling_IsValid(pipeline.jpeg_scaling()))
    return absl::InvalidArgumentError(absl::StrCat("pipeline.jpeg_scaling: unknown value ", pipeline.jpeg_scaling()));
  return absl::OkStatus();
}

absl::Status ValidatePlacement(const v1::Op& op, bool after_device) {
  const bool device = PlacementOf(op) == v1::PLACEMENT_DEVICE;
  const Placements places = PlacementsOf(op);
  if (!device && !places.server)
    return absl::InvalidArgumentError(absl::StrCat(OpName(op), ".placement: runs on the device only"));
  if (device && !places.device)
    return absl::InvalidArgumentError(absl::StrCat(OpName(op), ".placement: runs on the server only"));
  if (!device && after_device)
    return absl::InvalidArgumentError(
        absl::StrCat(OpName(op), ".placement: a server op cannot follow a device op; ",
                     places.device ? "move it up or place it on the device" : "move it up"));
  return absl::OkStatus();
}

// Validates a list of ops. Errors begin with its `path`: "pipeline.ops".
absl::Status ValidateOps(const Ops& ops, const std::string& path) {
  if (ops.size() > kMaxOps)
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", ops.size(), " ops, at most ", kMaxOps));
  bool after_device = false, floats = false;
  for (int i = 0; i < ops.size(); ++i) {
    absl::Status status = ValidateOp(ops[i]);
    if (status.ok()) status = ValidatePlacement(ops[i], after_device);
    if (status.ok() && !floats) status = ValidateOnBytes(ops[i]);
    if (status.ok() && ops[i].has_mosaic() && i > 0)
      status = absl::InvalidArgumentError("Mosaic: joins images as they are stored; put it first");
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat(path, "[", i, "]: ", status.message()));
    after_device = after_device || PlacementOf(ops[i]) == v1::PLACEMENT_DEVICE;
    const v1::ToDtype& cast = ops[i].to_dtype();
    floats = floats || (ops[i].has_to_dtype() && cast.field().empty() && IsDeviceFloat(cast.dtype()));
  }
  return absl::OkStatus();
}

absl::Status ValidateViewGroup(const v1::Views& views, const std::string& path) {
  if (views.name().empty()) return absl::InvalidArgumentError(absl::StrCat(path, ".name: must be given"));
  if (views.has_count() && (views.count() < 1 || views.count() > kMaxViews))
    return absl::InvalidArgumentError(
        absl::StrCat(path, ".count: ", views.count(), " is not between 1 and ", kMaxViews));
  STOKER_RETURN_IF_ERROR(ValidateOps(views.ops(), absl::StrCat(path, ".ops")));
  for (int i = 0; i < views.ops_size(); ++i) {
    const std::string op = absl::StrCat(path, ".ops[", i, "]: ", OpName(views.ops(i)));
    if (ActsOf(views.ops(i)) == Acts::kOnField)
      return absl::InvalidArgumentError(
          absl::StrCat(op, ".field: a view's ops are its own; move it into pipeline.ops"));
    if (views.ops(i).has_mosaic())
      return absl::InvalidArgumentError(absl::StrCat(op, ": views are of one sample; give a pipeline without views"));
    if (PlacementOf(views.ops(i)) == v1::PLACEMENT_DEVICE && !IsDeviceStep(views.ops(i)))
      return absl::InvalidArgumentError(absl::StrCat(op, ": a view's ops on the device change images of uint8; ",
                                                     views.ops(i).has_to_dtype() || views.ops(i).has_normalize()
                                                         ? "put it into pipeline.ops, with the view's name in `field`"
                                                         : "leave it out"));
  }
  return absl::OkStatus();
}

absl::Status ValidateViews(const v1::Pipeline& pipeline) {
  if (pipeline.views().empty()) return absl::OkStatus();
  for (int i = 0; i < pipeline.ops_size(); ++i) {
    const v1::Op& op = pipeline.ops(i);
    if (ActsOf(op) != Acts::kOnField)
      return absl::InvalidArgumentError(absl::StrCat(
          "pipeline.ops[", i, "]: ", OpName(op),
          ": where pipeline.views are given, only ops that name a field stand here; ",
          op.has_to_dtype() || op.has_normalize() ? "name a view in `field`" : "move it into the views that need it"));
  }
  if (pipeline.views_size() > kMaxViewGroups)
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline.views: ", pipeline.views_size(), " groups, at most ", kMaxViewGroups));
  for (int i = 0; i < pipeline.views_size(); ++i) {
    const std::string path = absl::StrCat("pipeline.views[", i, "]");
    STOKER_RETURN_IF_ERROR(ValidateViewGroup(pipeline.views(i), path));
    for (int earlier = 0; earlier < i; ++earlier)
      if (pipeline.views(earlier).name() == pipeline.views(i).name())
        return absl::InvalidArgumentError(absl::StrCat(path, ".name: '", pipeline.views(i).name(), "' stands twice"));
  }
  return absl::OkStatus();
}

absl::Status ValidateNativeSize(const v1::Pipeline& pipeline) {
  if (!pipeline.has_native_size()) return absl::OkStatus();
  constexpr uint64_t kMost = (kMaxSampleBytes - 64) / 3;  // Room is left for a height, a width and a length.
  const v1::NativeSize& native = pipeline.native_size();
  if (native.max_pixels() == 0)
    return absl::InvalidArgumentError(
        "pipeline.native_size.max_pixels: must be given: the most pixels of an image as it is sent, such as 1048576; "
        "room is kept for them");
  if (native.max_pixels() > kMost)
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline.native_size.max_pixels: ", native.max_pixels(), " is above ", kMost));
  if (native.typical_pixels() > native.max_pixels())
    return absl::InvalidArgumentError(absl::StrCat("pipeline.native_size.typical_pixels: ", native.typical_pixels(),
                                                   " is above max_pixels, ", native.max_pixels()));
  if (!pipeline.views().empty())
    return absl::InvalidArgumentError("pipeline.native_size: views have one size each; leave one of the two out");
  return absl::OkStatus();
}

}  // namespace

v1::Pipeline WithDefaults(const v1::Pipeline& pipeline) {
  v1::Pipeline full = pipeline;
  FillDefaults(*full.mutable_ops());
  for (v1::Views& views : *full.mutable_views()) {
    if (!views.has_count()) views.set_count(1);
    FillDefaults(*views.mutable_ops());
  }
  auto& limits = *full.mutable_limits();
  if (!limits.has_max_pixels()) limits.set_max_pixels(kDefaultMaxPixels);
  if (!limits.has_max_scans()) limits.set_max_scans(kDefaultMaxScans);
  if (full.decode_warnings() == v1::DECODE_WARNINGS_UNSPECIFIED)
    full.set_decode_warnings(v1::DECODE_WARNINGS_FAIL_TRUNCATED);
  if (full.bad_samples() == v1::BAD_SAMPLES_UNSPECIFIED) full.set_bad_samples(v1::BAD_SAMPLES_FAIL);
  if (full.jpeg_scaling() == v1::JPEG_SCALING_UNSPECIFIED) full.set_jpeg_scaling(v1::JPEG_SCALING_K2);
  if (full.has_native_size() && full.native_size().typical_pixels() == 0)
    full.mutable_native_size()->set_typical_pixels(std::max<uint64_t>(full.native_size().max_pixels() / 4, 1));
  full.DiscardUnknownFields();
  return full;
}

v1::Pipeline DefaultPipeline() {
  v1::Pipeline pipeline;
  pipeline.add_ops()->mutable_random_resized_crop()->add_size(224);
  pipeline.add_ops()->mutable_random_horizontal_flip();
  return pipeline;
}

absl::Status ValidatePipeline(const v1::Pipeline& pipeline) {
  if (pipeline.fields_size() > kMaxFields)
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline.fields: ", pipeline.fields_size(), " fields, at most ", kMaxFields));
  STOKER_RETURN_IF_ERROR(ValidateOps(pipeline.ops(), "pipeline.ops"));
  STOKER_RETURN_IF_ERROR(ValidateViews(pipeline));
  STOKER_RETURN_IF_ERROR(ValidateNativeSize(pipeline));
  return ValidateLimits(pipeline);
}

int ServerOps(const Ops& ops) {
  int count = 0;
  while (count < ops.size() && PlacementOf(ops[count]) == v1::PLACEMENT_SERVER) ++count;
  return count;
}

int ServerOps(const v1::Pipeline& pipeline) { return ServerOps(pipeline.ops()); }

std::string ServerPart(const v1::Pipeline& pipeline) {
  v1::Pipeline server = WithDefaults(pipeline);
  const int count = ServerOps(server);
  server.mutable_ops()->DeleteSubrange(count, server.ops_size() - count);
  for (v1::Views& views : *server.mutable_views()) {
    const int of_view = ServerOps(views.ops());
    views.mutable_ops()->DeleteSubrange(of_view, views.ops_size() - of_view);
  }
  return server.SerializeAsString();  // The bytes are unique, since a Pipeline has no maps.
}

uint64_t WholeHash(const v1::Pipeline& pipeline) {
  v1::Pipeline whole = WithDefaults(pipeline);
  for (auto& op : *whole.mutable_ops()) op.clear_placement();
  for (auto& views : *whole.mutable_views())
    for (auto& op : *views.mutable_ops()) op.clear_placement();
  const std::string bytes = whole.SerializeAsString();
  return XXH3_64bits(bytes.data(), bytes.size());
}

v1::Pipeline DecodeSettings(const v1::Pipeline& pipeline) {
  v1::Pipeline settings;
  const v1::Limits& limits = pipeline.limits();
  settings.mutable_limits()->set_max_pixels(limits.has_max_pixels() ? limits.max_pixels() : kDefaultMaxPixels);
  settings.mutable_limits()->set_max_scans(limits.has_max_scans() ? limits.max_scans() : kDefaultMaxScans);
  const bool warnings = pipeline.decode_warnings() != v1::DECODE_WARNINGS_UNSPECIFIED;
  settings.set_decode_warnings(warnings ? pipeline.decode_warnings() : v1::DECODE_WARNINGS_FAIL_TRUNCATED);
  const bool scaling = pipeline.jpeg_scaling() != v1::JPEG_SCALING_UNSPECIFIED;
  settings.set_jpeg_scaling(scaling ? pipeline.jpeg_scaling() : v1::JPEG_SCALING_K2);
  return settings;
}

}  // namespace stoker
