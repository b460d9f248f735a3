#include "server/plan/stream_plan.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity/epoch_order.h"
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

// Returns a hash of the shuffle's class weights in the order of the classes' names.
uint64_t HashOfWeights(const v1::Shuffle& shuffle) {
  const std::map<std::string, uint64_t> weights(shuffle.class_weights().begin(), shuffle.class_weights().end());
  uint64_t hash = 0;
  for (const auto& [name, weight] : weights) {
    uint64_t of_name = name.size();
    for (const char byte : name) of_name = MixAll({of_name, static_cast<uint8_t>(byte)});
    hash = MixAll({hash, of_name, weight});
  }
  return hash;
}

}  // namespace

absl::StatusOr<StreamPlan> StreamPlan::Create(ServerPipeline pipeline, const v1::Identity& identity, uint64_t seed,
                                              const v1::Shuffle& shuffle, bool names, Selection selection) {
  STOKER_RETURN_IF_ERROR(ValidateShuffle(shuffle));
  return StreamPlan(std::move(pipeline), identity, seed, shuffle, names, std::move(selection));
}

StreamPlan::StreamPlan(ServerPipeline pipeline, const v1::Identity& identity, uint64_t seed, const v1::Shuffle& shuffle,
                       bool names, Selection selection)
    : pipeline_(std::move(pipeline)),
      samples_(identity.samples()),
      seed_(seed),
      shuffle_(shuffle),
      names_(names),
      selection_(std::move(selection)),
      key_(MixAll({FirstBytes(identity.fingerprint()), identity.samples(), identity.pixel_version(),
                   identity.pixel_check(), ServerHash(pipeline_.pipeline()), seed, uint64_t(shuffle.mode()),
                   shuffle.block_samples(), shuffle.window_blocks(), names, HashOfWeights(shuffle)})) {}

absl::Status StreamPlan::Check(const SpanId& span, uint64_t max_bytes) const {
  if (span.count < 1 || span.count > ServerPipeline::kMaxSpanSamples)
    return absl::InvalidArgumentError(
        absl::StrCat("want.count: ", span.count, " is not between 1 and ", ServerPipeline::kMaxSpanSamples));
  if (span.start >= samples_ || span.count > samples_ - span.start)
    return absl::InvalidArgumentError(absl::StrCat("want: ", span.count, " positions from ", span.start,
                                                   " reach past the epoch's ", samples_, " samples"));
  if (span.count > 1 && SpanBytes(span) > max_bytes)
    return absl::InvalidArgumentError(absl::StrCat("want.count: ", span.count, " samples have ", SpanBytes(span),
                                                   " bytes, more than this server's limit of ", max_bytes,
                                                   " a span; ask for fewer"));
  return absl::OkStatus();
}

}  // namespace stoker
