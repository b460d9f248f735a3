#include "server/work/span_maker.h"

#include <algorithm>
#include <new>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/work/stage_clock.h"

namespace stoker {
namespace {

v1::ErrorKind KindOf(const absl::Status& status) {
  if (absl::IsDataLoss(status)) return v1::ERROR_KIND_SAMPLE;
  if (absl::IsFailedPrecondition(status)) return v1::ERROR_KIND_PIPELINE;
  return v1::ERROR_KIND_MACHINE;
}

v1::Error ToError(const absl::Status& status, uint64_t position, uint64_t sample, const std::string& name) {
  v1::Error error;
  error.set_kind(KindOf(status));
  error.set_message(absl::StrCat("sample '", name, "' (id ", sample, ", position ", position, "): ", status.message()));
  error.set_position(position);
  error.set_sample_id(sample);
  error.set_sample_name(name);
  return error;
}

}  // namespace

v1::SpanHeader SpanMaker::Make(const StreamPlan& plan, const Dataset& dataset, const SpanId& span,
                               std::span<uint8_t> slab, const Interrupt& interrupt, const ReadAhead::Group* ahead,
                               const DecodedCache::Images* kept) {
  v1::SpanHeader header;
  header.set_stream_key(plan.stream_key());
  header.set_epoch(span.epoch);
  header.set_start(span.start);
  header.set_count(span.count);
  header.mutable_times();
  Job job{
      plan,  dataset, plan.OrderOf(span.epoch), span, SpanWriter(plan.pipeline(), span.count, slab), header, interrupt,
      ahead, kept};
  for (uint32_t index = 0; index < span.count; ++index) {
    absl::Status status = interrupt.status();
    if (status.ok()) status = MakeSample(job, index);
    if (status.ok()) continue;
    const uint64_t position = span.start + index, sample = job.order.SampleAt(position);
    *header.mutable_error() = ToError(status, position, sample, dataset.SampleName(sample));
    return header;
  }
  job.writer.Finish(header);
  return header;
}

absl::Status SpanMaker::MakeSample(Job& job, uint32_t index) {
  const uint64_t own_position = job.span.start + index, samples = job.plan.samples();
  const bool substitute = job.plan.pipeline().pipeline().bad_samples() == v1::BAD_SAMPLES_SUBSTITUTE;
  const uint64_t tries = substitute ? std::min(kMaxSubstitutes + 1, samples) : 1;
  absl::Status first;
  for (uint64_t step = 0; step < tries; ++step) {
    const uint64_t position = (own_position + step) % samples;
    const uint64_t sample = job.order.SampleAt(position);
    absl::Status status = MakeSampleAt(job, position, sample, index);
    if (status.ok()) {
      job.header.add_sample_ids(sample);
      if (job.plan.names()) job.header.add_names(job.dataset.SampleName(sample));
      if (step == 0) return absl::OkStatus();
      const uint64_t bad = job.order.SampleAt(own_position);
      auto& substitution = *job.header.add_substitutions();
      substitution.set_offset(index);
      substitution.set_position(position);
      substitution.set_bad_sample_id(bad);
      substitution.set_bad_sample_name(job.dataset.SampleName(bad));
      substitution.set_reason(std::string(first.message()));
      return absl::OkStatus();
    }
    if (!absl::IsDataLoss(status)) return status;
    if (step == 0) first = status;
  }
  if (!substitute) return first;
  return absl::DataLossError(
      absl::StrCat(first.message(), "; nor could any of the next ", tries - 1, " positions stand in for it"));
}

absl::Status SpanMaker::MakeSampleAt(Job& job, uint64_t position, uint64_t sample, uint32_t index) try {
  if (job.plan.pipeline().joining().has_value()) return MakeJoined(job, position, sample, index);
  STOKER_RETURN_IF_ERROR(ReadTimed(job, sample));
  return maker_.Make({job.plan.pipeline(), job.dataset.schema(), job.plan.seed(), job.span.epoch, position,
                      job.interrupt, job.kept, sample},
                     sample_, job.writer, index, *job.header.mutable_times());
} catch (const std::bad_alloc&) {
  return absl::ResourceExhaustedError("no memory is left to make this sample");
}

absl::Status SpanMaker::MakeJoined(Job& job, uint64_t position, uint64_t sample, uint32_t index) {
  const ServerPipeline& pipeline = job.plan.pipeline();
  const MosaicDraw draw = job.plan.DrawMosaicAt(job.order, job.span.epoch, position);
  const Joiner::Task task = {pipeline, job.dataset.schema(), draw, maker_.limits(), job.interrupt};
  Joiner& joiner = maker_.joiner();
  v1::StageTimes& times = *job.header.mutable_times();
  STOKER_RETURN_IF_ERROR(ReadTimed(job, sample));
  STOKER_RETURN_IF_ERROR(joiner.Add(task, 0, sample_, times));
  std::vector<v1::Substitution> substitutions;
  for (int cell = 1; cell < kMosaicCells && draw.joins; ++cell)
    STOKER_RETURN_IF_ERROR(AddPartner(job, task, cell, position, index, substitutions));
  const absl::Status status =
      maker_.Make({pipeline, pipeline.joining()->schema, job.plan.seed(), job.span.epoch, position, job.interrupt},
                  joiner.joined(), job.writer, index, times);
  joiner.Release();
  STOKER_RETURN_IF_ERROR(status);
  for (v1::Substitution& it : substitutions) *job.header.add_substitutions() = std::move(it);
  return absl::OkStatus();
}

absl::Status SpanMaker::AddPartner(Job& job, const Joiner::Task& task, int cell, uint64_t position, uint32_t index,
                                   std::vector<v1::Substitution>& substitutions) {
  const uint64_t partner = task.draw.partners[cell - 1], own = job.order.SampleAt(partner);
  const auto add = [&](uint64_t sample) {
    absl::Status status = ReadTimed(job, sample);
    if (status.ok()) status = maker_.joiner().Add(task, cell, sample_, *job.header.mutable_times());
    if (status.ok()) return status;
    return absl::Status(status.code(), absl::StrCat("its partner '", job.dataset.SampleName(sample), "' (id ", sample,
                                                    "), which Mosaic drew: ", status.message()));
  };
  const absl::Status status = add(own);
  if (!absl::IsDataLoss(status) || job.plan.pipeline().pipeline().bad_samples() != v1::BAD_SAMPLES_SUBSTITUTE)
    return status;
  const EpochOrder::Window window = job.order.WindowOf(position);
  const uint64_t next = window.first + (partner - window.first + 1) % window.count;
  STOKER_RETURN_IF_ERROR(add(job.order.SampleAt(next)));
  v1::Substitution& substitution = substitutions.emplace_back();
  substitution.set_offset(index);
  substitution.set_position(position);
  substitution.set_bad_sample_id(own);
  substitution.set_bad_sample_name(job.dataset.SampleName(own));
  substitution.set_reason(std::string(status.message()));
  return absl::OkStatus();
}

absl::Status SpanMaker::ReadTimed(Job& job, uint64_t sample) {
  StageClock clock(*job.header.mutable_times());
  const absl::Status status = Read(job, sample);
  clock.Book(&v1::StageTimes::read, &v1::StageTimes::set_read);
  return status;
}

absl::Status SpanMaker::Read(const Job& job, uint64_t sample) {
  if (job.ahead != nullptr)
    if (auto read = job.ahead->Read(sample, sample_)) return *std::move(read);
  return job.dataset.Read(sample, sample_);
}

}  // namespace stoker
