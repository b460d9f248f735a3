#ifndef STOKER_COMMON_OPS_SHAPE_H_
#define STOKER_COMMON_OPS_SHAPE_H_

#include <optional>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops that take a part of an image, change its size, or mirror it: crops, resizing, padding, flips.

template <>
struct Description<v1::RandomResizedCrop> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::RandomResizedCrop& op);
  static void FillDefaults(v1::RandomResizedCrop& op);
  static std::optional<ImageSize> OutputSize(const v1::RandomResizedCrop& op, std::optional<ImageSize> input);
  static bool IsDeterministic(const v1::RandomResizedCrop&) { return false; }
  static absl::Status Draw(const v1::RandomResizedCrop& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::RandomResizedCrop& op, ImageSize input);
  static Cost CostOf(const v1::RandomResizedCrop& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::Resize> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::Resize& op);
  static void FillDefaults(v1::Resize& op);
  static std::optional<ImageSize> OutputSize(const v1::Resize& op, std::optional<ImageSize> input);
  static bool IsDeterministic(const v1::Resize&) { return true; }
  static absl::Status Draw(const v1::Resize& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::Resize& op, ImageSize input);
  static Cost CostOf(const v1::Resize& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::CenterCrop> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::CenterCrop& op);
  static void FillDefaults(v1::CenterCrop& op);
  static std::optional<ImageSize> OutputSize(const v1::CenterCrop& op, std::optional<ImageSize> input);
  static bool IsDeterministic(const v1::CenterCrop&) { return true; }
  static absl::Status Draw(const v1::CenterCrop& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::CenterCrop& op, ImageSize input);
  static Cost CostOf(const v1::CenterCrop& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::RandomCrop> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::RandomCrop& op);
  static void FillDefaults(v1::RandomCrop& op);
  static std::optional<ImageSize> OutputSize(const v1::RandomCrop& op, std::optional<ImageSize> input);
  static bool IsDeterministic(const v1::RandomCrop&) { return false; }
  static absl::Status Draw(const v1::RandomCrop& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::RandomCrop& op, ImageSize input);
  static Cost CostOf(const v1::RandomCrop& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::Pad> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::Pad& op);
  static void FillDefaults(v1::Pad& op);
  static std::optional<ImageSize> OutputSize(const v1::Pad& op, std::optional<ImageSize> input);
  static bool IsDeterministic(const v1::Pad&) { return true; }
  static absl::Status Draw(const v1::Pad& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::Pad& op, ImageSize input);
  static Cost CostOf(const v1::Pad& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::RandomHorizontalFlip> : SameSize<v1::RandomHorizontalFlip> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::RandomHorizontalFlip&) { return absl::OkStatus(); }
  static bool IsDeterministic(const v1::RandomHorizontalFlip&) { return true; }
  static absl::Status Draw(const v1::RandomHorizontalFlip& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::RandomHorizontalFlip& op, ImageSize input);
  static Cost CostOf(const v1::RandomHorizontalFlip& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::RandomVerticalFlip> : SameSize<v1::RandomVerticalFlip> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::RandomVerticalFlip&) { return absl::OkStatus(); }
  static bool IsDeterministic(const v1::RandomVerticalFlip&) { return true; }
  static absl::Status Draw(const v1::RandomVerticalFlip& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::RandomVerticalFlip& op, ImageSize input);
  static Cost CostOf(const v1::RandomVerticalFlip& op, ImageSize input, ImageSize output);
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_SHAPE_H_
