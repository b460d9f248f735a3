#ifndef STOKER_SERVER_WORK_SPAN_MAKER_H_
#define STOKER_SERVER_WORK_SPAN_MAKER_H_

#include <memory>
#include <vector>

#include "common/identity/span_id.h"
#include "server/pack/span_writer.h"
#include "server/plan/stream_plan.h"
#include "server/read/ahead/read_ahead.h"
#include "server/read/dataset.h"
#include "server/work/sample_maker.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Makes spans sample by sample: plans, reads, decodes, augments and packs each straight into the span's slab.
//
// One thread at a time: each worker owns one, which keeps codecs and scratch warm from sample to sample.
class SpanMaker {
 public:
  explicit SpanMaker(const SampleLimits& limits) : maker_(limits) {}

  // Fills `slab` with the span and returns its header. The payload is as long as the pipeline's layout says of that. If
  // the span cannot be made, header.error is set and the slab holds garbage. Once `interrupt` is raised the span ends
  // with an error too. What `ahead` has was read before, and what `kept` has was decoded before; both may be null.
  // Requires that plan.Check(span) is OK and slab.size() == plan.SpanBytes(span).
  v1::SpanHeader Make(const StreamPlan& plan, const Dataset& dataset, const SpanId& span, std::span<uint8_t> slab,
                      const Interrupt& interrupt, const ReadAhead::Group* ahead = nullptr,
                      const DecodedCache::Images* kept = nullptr);

  // How many positions after a bad sample's are tried, in order, as its substitute.
  static constexpr uint64_t kMaxSubstitutes = 16;

 private:
  // Bundles what the functions below need for one span. Refers to Make's arguments.
  struct Job {
    const StreamPlan& plan;
    const Dataset& dataset;
    const SampleOrder order;
    const SpanId& span;
    SpanWriter writer;
    v1::SpanHeader& header;
    const Interrupt& interrupt;
    const ReadAhead::Group* ahead;
    const DecodedCache::Images* kept;
  };

  // Makes the sample at offset `index` of the span, or its substitute if the pipeline's policy allows one.
  absl::Status MakeSample(Job& job, uint32_t index);

  // Makes `sample`, which stands at `position` of the epoch, into the span's slots for offset `index`. DataLoss blames
  // the sample's bytes, FailedPrecondition the pipeline, any other error this machine.
  absl::Status MakeSampleAt(Job& job, uint64_t position, uint64_t sample, uint32_t index);

  // Makes the sample that a Mosaic joins of `sample` and its partners.
  absl::Status MakeJoined(Job& job, uint64_t position, uint64_t sample, uint32_t index);

  // Adds the sample at `partner` of the epoch to the cell, or, where it is bad and the policy allows a substitute, the
  // sample at the next position of the window. That is told by `substitutions`, for `position` at offset `index`.
  absl::Status AddPartner(Job& job, const Joiner::Task& task, int cell, uint64_t position, uint32_t index,
                          std::vector<v1::Substitution>& substitutions);

  // Reads `sample` and books the time.
  absl::Status ReadTimed(Job& job, uint64_t sample);

  // Gets the bytes of `sample` into sample_: those that were read ahead, or else from the dataset.
  absl::Status Read(const Job& job, uint64_t sample);

  SampleMaker maker_;
  SampleBytes sample_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_SPAN_MAKER_H_
