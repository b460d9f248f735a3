#ifndef STOKER_COMMON_OPS_IOU_CROP_H_
#define STOKER_COMMON_OPS_IOU_CROP_H_

#include <optional>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// torchvision's RandomIoUCrop, whose draws depend on the sample's boxes. It draws an overlap, then `trials` crops: each
// has random sides and a random place. The first of them is taken that has an allowed aspect ratio and the center of a
// box in it, and whose intersection over union with one of those boxes is the overlap at least. If there is none,
// another overlap is drawn. Sides and places are rounded down to whole pixels; all else is double, by + − × ÷ alone.
//
// torchvision draws overlaps without end. Here an image for which kMostOverlaps were drawn in vain stays whole, and so
// does one without boxes.
template <>
struct Description<v1::RandomIoUCrop> {
  static constexpr int kMostOverlaps = 50;

  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::RandomIoUCrop& op);
  static void FillDefaults(v1::RandomIoUCrop& op);
  static std::optional<ImageSize> OutputSize(const v1::RandomIoUCrop&, std::optional<ImageSize>) { return {}; }
  static bool IsDeterministic(const v1::RandomIoUCrop&) { return false; }
  static absl::Status Draw(const v1::RandomIoUCrop& op, Drawing& drawing);
  static Cost CostOf(const v1::RandomIoUCrop& op, ImageSize input, ImageSize output);
};

// What drawing a valid op takes at most where a sample has `boxes`.
Cost CostOfDrawing(const v1::RandomIoUCrop& op, double boxes);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_IOU_CROP_H_
