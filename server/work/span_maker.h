#ifndef STOKER_SERVER_WORK_SPAN_MAKER_H_
#define STOKER_SERVER_WORK_SPAN_MAKER_H_

#include <functional>
#include <memory>

#include "common/identity/span_id.h"
#include "server/pack/span_writer.h"
#include "server/plan/stream_plan.h"
#include "server/read/dataset.h"
#include "server/work/sample_maker.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Makes spans: plan, read, decode, augment and pack, sample by sample, straight into the span's slab.
//
// One per worker thread, which keeps codecs and scratch warm from sample to sample.
class SpanMaker {
 public:
  // See SampleMaker.
  explicit SpanMaker(uint64_t max_pixels) : maker_(max_pixels) {}

  // Fills `slab` with the span and returns its header. A span that cannot be made has header.error set, and its
  // slab holds garbage; so has one that is `abandoned`, which is asked before each sample. Requires plan.Check(span)
  // and slab.size() == plan.SpanBytes(span).
  v1::SpanHeader Make(const StreamPlan& plan, const Dataset& dataset, const SpanId& span, std::span<uint8_t> slab,
                      const std::function<bool()>& abandoned);

  // Positions after a bad one that may stand in for it.
  static constexpr uint64_t kMaxSubstitutes = 16;

 private:
  // What one span is made with.
  struct Job {
    const StreamPlan& plan;
    const Dataset& dataset;
    const EpochOrder order;
    const SpanId& span;
    const SpanWriter writer;
    v1::SpanHeader& header;
  };

  // Makes the sample at offset `index` of the span, or a substitute as the policy says.
  absl::Status MakeSample(Job& job, uint32_t index);

  // Makes the sample that stands at `position` into the slots of `index`. DataLoss blames the sample's bytes,
  // FailedPrecondition the pipeline, anything else this machine.
  absl::Status MakeSampleAt(Job& job, uint64_t position, uint64_t sample, uint32_t index);

  SampleMaker maker_;
  SampleBytes sample_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_SPAN_MAKER_H_
