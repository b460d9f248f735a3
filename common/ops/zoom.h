#ifndef STOKER_COMMON_OPS_ZOOM_H_
#define STOKER_COMMON_OPS_ZOOM_H_

#include <optional>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops whose images differ in size from sample to sample, also where those that come do not: they show the image smaller
// or larger by a drawn factor. Sizes are rounded where torchvision rounds them, and a side has at least one pixel,
// where torchvision raises an error.

template <>
struct Description<v1::RandomZoomOut> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::RandomZoomOut& op);
  static void FillDefaults(v1::RandomZoomOut& op);
  static std::optional<ImageSize> OutputSize(const v1::RandomZoomOut&, std::optional<ImageSize>) { return {}; }
  static ImageSize MostSize(const v1::RandomZoomOut& op, ImageSize input);
  static bool IsDeterministic(const v1::RandomZoomOut&) { return false; }
  static absl::Status Draw(const v1::RandomZoomOut& op, Drawing& drawing);
  static Cost CostOf(const v1::RandomZoomOut& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::ScaleJitter> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::ScaleJitter& op);
  static void FillDefaults(v1::ScaleJitter& op);
  static std::optional<ImageSize> OutputSize(const v1::ScaleJitter& op, std::optional<ImageSize> input);
  static ImageSize MostSize(const v1::ScaleJitter& op, ImageSize input);
  static bool IsDeterministic(const v1::ScaleJitter& op);
  static absl::Status Draw(const v1::ScaleJitter& op, Drawing& drawing);
  static Cost CostOf(const v1::ScaleJitter& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::RandomShortestSize> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::RandomShortestSize& op);
  static void FillDefaults(v1::RandomShortestSize& op);
  static std::optional<ImageSize> OutputSize(const v1::RandomShortestSize& op, std::optional<ImageSize> input);
  static ImageSize MostSize(const v1::RandomShortestSize& op, ImageSize input);
  static bool IsDeterministic(const v1::RandomShortestSize& op);
  static absl::Status Draw(const v1::RandomShortestSize& op, Drawing& drawing);
  static Cost CostOf(const v1::RandomShortestSize& op, ImageSize input, ImageSize output);
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_ZOOM_H_
