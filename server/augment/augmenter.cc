#include "server/augment/augmenter.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <variant>

#include "common/check.h"
#include "common/ops/loaded_ops.h"
#include "common/status_macros.h"
#include "server/augment/affine.h"
#include "server/augment/chain_mixer.h"
#include "server/augment/color/color.h"
#include "server/augment/elastic.h"
#include "server/augment/erase.h"
#include "server/augment/noise.h"
#include "server/augment/pixel.h"
#include "server/augment/resize/scratch.h"

namespace stoker {
namespace {

int64_t Bytes(ImageSize size) { return size.height * size.width * kChannels; }

SourceImage Packed(const uint8_t* pixels, const Region& region) {
  return {{pixels, region.size, static_cast<ptrdiff_t>(region.size.width * kChannels)}, region};
}

// Returns the part `inner` of `image`, which must have it.
SourceImage Narrowed(const SourceImage& image, const Region& inner) {
  STOKER_CHECK(image.view.size == image.region.size && image.region.Contains(inner));
  ImageView view = image.view;
  view.pixels = view.At(inner.top - image.region.top, inner.left - image.region.left);
  view.size = inner.size;
  return {view, inner, image.eighths};
}

// Copies `image` to rows of packed RGB.
void Pack(const ImageView& image, uint8_t* out) {
  for (int64_t y = 0; y < image.size.height; ++y)
    for (int64_t x = 0; x < image.size.width; ++x, out += kChannels) CopyPixel(image.At(y, x), out);
}

// Returns the crop in pixels of the image at `eighths` of its size, where it may be fractional.
Box BoxOf(const CropParameters& crop, int eighths) {
  const auto reduced = [&](int64_t at_full_size) { return static_cast<double>(at_full_size * eighths) / 8; };
  return {reduced(crop.top), reduced(crop.left), reduced(crop.size.height), reduced(crop.size.width)};
}

Region RoundedOutward(const Box& box) {
  const auto top = static_cast<int64_t>(box.top), left = static_cast<int64_t>(box.left);
  const auto bottom = static_cast<int64_t>(std::ceil(box.top + box.height));
  const auto right = static_cast<int64_t>(std::ceil(box.left + box.width));
  return {top, left, {bottom - top, right - left}};
}

// Returns whether the step only crops, within the image. Such a step need not copy any pixel.
bool OnlyNarrows(const PlannedStep& planned) {
  const auto* geometry = std::get_if<Geometry>(&planned.step.action);
  return geometry != nullptr && !geometry->resize.has_value() && !geometry->flip_horizontal &&
         !geometry->flip_vertical &&
         WholeOf(planned.step.in).Contains({geometry->crop.top, geometry->crop.left, geometry->crop.size});
}

// Returns the last step that is not in place; those after it change what it wrote to the result's place.
size_t LastThatMakes(const std::vector<PlannedStep>& steps) {
  size_t last = steps.size() - 1;
  while (steps[last].step.in_place()) --last;
  return last;
}

// Returns room in `batch` for what step `i` makes, where no other step makes an image before the next own op. Null
// where there is no such op, or no room.
uint8_t* RoomAfter(size_t i, const std::vector<PlannedStep>& steps, OwnBatch& batch) {
  do {
    if (++i == steps.size()) return nullptr;
  } while (steps[i].step.in_place());
  const auto* own = std::get_if<OwnParameters>(&steps[i].step.action);
  return own == nullptr ? nullptr : batch.Add(*own, steps[i].step.in);
}

// Copies the image of an own op into `batch`. Null where that has no room.
uint8_t* CopyTo(OwnBatch& batch, const PlannedStep& own, const SourceImage& image) {
  uint8_t* const room = batch.Add(std::get<OwnParameters>(own.step.action), own.step.in);
  if (room == nullptr) return nullptr;
  const ImageView view = Narrowed(image, own.needed).view;
  if (view.pixel_bytes != kChannels) {
    Pack(view, room);
    return room;
  }
  const int64_t row_bytes = view.size.width * kChannels;
  for (int64_t y = 0; y < view.size.height; ++y) std::memcpy(room + y * row_bytes, view.At(y, 0), row_bytes);
  return room;
}

}  // namespace

// Carries out one step from `in` to `out`. A step that is in place works on `out` alone.
struct Augmenter::Run {
  Augmenter& augmenter;
  const PlannedStep& planned;
  const SourceImage& in;
  uint8_t* out;
  const Interrupt& interrupt;
  absl::Status& status;

  void operator()(const Geometry& geometry) const {
    if (geometry.resize.has_value()) return Resize(geometry);
    const SourceImage part = Narrowed(in, planned.needed);
    augmenter.crop_flipper_.Run(geometry, part.view, part.region, planned.step.in, planned.made, out);
  }

  void Resize(const Geometry& geometry) const {
    Box box = BoxOf(geometry.crop, in.eighths);
    const SourceImage part = Narrowed(in, RoundedOutward(box));
    // The box is taken relative to the rounded crop, so that the arithmetic does not depend on the part at hand.
    box.top -= static_cast<double>(part.region.top);
    box.left -= static_cast<double>(part.region.left);
    augmenter.resizer_.Resize({part.view, box, geometry.resize->size, geometry.resize->interpolation,
                               geometry.resize->antialias, geometry.flip_horizontal, geometry.flip_vertical},
                              out);
  }

  void operator()(const BlurParameters& blur) const {
    augmenter.smoother_.Blur(blur, in.view, in.region, planned.step.in, planned.made, out, interrupt);
  }
  void operator()(const SharpnessParameters& sharpness) const {
    augmenter.smoother_.Sharpen(sharpness, in.view, in.region, planned.step.in, planned.made, out);
  }
  void operator()(const AffineParameters& warp) const {
    ApplyAffine(warp, Narrowed(in, planned.needed).view, out, interrupt);
  }
  void operator()(const PerspectiveParameters& warp) const {
    ApplyPerspective(warp, Narrowed(in, planned.needed).view, out, interrupt);
  }

  void operator()(const ElasticParameters& elastic) const {
    ApplyElastic(elastic, Narrowed(in, planned.needed).view, out, interrupt);
  }

  void operator()(const Coloring& coloring) const { ApplyColors(coloring.ops, planned.made.size, out); }
  void operator()(const EraseParameters& erase) const { EraseRectangle(erase, planned.made.size, out); }
  void operator()(const MaskParameters& mask) const { MaskPixels(mask, planned.made.size, out); }
  void operator()(const NoiseParameters& noise) const {
    AddNoise(noise, {out, static_cast<size_t>(Bytes(planned.made.size))});
  }
  void operator()(const RecompressParameters& recompress) const {
    status = augmenter.recompressor_.Run(recompress, planned.made.size, out);
  }

  void operator()(const MixedChainsParameters& mixed) const {
    if (augmenter.chain_mixer_ == nullptr) augmenter.chain_mixer_ = std::make_unique<ChainMixer>();
    status = augmenter.chain_mixer_->Run(mixed, Narrowed(in, planned.needed), out, interrupt);
  }

  // An own op gets packed pixels of three bytes.
  void operator()(const OwnParameters& own) const {
    ImageView view = Narrowed(in, planned.needed).view;
    std::vector<uint8_t> packed;
    if (view.pixel_bytes != kChannels || view.stride != view.size.width * kChannels) {
      packed.resize(Bytes(view.size));
      Pack(view, packed.data());
      view.pixels = packed.data();
    }
    const auto begun = std::chrono::steady_clock::now();
    status = own.op->Apply(own.values, own.key, view.pixels, view.size, out, planned.made.size);
    augmenter.own_nanoseconds_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begun).count();
  }
};

// How far a plan is: the next step, the image before it, and where that lies, if it was made here.
struct Augmenter::Place {
  size_t step = 0;
  SourceImage current;
  uint8_t* made = nullptr;
};

Augmenter::Augmenter() = default;
Augmenter::~Augmenter() = default;

absl::Status Augmenter::Apply(const ImagePlan& plan, const SourceImage& image, std::span<uint8_t> out,
                              const Interrupt& interrupt) {
  return CarryOut(plan, {.current = image}, out, nullptr, interrupt).status();
}

absl::StatusOr<std::optional<size_t>> Augmenter::Begin(const ImagePlan& plan, const SourceImage& image,
                                                       std::span<uint8_t> out, OwnBatch& batch,
                                                       const Interrupt& interrupt) {
  STOKER_ASSIGN_OR_RETURN(const size_t step, CarryOut(plan, {.current = image}, out, &batch, interrupt));
  return step < plan.steps().size() ? std::optional(step) : std::nullopt;
}

absl::Status Augmenter::Finish(const ImagePlan& plan, size_t step, uint8_t* pixels, std::span<uint8_t> out,
                               const Interrupt& interrupt) {
  if (step == LastThatMakes(plan.steps())) {
    std::memcpy(out.data(), pixels, out.size());
    pixels = out.data();
  }
  return CarryOut(plan, {step + 1, Packed(pixels, plan.steps()[step].made), pixels}, out, nullptr, interrupt).status();
}

absl::StatusOr<size_t> Augmenter::CarryOut(const ImagePlan& plan, Place place, std::span<uint8_t> out, OwnBatch* batch,
                                           const Interrupt& interrupt) {
  const std::vector<PlannedStep>& steps = plan.steps();
  STOKER_CHECK(static_cast<int64_t>(out.size()) == Bytes(plan.result()));
  STOKER_CHECK(place.current.eighths == 8 || place.current.eighths == plan.target().eighths);
  const size_t last = LastThatMakes(steps), first = place.step;
  auto& [i, current, made] = place;
  uint8_t* waiting = nullptr;  // where the next own op takes its image
  for (; i < steps.size(); ++i) {
    if (i > first && interrupt.raised()) return steps.size();
    const PlannedStep& planned = steps[i];
    if (batch != nullptr && std::holds_alternative<OwnParameters>(planned.step.action)) {
      if (waiting == nullptr) waiting = CopyTo(*batch, planned, current);
      if (waiting != nullptr) return i;
    }
    if (!planned.step.in_place()) {
      if (i < last && !steps[i + 1].step.in_place() && OnlyNarrows(planned)) {
        current = Narrowed(current, planned.needed);
        current.region = planned.made;
        continue;
      }
      if (batch != nullptr) waiting = RoomAfter(i, steps, *batch);
      made = i == last ? out.data() : waiting != nullptr ? waiting : Reserve(Bytes(planned.made.size), back_);
    }
    absl::Status status;
    std::visit(Run{*this, planned, current, made, interrupt, status}, planned.step.action);
    STOKER_RETURN_IF_ERROR(status);
    current = Packed(made, planned.made);
    if (!planned.step.in_place() && waiting == nullptr) std::swap(front_, back_);
  }
  return steps.size();
}

}  // namespace stoker
