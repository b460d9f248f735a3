#ifndef STOKER_SERVER_PLAN_STREAM_PLAN_H_
#define STOKER_SERVER_PLAN_STREAM_PLAN_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/identity/span_id.h"
#include "common/ops/mosaic.h"
#include "common/pipeline/server_pipeline.h"
#include "server/plan/selection.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Says what one stream's spans are: which sample stands at a position, what the pipeline draws for it, and how many
// bytes a span has. It holds all that a span's bytes depend on, but the samples themselves. Immutable, hence
// thread-safe.
class StreamPlan {
 public:
  // A SHA-256. Two plans have the same only if they are the same.
  using Key = std::array<uint8_t, 32>;

  // `dataset` is the name by which this server knows the dataset. `identity` is that of the job's part of it, which is
  // `selection`. `names` asks for samples' names in the spans' headers. InvalidArgument if `shuffle` is not valid.
  static absl::StatusOr<StreamPlan> Create(std::string_view dataset, ServerPipeline pipeline,
                                           const v1::Identity& identity, uint64_t seed, const v1::Shuffle& shuffle,
                                           bool names, Selection selection = {});

  // OK if the span lies in the dataset and has at most `max_bytes`, or is a single sample; InvalidArgument otherwise.
  absl::Status Check(const SpanId& span, uint64_t max_bytes) const;

  uint64_t SpanBytes(const SpanId& span) const { return span.count * pipeline_.sample_bytes(); }

  SampleOrder OrderOf(uint64_t epoch) const { return {selection_, samples_, shuffle_, seed_, epoch}; }

  // Returns what the pipeline's Mosaic draws for `position` of the epoch that `order` is of. Requires that it has one.
  MosaicDraw DrawMosaicAt(const SampleOrder& order, uint64_t epoch, uint64_t position) const;

  // Appends the ids of the samples of which that at `position` is made: its own, and those of its partners.
  void AddSamplesAt(const SampleOrder& order, uint64_t epoch, uint64_t position, std::vector<uint64_t>& ids) const;

  const ServerPipeline& pipeline() const { return pipeline_; }
  uint64_t samples() const { return samples_; }  // of an epoch
  uint64_t seed() const { return seed_; }
  bool names() const { return names_; }

  // A hash of all that a span's bytes and header depend on. It is cryptographic, since clients choose what goes in: one
  // who found another plan with the same key would have another job's spans replaced by his.
  const Key& key() const { return key_; }

  // The key's first 8 bytes, which every span's header echoes. Clients compare it with the stream's, and nothing else.
  uint64_t stream_key() const;

 private:
  StreamPlan(Key key, ServerPipeline pipeline, const v1::Identity& identity, uint64_t seed, const v1::Shuffle& shuffle,
             bool names, Selection selection);

  ServerPipeline pipeline_;
  uint64_t samples_;
  uint64_t seed_;
  v1::Shuffle shuffle_;
  bool names_;
  Selection selection_;
  Key key_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_PLAN_STREAM_PLAN_H_
