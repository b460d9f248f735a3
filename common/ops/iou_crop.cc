#include "common/ops/iou_crop.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/ops/arguments.h"
#include "common/ops/boxes.h"
#include "common/ops/sample_boxes.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr double kDefaultOverlaps[] = {0, 0.1, 0.3, 0.5, 0.7, 0.9, 1};
constexpr int kDefaultTrials = 40, kMaxTrials = 1000, kMaxOverlaps = 64;

Range ScaleOf(const v1::RandomIoUCrop& op) {
  return {op.has_min_scale() ? op.min_scale() : 0.3, op.has_max_scale() ? op.max_scale() : 1};
}

Range AspectRatioOf(const v1::RandomIoUCrop& op) {
  return {op.has_min_aspect_ratio() ? op.min_aspect_ratio() : 0.5,
          op.has_max_aspect_ratio() ? op.max_aspect_ratio() : 2};
}

int TrialsOf(const v1::RandomIoUCrop& op) { return op.has_trials() ? op.trials() : kDefaultTrials; }

std::vector<double> OverlapsOf(const v1::RandomIoUCrop& op) {
  if (op.sampler_options().empty()) return {std::begin(kDefaultOverlaps), std::end(kDefaultOverlaps)};
  return {op.sampler_options().begin(), op.sampler_options().end()};
}

bool HasCenterIn(const BoxSides& crop, const BoxSides& box) {
  const double x = 0.5 * (box.left + box.right), y = 0.5 * (box.top + box.bottom);
  return crop.left < x && x < crop.right && crop.top < y && y < crop.bottom;
}

double AreaOf(const BoxSides& box) { return (box.right - box.left) * (box.bottom - box.top); }

// Returns the area that both have, divided by the area that any has. Requires one box with an area.
double IntersectionOverUnion(const BoxSides& a, const BoxSides& b) {
  const double width = std::max(0.0, std::min(a.right, b.right) - std::max(a.left, b.left));
  const double height = std::max(0.0, std::min(a.bottom, b.bottom) - std::max(a.top, b.top));
  const double both = width * height;
  return both / (AreaOf(a) + AreaOf(b) - both);
}

bool Overlaps(const BoxSides& crop, const std::vector<BoxSides>& boxes, double least) {
  return std::any_of(boxes.begin(), boxes.end(), [&](const BoxSides& box) {
    return HasCenterIn(crop, box) && IntersectionOverUnion(crop, box) >= least;
  });
}

// Returns a whole number of pixels that is `share` of `extent`, rounded down.
int64_t ShareOf(int64_t extent, double share) { return static_cast<int64_t>(static_cast<double>(extent) * share); }

// Draws one crop, which may have no pixels. It takes as many random numbers whatever becomes of it.
CropParameters DrawCrop(const v1::RandomIoUCrop& op, ImageSize size, Draws& draws) {
  const double width = Uniform(draws, ScaleOf(op)), height = Uniform(draws, ScaleOf(op));
  const double left = draws.Uniform(0, 1), top = draws.Uniform(0, 1);
  CropParameters crop = {.size = {ShareOf(size.height, height), ShareOf(size.width, width)}};
  crop.left = ShareOf(size.width - crop.size.width, left);
  crop.top = ShareOf(size.height - crop.size.height, top);
  crop.leaves_out_boxes = true;
  return crop;
}

bool HasAllowedShape(const v1::RandomIoUCrop& op, ImageSize crop) {
  if (crop.width == 0 || crop.height == 0) return false;
  const double ratio = static_cast<double>(crop.width) / static_cast<double>(crop.height);
  return ratio >= AspectRatioOf(op).from && ratio <= AspectRatioOf(op).to;
}

BoxSides SidesOf(const CropParameters& crop) {
  return {static_cast<double>(crop.left), static_cast<double>(crop.top),
          static_cast<double>(crop.left + crop.size.width), static_cast<double>(crop.top + crop.size.height)};
}

}  // namespace

absl::Status Description<v1::RandomIoUCrop>::Validate(const v1::RandomIoUCrop& op) {
  STOKER_RETURN_IF_ERROR(ValidateRangeWithin(op, "min_scale, max_scale", ScaleOf(op), 0, 1));
  STOKER_RETURN_IF_ERROR(
      ValidateRangeWithin(op, "min_aspect_ratio, max_aspect_ratio", AspectRatioOf(op), 0, kMaxFactor));
  if (op.sampler_options_size() > kMaxOverlaps)
    return Invalid(op, "sampler_options", absl::StrCat(op.sampler_options_size(), " numbers, at most ", kMaxOverlaps));
  for (double overlap : op.sampler_options())
    STOKER_RETURN_IF_ERROR(ValidateWithin(op, "sampler_options", overlap, 0, kMaxFactor));
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "trials", TrialsOf(op), 1, kMaxTrials));
  return ValidateBoxLabels(op, op.field(), op.labels());
}

void Description<v1::RandomIoUCrop>::FillDefaults(v1::RandomIoUCrop& op) {
  const Range scale = ScaleOf(op), ratio = AspectRatioOf(op);
  const std::vector<double> overlaps = OverlapsOf(op);
  op.set_min_scale(scale.from), op.set_max_scale(scale.to);
  op.set_min_aspect_ratio(ratio.from), op.set_max_aspect_ratio(ratio.to);
  op.clear_sampler_options();
  for (double overlap : overlaps) op.add_sampler_options(std::min(overlap, 1.0));  // All from 1 on mean the same.
  op.set_trials(TrialsOf(op));
  if (op.field().empty()) op.set_field(kDefaultBoxes);
}

absl::Status Description<v1::RandomIoUCrop>::Draw(const v1::RandomIoUCrop& op, Drawing& drawing) {
  if (drawing.boxes == nullptr) return absl::OkStatus();
  const std::vector<BoxSides> boxes = drawing.boxes->After(drawing.parameters);
  if (boxes.empty()) return absl::OkStatus();
  const std::vector<double> overlaps = OverlapsOf(op);
  for (int round = 0; round < kMostOverlaps; ++round) {
    const double least = overlaps[drawing.draws.Below(overlaps.size())];
    if (least >= 1) return absl::OkStatus();
    for (int trial = 0; trial < TrialsOf(op); ++trial) {
      const CropParameters crop = DrawCrop(op, drawing.size, drawing.draws);
      if (!HasAllowedShape(op, crop.size) || !Overlaps(SidesOf(crop), boxes, least)) continue;
      drawing.parameters.push_back(crop);  // Also one of the whole image, for it may leave out boxes.
      drawing.size = crop.size;
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

// A copy.
Cost Description<v1::RandomIoUCrop>::CostOf(const v1::RandomIoUCrop&, ImageSize, ImageSize output) {
  return CostOfPixels(output, 3);
}

// Four draws a trial, and for each box in vain at most an intersection over union.
Cost CostOfDrawing(const v1::RandomIoUCrop& op, double boxes) {
  const double trials = Description<v1::RandomIoUCrop>::kMostOverlaps * static_cast<double>(TrialsOf(op));
  return {.arithmetic = trials * (200 + 20 * boxes), .bytes = 0, .passes = 0};
}

}  // namespace stoker
