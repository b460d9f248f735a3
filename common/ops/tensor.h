#ifndef STOKER_COMMON_OPS_TENSOR_H_
#define STOKER_COMMON_OPS_TENSOR_H_

#include <optional>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops that make of a field another dtype, layout or coding. They run on the device only, but for ToDtype of a field
// that is no image.

template <>
struct Description<v1::ToDtype> : SameSize<v1::ToDtype> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::ToDtype& op);
  static bool IsDeterministic(const v1::ToDtype&) { return true; }
  static absl::Status Draw(const v1::ToDtype&, Drawing&) { return absl::OkStatus(); }  // It changes no image.
  static DeviceTraits OnDevice(const v1::ToDtype&, ImageSize) { return {}; }
  static Cost CostOf(const v1::ToDtype& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::Normalize> : SameSize<v1::Normalize> {
  static constexpr Placements kPlacements = kDeviceOnly;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::Normalize& op);
  static bool IsDeterministic(const v1::Normalize&) { return true; }
  static Cost CostOf(const v1::Normalize& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::ToMemoryFormat> : SameSize<v1::ToMemoryFormat> {
  static constexpr Placements kPlacements = kDeviceOnly;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::ToMemoryFormat& op);
  static void FillDefaults(v1::ToMemoryFormat& op);
  static bool IsDeterministic(const v1::ToMemoryFormat&) { return true; }
  static Cost CostOf(const v1::ToMemoryFormat& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::OneHot> : SameSize<v1::OneHot> {
  static constexpr Placements kPlacements = kDeviceOnly;
  static constexpr Acts kActs = Acts::kOnField;
  static absl::Status Validate(const v1::OneHot& op);
  static void FillDefaults(v1::OneHot& op);
  static bool IsDeterministic(const v1::OneHot&) { return true; }
  static Cost CostOf(const v1::OneHot& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::LabelSmoothing> : SameSize<v1::LabelSmoothing> {
  static constexpr Placements kPlacements = kDeviceOnly;
  static constexpr Acts kActs = Acts::kOnField;
  static absl::Status Validate(const v1::LabelSmoothing& op);
  static void FillDefaults(v1::LabelSmoothing& op);
  static bool IsDeterministic(const v1::LabelSmoothing&) { return true; }
  static Cost CostOf(const v1::LabelSmoothing& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::ToPadded> : SameSize<v1::ToPadded> {
  static constexpr Placements kPlacements = kDeviceOnly;
  static constexpr Acts kActs = Acts::kOnField;
  static absl::Status Validate(const v1::ToPadded& op);
  static bool IsDeterministic(const v1::ToPadded&) { return true; }
  static Cost CostOf(const v1::ToPadded& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::UnpackBits> : SameSize<v1::UnpackBits> {
  static constexpr Placements kPlacements = kDeviceOnly;
  static constexpr Acts kActs = Acts::kOnField;
  static absl::Status Validate(const v1::UnpackBits& op);
  static void FillDefaults(v1::UnpackBits& op);
  static bool IsDeterministic(const v1::UnpackBits&) { return true; }
  static Cost CostOf(const v1::UnpackBits& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::ToDense> : SameSize<v1::ToDense> {
  static constexpr Placements kPlacements = kDeviceOnly;
  static constexpr Acts kActs = Acts::kOnField;
  static absl::Status Validate(const v1::ToDense& op);
  static bool IsDeterministic(const v1::ToDense&) { return true; }

  // How much there is to write the field tells, and not the op.
  static Cost CostOf(const v1::ToDense&, ImageSize, ImageSize) { return {1, 1}; }
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_TENSOR_H_
