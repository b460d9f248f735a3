#include "server/work/sample_maker.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/work/stage_clock.h"

namespace stoker {
namespace {

// Returns the smallest region that covers both.
Region Union(const Region& a, const Region& b) {
  const int64_t top = std::min(a.top, b.top), left = std::min(a.left, b.left);
  return {top, left, {std::max(a.bottom(), b.bottom()) - top, std::max(a.right(), b.right()) - left}};
}

DecodeOptions DecoderOptions(const ServerPipeline& pipeline) {
  return {
      .max_pixels = pipeline.max_pixels(), .max_scans = pipeline.max_scans(), .warnings = pipeline.decode_warnings()};
}

}  // namespace

absl::Status SampleMaker::Make(const Task& task, const SampleBytes& sample, const SpanWriter& writer, uint32_t index,
                               v1::StageTimes& times) {
  const auto& outputs = task.pipeline.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int source = outputs[i].source;
    const std::vector<uint8_t>& bytes = sample.fields[source];
    if (!outputs[i].image) {
      StageClock clock(times);
      writer.Write(i, index, bytes);
      clock.Book(&v1::StageTimes::pack, &v1::StageTimes::set_pack);
    } else if (i == 0 || outputs[i - 1].source != source) {
      // The outputs of one source stand side by side, and the first of them makes all.
      STOKER_RETURN_IF_ERROR(MakeImages(task, source, bytes, {writer, index}, times));
    }
  }
  return absl::OkStatus();
}

absl::Status SampleMaker::MakeImages(const Task& task, int source, std::span<const uint8_t> bytes, const Place& place,
                                     v1::StageTimes& times) {
  const SourceField& field = task.schema[source];
  if (field.kind == SourceField::Kind::kEncodedImage) {
    StageClock clock(times);
    STOKER_ASSIGN_OR_RETURN(const ImageSize size, decoder_.Open(bytes, DecoderOptions(task.pipeline)));
    if (static_cast<uint64_t>(size.height) * static_cast<uint64_t>(size.width) > max_pixels_)
      return absl::ResourceExhaustedError(absl::StrCat("an image of ", size.width, "×", size.height,
                                                       " is above this server's max_pixels of ", max_pixels_));
    STOKER_RETURN_IF_ERROR(Plan(task, source, size, place));
    clock.Book(&v1::StageTimes::decode, &v1::StageTimes::set_decode);
    return MakeFromFile(times);
  }
  StageClock clock(times);
  const ImageSize size = {field.shape[0], field.shape[1]};
  STOKER_RETURN_IF_ERROR(Plan(task, source, size, place));
  MakeFrom({{bytes.data(), size, static_cast<ptrdiff_t>(size.width) * 3}, WholeOf(size)});
  clock.Book(&v1::StageTimes::augment, &v1::StageTimes::set_augment);
  return absl::OkStatus();
}

absl::Status SampleMaker::Plan(const Task& task, int source, ImageSize size, const Place& place) {
  views_.clear();
  const auto& outputs = task.pipeline.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].source != source) continue;
    const std::span<uint8_t> slot = place.writer.Slot(i, place.index);
    const size_t view_bytes = slot.size() / outputs[i].view_count;
    for (uint32_t view = 0; view < outputs[i].view_count; ++view) {
      STOKER_ASSIGN_OR_RETURN(const auto ops,
                              task.pipeline.Draw(outputs[i], view, size, task.seed, task.epoch, task.position));
      ImagePlan plan = ImagePlan::Make(size, ops, task.pipeline.jpeg_scaling());
      if (plan.peak_pixels() > max_pixels_)
        return absl::ResourceExhaustedError(absl::StrCat("its ops make an image of ", plan.peak_pixels(),
                                                         " pixels, above this server's max_pixels of ", max_pixels_));
      views_.push_back({std::move(plan), slot.subspan(view * view_bytes, view_bytes)});
    }
  }
  return absl::OkStatus();
}

absl::Status SampleMaker::MakeFromFile(v1::StageTimes& times) {
  StageClock clock(times);
  for (std::optional<DecodeTarget> target; (target = NextTarget()).has_value();) {
    STOKER_RETURN_IF_ERROR(decoder_.Decode(*target, image_));
    STOKER_CHECK(image_.eighths == target->eighths || image_.eighths == 8);
    clock.Book(&v1::StageTimes::decode, &v1::StageTimes::set_decode);
    MakeFrom(SourceOf(image_));
    clock.Book(&v1::StageTimes::augment, &v1::StageTimes::set_augment);
  }
  return absl::OkStatus();
}

std::optional<DecodeTarget> SampleMaker::NextTarget() const {
  std::optional<DecodeTarget> target;
  for (const View& view : views_) {
    if (view.made) continue;
    const DecodeTarget& wanted = view.plan.target();
    if (!target.has_value()) target = wanted;
    *target = {Union(target->needed, wanted.needed), std::min(target->eighths, wanted.eighths)};
  }
  return target;
}

void SampleMaker::MakeFrom(const SourceImage& image) {
  for (View& view : views_) {
    if (view.made || (image.eighths != 8 && image.eighths != view.plan.target().eighths)) continue;
    augmenter_.Apply(view.plan, image, view.slot);
    view.made = true;
  }
}

}  // namespace stoker
