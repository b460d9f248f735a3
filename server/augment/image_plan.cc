#include "server/augment/image_plan.h"

#include <algorithm>

#include "server/augment/padding.h"
#include "server/augment/smooth.h"

namespace stoker {
namespace {

// The pixels [begin, end) along one axis.
struct Run {
  int64_t begin, end;
};

// Returns the pixels of an axis of `extent` pixels that show in `wanted`, which may reach into the padding. Where none
// shows it returns the first pixel, since no region may be empty.
Run Sources(Run wanted, int64_t extent, v1::PaddingMode padding) {
  Run sources = {extent, 0};
  for (int64_t i = wanted.begin; i < wanted.end; ++i) {
    const int64_t source = PaddingSource(i, extent, padding);
    if (source < 0) continue;
    sources = {std::min(sources.begin, source), std::max(sources.end, source + 1)};
  }
  return sources.begin < sources.end ? sources : Run{0, 1};
}

// Turns `wanted`, of what is cropped and flipped, into a run of the image.
Run Unflipped(Run wanted, bool flip, int64_t crop_extent, int64_t crop_begin) {
  if (flip) wanted = {crop_extent - wanted.end, crop_extent - wanted.begin};
  return {wanted.begin + crop_begin, wanted.end + crop_begin};
}

Region ToRegion(Run rows, Run columns) {
  return {rows.begin, columns.begin, {rows.end - rows.begin, columns.end - columns.begin}};
}

// Each Needed returns the part of an image of `size` that the part `wanted` of the pass's result depends on.
Region Needed(const Geometry& geometry, const Region& wanted, ImageSize size) {
  const CropParameters& crop = geometry.crop;
  if (geometry.resize.has_value()) return {crop.top, crop.left, crop.size};
  const Run rows = Unflipped({wanted.top, wanted.bottom()}, geometry.flip_vertical, crop.size.height, crop.top);
  const Run columns = Unflipped({wanted.left, wanted.right()}, geometry.flip_horizontal, crop.size.width, crop.left);
  return ToRegion(Sources(rows, size.height, crop.padding), Sources(columns, size.width, crop.padding));
}
Region NeededAround(const Region& wanted, ImageSize halo, ImageSize size) {
  return WholeOf(size).Intersection({wanted.top - halo.height,
                                     wanted.left - halo.width,
                                     {wanted.size.height + 2 * halo.height, wanted.size.width + 2 * halo.width}});
}
Region Needed(const BlurParameters& blur, const Region& wanted, ImageSize size) {
  return NeededAround(wanted, Smoother::Halo(blur), size);
}
Region Needed(const SharpnessParameters& sharpness, const Region& wanted, ImageSize size) {
  return NeededAround(wanted, Smoother::Halo(sharpness), size);
}
Region Needed(const Coloring&, const Region& wanted, ImageSize) { return wanted; }
template <typename Other>
Region Needed(const Other&, const Region&, ImageSize size) {
  return WholeOf(size);
}

// Each MakesParts returns whether the pass can make a part of its result alone.
bool MakesParts(const Geometry& geometry) { return !geometry.resize.has_value(); }
bool MakesParts(const Coloring& coloring) {
  return std::none_of(coloring.ops.begin(), coloring.ops.end(), LooksAtWhole);
}
bool MakesParts(const SharpnessParameters&) { return true; }
bool MakesParts(const BlurParameters&) { return true; }
template <typename Other>
bool MakesParts(const Other&) {
  return false;
}

// Sets what each step needs and makes, from the last step to the first.
void Demand(std::vector<PlannedStep>& steps) {
  Region wanted = WholeOf(steps.back().step.out);
  for (auto planned = steps.rbegin(); planned != steps.rend(); ++planned) {
    const Step& step = planned->step;
    std::visit(
        [&](const auto& action) {
          planned->made = MakesParts(action) ? wanted : WholeOf(step.out);
          planned->needed = wanted = Needed(action, planned->made, step.in);
        },
        step.action);
  }
}

// Gives each step in place what the step before it made, which may be more than is wanted.
void TakeWhatIsMade(std::vector<PlannedStep>& steps) {
  for (size_t i = 1; i < steps.size(); ++i)
    if (steps[i].step.in_place()) steps[i].needed = steps[i].made = steps[i - 1].made;
}

// Returns the smallest size, in eighths, that the image may be decoded at for its first step.
int EighthsFor(const Step& first, v1::JpegScaling scaling) {
  const auto* geometry = std::get_if<Geometry>(&first.action);
  if (geometry == nullptr) return 8;
  for (int eighths : {1, 2, 4}) {
    const auto least = LeastCropToReduce(first, eighths, scaling);
    if (!least.has_value()) return 8;
    const ImageSize crop = geometry->crop.size;
    if (crop.height >= least->height && crop.width >= least->width) return eighths;
  }
  return 8;
}

uint64_t PixelsOf(ImageSize size) { return static_cast<uint64_t>(size.height) * static_cast<uint64_t>(size.width); }

// How many images' memory a pass takes beside what it makes: a JPEG and what it decodes to, displacements, or sums and
// what a chain makes.
uint64_t ImagesBeside(const Step::Action& action) {
  if (std::holds_alternative<MixedChainsParameters>(action)) return 2;
  return std::holds_alternative<RecompressParameters>(action) || std::holds_alternative<ElasticParameters>(action);
}

uint64_t PeakPixels(const PlannedStep& planned) {
  const auto* geometry = std::get_if<Geometry>(&planned.step.action);
  const ImageSize made = planned.made.size;
  if (const uint64_t beside = ImagesBeside(planned.step.action); beside > 0) return (1 + beside) * PixelsOf(made);
  if (geometry == nullptr || !geometry->resize.has_value()) return PixelsOf(made);
  // Between the two passes of a resize the image has its new width and still its old height.
  return PixelsOf({std::max(planned.needed.size.height, made.height), made.width});
}

}  // namespace

std::optional<ImageSize> LeastCropToReduce(const Step& step, int eighths, v1::JpegScaling scaling) {
  const auto* geometry = std::get_if<Geometry>(&step.action);
  if (scaling == v1::JPEG_SCALING_EXACT || geometry == nullptr || !geometry->resize.has_value() ||
      !geometry->resize->antialias || geometry->resize->interpolation == v1::INTERPOLATION_NEAREST)
    return std::nullopt;
  // On each axis so many decoded pixels must be left for each pixel of the result.
  const int64_t left = scaling == v1::JPEG_SCALING_K1 ? 1 : 2;
  const auto least = [&](int64_t extent) { return (left * extent * 8 + eighths - 1) / eighths; };
  return ImageSize{least(geometry->resize->size.height), least(geometry->resize->size.width)};
}

ImagePlan ImagePlan::Make(ImageSize size, std::span<const OpParameters> ops, v1::JpegScaling scaling) {
  ImagePlan plan;
  FusedOps fused = Fuse(size, ops);
  for (Step& step : fused.steps) plan.steps_.push_back({std::move(step), {}, {}});
  plan.undone_ = std::move(fused.undone);
  Demand(plan.steps_);
  TakeWhatIsMade(plan.steps_);
  plan.target_ = {plan.steps_.front().needed, EighthsFor(plan.steps_.front().step, scaling)};
  return plan;
}

uint64_t ImagePlan::peak_pixels() const {
  uint64_t peak = 0;
  for (const PlannedStep& planned : steps_) peak = std::max(peak, PeakPixels(planned));
  return peak;
}

}  // namespace stoker
