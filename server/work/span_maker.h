#ifndef STOKER_SERVER_WORK_SPAN_MAKER_H_
#define STOKER_SERVER_WORK_SPAN_MAKER_H_

#include <memory>
#include <optional>
#include <vector>

#include "common/identity/span_id.h"
#include "common/ops/own_batch.h"
#include "server/pack/span_writer.h"
#include "server/plan/stream_plan.h"
#include "server/read/ahead/read_ahead.h"
#include "server/read/dataset.h"
#include "server/work/sample_maker.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Makes spans sample by sample: plans, reads, decodes, augments and packs each straight into the span's slab. Where an
// own op takes several images at once, samples wait for each other before it.
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
    const std::unique_ptr<OwnBatch> batch;  // what samples wait in; null where none does
  };

  // The sample at offset `index` of the span, or what stands in for it.
  struct Place {
    uint32_t index = 0;
    uint64_t step = 0;   // so many positions after its own
    absl::Status first;  // why its own sample cannot be used, where it is not the own one
    uint64_t position = 0, sample = 0;
    std::vector<v1::Substitution> partners;  // those of its partners in a Mosaic that others stand in for
  };

  // A sample that waits.
  struct Pending {
    Place place;
    SampleMaker::Waiting waiting;
  };

  // The first sample that cannot be made, and why.
  struct Failure {
    uint32_t index = 0;
    absl::Status status;
  };

  // So many samples wait at most.
  static constexpr size_t kMostPending = 64;

  // Makes all samples. None where all could be made.
  std::optional<Failure> MakeSamples(Job& job);

  // Makes the sample at `place`, or its substitute if the pipeline's policy allows one. If it `may_wait`, it may be
  // among pending_ afterwards.
  absl::Status MakeSample(Job& job, Place place, bool may_wait);

  // Makes the sample, which stands at `place.position` of the epoch, into the span's slots. DataLoss blames the
  // sample's bytes, FailedPrecondition the pipeline, any other error this machine. If `waiting` is given, the sample
  // may wait.
  absl::Status MakeSampleAt(Job& job, Place& place, SampleMaker::Waiting* waiting);

  // Does what MakeSampleAt does, for a sample that is among pending_ afterwards, unless no sample waits.
  absl::Status BeginSampleAt(Job& job, const Place& place);

  // Makes the sample of `bytes`.
  absl::Status MakeOf(Job& job, const Place& place, const SampleMaker::Task& task, const SampleBytes& bytes,
                      SampleMaker::Waiting* waiting);

  // Runs the batch, and makes the rest of the samples that wait, or their substitutes.
  std::optional<Failure> FinishPending(Job& job);
  absl::Status FinishSample(Job& job, Pending& pending);

  // Tells of a sample that was made.
  static void Tell(Job& job, Place& place);

  // Tells that another one stands in for the sample `bad` in what is at `place`.
  static v1::Substitution SubstitutionOf(const Job& job, const Place& place, uint64_t bad, const absl::Status& why);

  // Notes that the sample at `place` cannot be used, for the reason that `status` says. Goes on to the next position.
  static void Skip(const absl::Status& status, Place& place);

  static SampleMaker::Task TaskAt(const Job& job, const Place& place);

  // Makes the sample that a Mosaic joins of that at `place` and its partners.
  absl::Status MakeJoined(Job& job, Place& place, SampleMaker::Waiting* waiting);

  // Adds the sample at `partner` of the epoch to the cell, or, where it is bad and the policy allows a substitute, the
  // sample at the next position of the window. That is told by place.partners.
  absl::Status AddPartner(Job& job, const Joiner::Task& task, int cell, Place& place);

  // Reads `sample` and books the time.
  absl::Status ReadTimed(Job& job, uint64_t sample);

  // Gets the bytes of `sample` into sample_: those that were read ahead, or else from the dataset.
  absl::Status Read(const Job& job, uint64_t sample);

  SampleMaker maker_;
  SampleBytes sample_;
  std::vector<Pending> pending_;  // in the order of the span
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_SPAN_MAKER_H_
