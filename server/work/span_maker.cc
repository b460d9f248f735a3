#include "server/work/span_maker.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/ops/own_batch.h"
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

absl::Status NoMemory() { return absl::ResourceExhaustedError("no memory is left to make this sample"); }

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
  Job job{plan,
          dataset,
          plan.OrderOf(span.epoch),
          span,
          SpanWriter(plan.pipeline(), span.count, slab),
          header,
          interrupt,
          ahead,
          kept,
          NewOwnBatch(plan.pipeline().pipeline())};
  const std::optional<Failure> failure = MakeSamples(job);
  if (failure.has_value()) {
    const uint64_t position = span.start + failure->index, sample = job.order.SampleAt(position);
    *header.mutable_error() = ToError(failure->status, position, sample, dataset.SampleName(sample));
    return header;
  }
  job.writer.Finish(header);
  return header;
}

std::optional<SpanMaker::Failure> SpanMaker::MakeSamples(Job& job) {
  pending_.clear();
  for (uint32_t index = 0; index < job.span.count; ++index) {
    absl::Status status = job.interrupt.status();
    if (status.ok()) status = MakeSample(job, {.index = index}, job.batch != nullptr);
    const bool last = !status.ok() || index + 1 == job.span.count;
    if (!pending_.empty() && (last || pending_.size() == kMostPending || job.batch->full()))
      if (auto failure = FinishPending(job)) return failure;
    if (!status.ok()) return Failure{index, std::move(status)};
  }
  return std::nullopt;
}

void SpanMaker::Skip(const absl::Status& status, Place& place) {
  if (place.step == 0) place.first = status;
  ++place.step;
}

void SpanMaker::Tell(Job& job, Place& place) {
  job.header.add_sample_ids(place.sample);
  if (job.plan.names()) job.header.add_names(job.dataset.SampleName(place.sample));
  for (v1::Substitution& it : place.partners) *job.header.add_substitutions() = std::move(it);
  if (place.step > 0)
    *job.header.add_substitutions() =
        SubstitutionOf(job, place, job.order.SampleAt(job.span.start + place.index), place.first);
}

v1::Substitution SpanMaker::SubstitutionOf(const Job& job, const Place& place, uint64_t bad, const absl::Status& why) {
  v1::Substitution substitution;
  substitution.set_offset(place.index);
  substitution.set_position(place.position);
  substitution.set_bad_sample_id(bad);
  substitution.set_bad_sample_name(job.dataset.SampleName(bad));
  substitution.set_reason(std::string(why.message()));
  return substitution;
}

absl::Status SpanMaker::MakeSample(Job& job, Place place, bool may_wait) {
  const bool substitute = job.plan.pipeline().pipeline().bad_samples() == v1::BAD_SAMPLES_SUBSTITUTE;
  const uint64_t tries = substitute ? std::min(kMaxSubstitutes + 1, job.plan.samples()) : 1;
  while (place.step < tries) {
    place.position = (job.span.start + place.index + place.step) % job.plan.samples();
    place.sample = job.order.SampleAt(place.position);
    place.partners.clear();
    const absl::Status status = may_wait ? BeginSampleAt(job, place) : MakeSampleAt(job, place, nullptr);
    if (status.ok() && !may_wait) Tell(job, place);
    if (!absl::IsDataLoss(status)) return status;
    Skip(status, place);
  }
  if (!substitute) return place.first;
  return absl::DataLossError(
      absl::StrCat(place.first.message(), "; nor could any of the next ", tries - 1, " positions stand in for it"));
}

SampleMaker::Task SpanMaker::TaskAt(const Job& job, const Place& place) {
  return {job.plan.pipeline(), job.dataset.schema(), job.plan.seed(), job.span.epoch,
          place.position,      job.interrupt,        job.kept,        place.sample};
}

absl::Status SpanMaker::MakeSampleAt(Job& job, Place& place, SampleMaker::Waiting* waiting) try {
  if (job.plan.pipeline().joining().has_value()) return MakeJoined(job, place, waiting);
  STOKER_RETURN_IF_ERROR(ReadTimed(job, place.sample));
  return MakeOf(job, place, TaskAt(job, place), sample_, waiting);
} catch (const std::bad_alloc&) {
  return NoMemory();
}

absl::Status SpanMaker::MakeOf(Job& job, const Place& place, const SampleMaker::Task& task, const SampleBytes& bytes,
                               SampleMaker::Waiting* waiting) {
  v1::StageTimes& times = *job.header.mutable_times();
  if (waiting == nullptr) return maker_.Make(task, bytes, job.writer, place.index, times);
  return maker_.Begin(task, bytes, job.writer, place.index, times, *job.batch, *waiting);
}

absl::Status SpanMaker::BeginSampleAt(Job& job, const Place& place) {
  const size_t before = job.batch->size();
  Pending pending = {place, {}};
  absl::Status status = MakeSampleAt(job, pending.place, &pending.waiting);
  if (!status.ok()) {
    job.batch->Truncate(before);
    return status;
  }
  if (!pending_.empty() || !pending.waiting.images.empty()) {
    pending_.push_back(std::move(pending));
    return absl::OkStatus();
  }
  return FinishSample(job, pending);
}

absl::Status SpanMaker::FinishSample(Job& job, Pending& pending) try {
  STOKER_RETURN_IF_ERROR(maker_.Finish(TaskAt(job, pending.place), *job.batch, pending.waiting, job.writer,
                                       pending.place.index, *job.header.mutable_times()));
  Tell(job, pending.place);
  return absl::OkStatus();
} catch (const std::bad_alloc&) {
  return NoMemory();
}

std::optional<SpanMaker::Failure> SpanMaker::FinishPending(Job& job) {
  StageClock clock(*job.header.mutable_times());
  if (job.interrupt.status().ok()) job.batch->Run([&job] { return job.interrupt.raised(); });
  clock.Book(&v1::StageTimes::own_ops, &v1::StageTimes::set_own_ops);
  for (Pending& pending : pending_) {
    absl::Status status = job.interrupt.status();
    if (status.ok()) status = FinishSample(job, pending);
    if (absl::IsDataLoss(status)) {
      Skip(status, pending.place);
      status = MakeSample(job, pending.place, /*may_wait=*/false);
    }
    if (!status.ok()) return Failure{pending.place.index, std::move(status)};
  }
  pending_.clear();
  job.batch->Truncate(0);
  return std::nullopt;
}

absl::Status SpanMaker::MakeJoined(Job& job, Place& place, SampleMaker::Waiting* waiting) {
  const ServerPipeline& pipeline = job.plan.pipeline();
  const MosaicDraw draw = job.plan.DrawMosaicAt(job.order, job.span.epoch, place.position);
  const Joiner::Task task = {pipeline, job.dataset.schema(), draw, maker_.limits(), job.interrupt, job.kept};
  Joiner& joiner = maker_.joiner();
  STOKER_RETURN_IF_ERROR(ReadTimed(job, place.sample));
  STOKER_RETURN_IF_ERROR(joiner.Add(task, 0, place.sample, sample_, *job.header.mutable_times()));
  for (int cell = 1; cell < kMosaicCells && draw.joins; ++cell)
    STOKER_RETURN_IF_ERROR(AddPartner(job, task, cell, place));
  const SampleMaker::Task joined = {
      pipeline, pipeline.joining()->schema, job.plan.seed(), job.span.epoch, place.position, job.interrupt};
  const absl::Status status = MakeOf(job, place, joined, joiner.joined(), waiting);
  joiner.Release();
  return status;
}

absl::Status SpanMaker::AddPartner(Job& job, const Joiner::Task& task, int cell, Place& place) {
  const uint64_t partner = task.draw.partners[cell - 1], own = job.order.SampleAt(partner);
  const auto add = [&](uint64_t sample) {
    absl::Status status = ReadTimed(job, sample);
    if (status.ok()) status = maker_.joiner().Add(task, cell, sample, sample_, *job.header.mutable_times());
    if (status.ok()) return status;
    return absl::Status(status.code(), absl::StrCat("its partner '", job.dataset.SampleName(sample), "' (id ", sample,
                                                    "), which Mosaic drew: ", status.message()));
  };
  const absl::Status status = add(own);
  if (!absl::IsDataLoss(status) || job.plan.pipeline().pipeline().bad_samples() != v1::BAD_SAMPLES_SUBSTITUTE)
    return status;
  const EpochOrder::Window window = job.order.WindowOf(place.position);
  const uint64_t next = window.first + (partner - window.first + 1) % window.count;
  STOKER_RETURN_IF_ERROR(add(job.order.SampleAt(next)));
  place.partners.push_back(SubstitutionOf(job, place, own, status));
  return absl::OkStatus();
}

absl::Status SpanMaker::ReadTimed(Job& job, uint64_t sample) {
  StageClock clock(*job.header.mutable_times());
  const absl::Status status = Read(job, sample);
  clock.Book(&v1::StageTimes::read, &v1::StageTimes::set_read);
  return status;
}

absl::Status SpanMaker::Read(const Job& job, uint64_t sample) {
  sample_.wanted = job.plan.pipeline().sources();
  if (job.ahead != nullptr)
    if (auto read = job.ahead->Read(sample, sample_)) return *std::move(read);
  return job.dataset.Read(sample, sample_);
}

}  // namespace stoker
