#include "server/work/span_maker.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// Adds the time from its construction to `StageTimes`, a stage at a time.
class StageClock {
 public:
  using Setter = void (v1::StageTimes::*)(uint64_t);
  using Getter = uint64_t (v1::StageTimes::*)() const;

  explicit StageClock(v1::StageTimes& times) : times_(times) {}

  // Books the time since the last call, or since construction.
  void Book(Getter get, Setter set) {
    const auto now = std::chrono::steady_clock::now();
    (times_.*set)((times_.*get)() + std::chrono::nanoseconds(now - last_).count());
    last_ = now;
  }

 private:
  v1::StageTimes& times_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Pixels of the largest image that `ops` make of one of `size`, or keep between the two passes of a resize.
uint64_t PeakPixels(ImageSize size, const std::vector<OpParameters>& ops) {
  uint64_t peak = 0;
  for (const OpParameters& op : ops) {
    ImageSize next = size;
    if (const auto* crop = std::get_if<CropParameters>(&op)) next = crop->size;
    if (const auto* resize = std::get_if<ResizeParameters>(&op)) next = resize->size;
    const bool resized = std::holds_alternative<ResizeParameters>(op);
    peak = std::max<uint64_t>(peak, (resized ? std::max(size.height, next.height) : next.height) * next.width);
    size = next;
  }
  return peak;
}

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
                               std::span<uint8_t> slab, const std::function<bool()>& abandoned) {
  v1::SpanHeader header;
  header.set_stream_key(plan.key());
  header.set_epoch(span.epoch);
  header.set_start(span.start);
  header.set_count(span.count);
  header.mutable_times();
  Job job{plan, dataset, plan.OrderOf(span.epoch), span, SpanWriter(plan.pipeline(), span.count, slab), header};
  for (uint32_t index = 0; index < span.count; ++index) {
    absl::Status status = abandoned() ? absl::CancelledError("nobody waits for it") : MakeSample(job, index);
    if (status.ok()) continue;
    const uint64_t position = span.start + index, sample = job.order.SampleAt(position);
    *header.mutable_error() = ToError(status, position, sample, dataset.SampleName(sample));
    break;
  }
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
  v1::StageTimes& times = *job.header.mutable_times();
  StageClock clock(times);
  absl::Status status = job.dataset.Read(sample, sample_);
  clock.Book(&v1::StageTimes::read, &v1::StageTimes::set_read);
  STOKER_RETURN_IF_ERROR(status);
  const auto& outputs = job.plan.pipeline().outputs();
  for (size_t field = 0; field < outputs.size(); ++field) {
    const std::span<const uint8_t> source = sample_.fields[outputs[field].source];
    if (outputs[field].image) {
      status = MakeImage(job, position, outputs[field], source, job.writer.Slot(field, index));
      STOKER_RETURN_IF_ERROR(status);
    } else {
      StageClock pack(times);
      job.writer.Write(field, index, source);
      pack.Book(&v1::StageTimes::pack, &v1::StageTimes::set_pack);
    }
  }
  return absl::OkStatus();
} catch (const std::bad_alloc&) {
  return absl::ResourceExhaustedError("no memory to make it");
}

absl::Status SpanMaker::MakeImage(Job& job, uint64_t position, const ServerPipeline::Output& output,
                                  std::span<const uint8_t> source, std::span<uint8_t> slot) {
  StageClock clock(*job.header.mutable_times());
  const SourceField& field = job.dataset.schema()[output.source];
  const bool encoded = field.kind == SourceField::Kind::kEncodedImage;
  const ServerPipeline& pipeline = job.plan.pipeline();
  const Decoder::Options options = {
      .max_pixels = pipeline.max_pixels(), .max_scans = pipeline.max_scans(), .warnings = pipeline.decode_warnings()};
  ImageSize whole;
  if (encoded) {
    STOKER_ASSIGN_OR_RETURN(whole, decoder_.ReadHeader(source, options));
    if (static_cast<uint64_t>(whole.height) * whole.width > max_pixels_)
      return absl::ResourceExhaustedError(absl::StrCat("an image of ", whole.width, "×", whole.height,
                                                       " is above this server's max_pixels of ", max_pixels_));
  } else {
    whole = {field.shape[0], field.shape[1]};
  }
  STOKER_ASSIGN_OR_RETURN(const auto ops, job.plan.Draw(whole, job.span.epoch, position));
  if (PeakPixels(whole, ops) > max_pixels_)
    return absl::ResourceExhaustedError(absl::StrCat("its ops make an image of ", PeakPixels(whole, ops),
                                                     " pixels, above this server's max_pixels of ", max_pixels_));
  if (encoded) {
    const Region needed = Augmenter::Needed(whole, ops);
    STOKER_RETURN_IF_ERROR(decoder_.Decode(source, options, needed, image_));
    clock.Book(&v1::StageTimes::decode, &v1::StageTimes::set_decode);
    augmenter_.Apply(image_.view(), image_.region, whole, ops, slot);
  } else {
    const ImageView view = {source.data(), whole, static_cast<ptrdiff_t>(whole.width) * 3};
    augmenter_.Apply(view, {.size = whole}, whole, ops, slot);
  }
  clock.Book(&v1::StageTimes::augment, &v1::StageTimes::set_augment);
  return absl::OkStatus();
}

}  // namespace stoker
