#include "server/prepare/packed_maker.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "common/ops/ops.h"
#include "common/status_macros.h"
#include "server/decode/magic.h"
#include "server/decode/packed.h"
#include "server/prepare/jpeg_writer.h"

namespace stoker {
namespace {

DecodeOptions OptionsOf(const v1::Pipeline& pipeline) {
  return {.max_pixels = pipeline.limits().max_pixels(),
          .max_scans = pipeline.limits().max_scans(),
          .warnings = pipeline.decode_warnings(),
          .time = absl::Hours(1)};
}

// True if the ops did nothing but a crop. A resize that came next could join it, and let the image be decoded at a
// reduced size: see ImagePlan's target.
bool LeavesScalingOpen(const ImagePlan& plan) {
  const auto* geometry = std::get_if<Geometry>(&plan.steps().front().step.action);
  return plan.steps().size() == 1 && geometry != nullptr && !geometry->resize.has_value();
}

}  // namespace

absl::StatusOr<MadeFile> PackedMaker::Make(std::span<const uint8_t> file) {
  auto made = Run(file);
  if (!absl::IsDataLoss(made.status())) return made;
  return MadeFile{.bytes = PackReason(made.status().message()), .problem = std::string(made.status().message())};
}

absl::StatusOr<MadeFile> PackedMaker::Run(std::span<const uint8_t> file) {
  STOKER_ASSIGN_OR_RETURN(const ImageSize size, decoder_.Open(file, OptionsOf(pipeline_)));
  STOKER_ASSIGN_OR_RETURN(const ImagePlan plan, PlanFor(size));
  STOKER_RETURN_IF_ERROR(decoder_.Decode(plan.target(), image_));
  pixels_.resize(plan.result().height * plan.result().width * 3);
  STOKER_RETURN_IF_ERROR(augmenter_.Apply(plan, SourceOf(image_), pixels_));
  const bool scales = IsJpeg(AsText(file)) && pipeline_.jpeg_scaling() != v1::JPEG_SCALING_EXACT;
  return MadeFile{.bytes = PackImage(plan.result(), pixels_), .might_be_scaled = scales && LeavesScalingOpen(plan)};
}

absl::StatusOr<ImagePlan> PackedMaker::PlanFor(ImageSize size) const {
  std::vector<OpParameters> parameters;
  ImageSize result = size;
  for (int i = 0; i < pipeline_.ops_size(); ++i) {
    const absl::Status drawn = DrawOp(pipeline_.ops(i), {}, result, parameters);
    if (!drawn.ok()) return absl::Status(drawn.code(), absl::StrCat("pipeline.ops[", i, "]: ", drawn.message()));
  }
  ImagePlan plan = ImagePlan::Make(size, parameters, pipeline_.jpeg_scaling());
  if (plan.peak_pixels() > pipeline_.limits().max_pixels())
    return absl::FailedPreconditionError(absl::StrCat("pipeline.ops make an image of ", plan.peak_pixels(),
                                                      " pixels, above limits.max_pixels, ",
                                                      pipeline_.limits().max_pixels()));
  if (static_cast<uint64_t>(result.height * result.width * 3) > kMaxSampleBytes / 2)
    return absl::FailedPreconditionError(absl::StrCat("pipeline.ops leave ", result.width, "×", result.height,
                                                      " pixels, more than a packed file may hold; Resize further"));
  return plan;
}

}  // namespace stoker
