#include "server/plan/stream_plan.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity/mix.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

uint64_t FirstBytes(const std::string& fingerprint) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof value && i < fingerprint.size(); ++i)
    value |= uint64_t{static_cast<uint8_t>(fingerprint[i])} << 8 * i;
  return value;
}

}  // namespace

absl::StatusOr<StreamPlan> StreamPlan::Create(ServerPipeline pipeline, const v1::Identity& identity, uint64_t seed,
                                              const v1::Shuffle& shuffle, bool names) {
  STOKER_RETURN_IF_ERROR(ValidateShuffle(shuffle));
  return StreamPlan(std::move(pipeline), identity, seed, shuffle, names);
}

StreamPlan::StreamPlan(ServerPipeline pipeline, const v1::Identity& identity, uint64_t seed, const v1::Shuffle& shuffle,
                       bool names)
    : pipeline_(std::move(pipeline)),
      samples_(identity.samples()),
      seed_(seed),
      shuffle_(shuffle),
      names_(names),
      key_(MixAll({FirstBytes(identity.fingerprint()), identity.samples(), identity.pixel_version(),
                   identity.pixel_check(), ServerHash(pipeline_.pipeline()), seed, uint64_t(shuffle.mode()),
                   shuffle.block_samples(), shuffle.window_blocks(), names})) {}

absl::Status StreamPlan::Check(const SpanId& span, uint64_t max_bytes) const {
  if (span.count < 1 || span.count > ServerPipeline::kMaxSpanSamples)
    return absl::InvalidArgumentError(
        absl::StrCat("want.count: ", span.count, " is not between 1 and ", ServerPipeline::kMaxSpanSamples));
  if (span.start >= samples_ || span.count > samples_ - span.start)
    return absl::InvalidArgumentError(absl::StrCat("want: ", span.count, " positions from ", span.start,
                                                   " reach past the dataset's ", samples_, " samples"));
  if (span.count > 1 && SpanBytes(span) > max_bytes)
    return absl::InvalidArgumentError(absl::StrCat("want.count: ", span.count, " samples have ", SpanBytes(span),
                                                   " bytes, more than this server's limit of ", max_bytes,
                                                   " a span; ask for fewer"));
  return absl::OkStatus();
}

}  // namespace stoker
