#include "server/prepare/prepared_mode.h"

#include "absl/strings/str_cat.h"
#include "common/ops/ops.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr uint32_t kMaxShortSide = 16384;

absl::Status CheckRestartInterval(uint32_t interval) {
  if (interval >= 1 && interval <= 65535) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--restart-interval: ", interval, " is not between 1 and 65535 MCUs"));
}

absl::Status CheckShortSide(const v1::PreparedShortSide& settings) {
  if (settings.size() < 1 || settings.size() > kMaxShortSide)
    return absl::InvalidArgumentError(
        absl::StrCat("--short-side: ", settings.size(), " is not between 1 and ", kMaxShortSide, " pixels"));
  if (settings.quality() < 1 || settings.quality() > 100)
    return absl::InvalidArgumentError(absl::StrCat("--quality: ", settings.quality(), " is not between 1 and 100"));
  return CheckRestartInterval(settings.restart_interval());
}

absl::Status CheckDrawsNothing(const v1::Pipeline& pipeline, int ops) {
  if (!pipeline.views().empty())
    return absl::InvalidArgumentError(
        "pipeline.views: give prepare a pipeline without views, of the ops that all of them begin with");
  if (ops == 0) return absl::InvalidArgumentError("pipeline.ops: no server op, so there is nothing to prepare");
  for (int i = 0; i < ops; ++i) {
    if (ActsOf(pipeline.ops(i)) == Acts::kOnField)
      return absl::InvalidArgumentError(
          absl::StrCat("pipeline.ops[", i, "]: ", OpName(pipeline.ops(i)),
                       " works on a field that is no image; keep it in the pipeline that you train with"));
    if (!IsDeterministic(pipeline.ops(i)))
      return absl::InvalidArgumentError(
          absl::StrCat("pipeline.ops[", i, "]: ", OpName(pipeline.ops(i)),
                       " is random, and would be the same in every epoch: give prepare the ops before it, and "
                       "keep it in the pipeline that you train with"));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Pipeline> ValidatedPipeline(const v1::Pipeline& pipeline) {
  STOKER_RETURN_IF_ERROR(ValidatePipeline(pipeline));
  const int ops = ServerOps(pipeline);
  STOKER_RETURN_IF_ERROR(CheckDrawsNothing(pipeline, ops));
  v1::Pipeline full = DecodeSettings(pipeline);
  for (int i = 0; i < ops; ++i) *full.add_ops() = WithDefaults(pipeline.ops(i));
  return full;
}

}  // namespace

absl::StatusOr<v1::Prepared> ValidatedMode(const v1::Prepared& mode) {
  v1::Prepared valid;
  switch (mode.mode_case()) {
    case v1::Prepared::kLossless:
      STOKER_RETURN_IF_ERROR(CheckRestartInterval(mode.lossless().restart_interval()));
      *valid.mutable_lossless() = mode.lossless();
      return valid;
    case v1::Prepared::kShortSide:
      STOKER_RETURN_IF_ERROR(CheckShortSide(mode.short_side()));
      *valid.mutable_short_side() = mode.short_side();
      return valid;
    case v1::Prepared::kPipeline: {
      STOKER_ASSIGN_OR_RETURN(*valid.mutable_pipeline(), ValidatedPipeline(mode.pipeline()));
      return valid;
    }
    case v1::Prepared::MODE_NOT_SET: break;
  }
  return absl::InvalidArgumentError("no mode");
}

}  // namespace stoker
