#include "server/plan/stream_plan.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity/epoch_order.h"
#include "common/identity/fingerprint.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// Adds text so that what follows cannot pass for a part of it.
void AddText(Fingerprint& key, std::string_view text) {
  key.AddNumber(text.size());
  key.AddBytes(text);
}

// Hashes the arguments of StreamPlan::Create.
StreamPlan::Key KeyOf(std::string_view dataset, const ServerPipeline& pipeline, const v1::Identity& identity,
                      uint64_t seed, const v1::Shuffle& shuffle, bool names) {
  Fingerprint key("stoker.stream.v1");
  AddText(key, dataset);
  AddText(key, identity.fingerprint());
  AddText(key, identity.content());
  AddText(key, ServerPart(pipeline.pipeline()));
  for (const uint64_t number : {identity.samples(), uint64_t{identity.pixel_version()}, identity.pixel_check(), seed,
                                static_cast<uint64_t>(shuffle.mode()), shuffle.block_samples(), shuffle.window_blocks(),
                                shuffle.samples(), uint64_t{names}})
    key.AddNumber(number);
  const std::map<std::string, uint64_t> weights(shuffle.class_weights().begin(), shuffle.class_weights().end());
  key.AddNumber(weights.size());
  for (const auto& [name, weight] : weights) {
    AddText(key, name);
    key.AddNumber(weight);
  }
  const std::string digest = key.Finish();
  StreamPlan::Key bytes;
  std::copy(digest.begin(), digest.end(), bytes.begin());
  return bytes;
}

}  // namespace

absl::StatusOr<StreamPlan> StreamPlan::Create(std::string_view dataset, ServerPipeline pipeline,
                                              const v1::Identity& identity, uint64_t seed, const v1::Shuffle& shuffle,
                                              bool names, Selection selection) {
  STOKER_RETURN_IF_ERROR(ValidateShuffle(shuffle));
  const Key key = KeyOf(dataset, pipeline, identity, seed, shuffle, names);
  return StreamPlan(key, std::move(pipeline), identity, seed, shuffle, names, std::move(selection));
}

StreamPlan::StreamPlan(Key key, ServerPipeline pipeline, const v1::Identity& identity, uint64_t seed,
                       const v1::Shuffle& shuffle, bool names, Selection selection)
    : pipeline_(std::move(pipeline)),
      samples_(identity.samples()),
      seed_(seed),
      shuffle_(shuffle),
      names_(names),
      selection_(std::move(selection)),
      key_(key) {}

uint64_t StreamPlan::stream_key() const {
  uint64_t first = 0;
  for (size_t i = 0; i < sizeof first; ++i) first |= uint64_t{key_[i]} << 8 * i;
  return first;
}

MosaicDraw StreamPlan::DrawMosaicAt(const SampleOrder& order, uint64_t epoch, uint64_t position) const {
  const EpochOrder::Window window = order.WindowOf(position);
  const DrawKey key = {.seed = seed_, .epoch = epoch, .position = position};
  return DrawMosaic(pipeline_.joining()->op, key, window.first, window.count);
}

void StreamPlan::AddSamplesAt(const SampleOrder& order, uint64_t epoch, uint64_t position,
                              std::vector<uint64_t>& ids) const {
  ids.push_back(order.SampleAt(position));
  if (!pipeline_.joining().has_value()) return;
  const MosaicDraw draw = DrawMosaicAt(order, epoch, position);
  if (!draw.joins) return;
  for (const uint64_t partner : draw.partners) ids.push_back(order.SampleAt(partner));
}

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
