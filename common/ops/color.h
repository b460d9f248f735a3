#ifndef STOKER_COMMON_OPS_COLOR_H_
#define STOKER_COMMON_OPS_COLOR_H_

#include <optional>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops that give each pixel a new color, from its own color and, for some, from figures of the whole image.

// What ops share that draw nothing and make one change of color, which takes kArithmetic a pixel.
template <typename Arguments>
struct ColorOp : SameSize<Arguments> {
  static constexpr Acts kActs = Acts::kOnPixels;
  static bool IsDeterministic(const Arguments&) { return true; }
  static Cost CostOf(const Arguments&, ImageSize, ImageSize output) {
    return CostOfPixels(output, Description<Arguments>::kArithmetic);
  }
};

// One of them that devices know too.
template <typename Arguments>
struct DeviceColorOp : ColorOp<Arguments> {
  static constexpr Placements kPlacements = kAnywhere;
  static DeviceTraits OnDevice(const Arguments&, ImageSize) { return {.pass = DevicePass::kColors, .most_colors = 1}; }
};

// One of them that needs the histograms of the image's channels.
template <typename Arguments>
struct HistogramColorOp : ColorOp<Arguments> {
  static constexpr Placements kPlacements = kAnywhere;
  static DeviceTraits OnDevice(const Arguments&, ImageSize) {
    return {.pass = DevicePass::kColors, .most_colors = 1, .histogram = true};
  }
};

// One of them that devices do not know.
template <typename Arguments>
struct ServerColorOp : ColorOp<Arguments> {
  static constexpr Placements kPlacements = kServerOnly;
};

template <>
struct Description<v1::ColorJitter> : SameSize<v1::ColorJitter> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::ColorJitter& op);
  static void FillDefaults(v1::ColorJitter& op);
  static bool IsDeterministic(const v1::ColorJitter& op);
  static absl::Status Draw(const v1::ColorJitter& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::ColorJitter& op, ImageSize input);
  static Cost CostOf(const v1::ColorJitter& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::AdjustBrightness> : DeviceColorOp<v1::AdjustBrightness> {
  static constexpr double kArithmetic = 6;
  static absl::Status Validate(const v1::AdjustBrightness& op);
  static absl::Status Draw(const v1::AdjustBrightness& op, Drawing& drawing);
};

template <>
struct Description<v1::AdjustContrast> : DeviceColorOp<v1::AdjustContrast> {
  static constexpr double kArithmetic = 14;
  static absl::Status Validate(const v1::AdjustContrast& op);
  static absl::Status Draw(const v1::AdjustContrast& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::AdjustContrast& op, ImageSize input);
};

template <>
struct Description<v1::AdjustSaturation> : DeviceColorOp<v1::AdjustSaturation> {
  static constexpr double kArithmetic = 12;
  static absl::Status Validate(const v1::AdjustSaturation& op);
  static absl::Status Draw(const v1::AdjustSaturation& op, Drawing& drawing);
};

template <>
struct Description<v1::AdjustHue> : DeviceColorOp<v1::AdjustHue> {
  static constexpr double kArithmetic = 60;
  static absl::Status Validate(const v1::AdjustHue& op);
  static absl::Status Draw(const v1::AdjustHue& op, Drawing& drawing);
};

template <>
struct Description<v1::Grayscale> : DeviceColorOp<v1::Grayscale> {
  static constexpr double kArithmetic = 6;
  static absl::Status Validate(const v1::Grayscale& op);
  static absl::Status Draw(const v1::Grayscale& op, Drawing& drawing);
};

template <>
struct Description<v1::RandomGrayscale> : DeviceColorOp<v1::RandomGrayscale> {
  static constexpr double kArithmetic = 6;
  static absl::Status Validate(const v1::RandomGrayscale&) { return absl::OkStatus(); }
  static absl::Status Draw(const v1::RandomGrayscale& op, Drawing& drawing);
};

template <>
struct Description<v1::ConvertColor> : ServerColorOp<v1::ConvertColor> {
  static constexpr double kArithmetic = 15;
  static absl::Status Validate(const v1::ConvertColor& op);
  static absl::Status Draw(const v1::ConvertColor& op, Drawing& drawing);
};

template <>
struct Description<v1::RandomPosterize> : DeviceColorOp<v1::RandomPosterize> {
  static constexpr double kArithmetic = 3;
  static absl::Status Validate(const v1::RandomPosterize& op);
  static absl::Status Draw(const v1::RandomPosterize& op, Drawing& drawing);
};

template <>
struct Description<v1::RandomSolarize> : DeviceColorOp<v1::RandomSolarize> {
  static constexpr double kArithmetic = 6;
  static absl::Status Validate(const v1::RandomSolarize& op);
  static absl::Status Draw(const v1::RandomSolarize& op, Drawing& drawing);
};

template <>
struct Description<v1::RandomInvert> : DeviceColorOp<v1::RandomInvert> {
  static constexpr double kArithmetic = 3;
  static absl::Status Validate(const v1::RandomInvert&) { return absl::OkStatus(); }
  static absl::Status Draw(const v1::RandomInvert& op, Drawing& drawing);
};

template <>
struct Description<v1::RandomAutocontrast> : HistogramColorOp<v1::RandomAutocontrast> {
  static constexpr double kArithmetic = 9;
  static absl::Status Validate(const v1::RandomAutocontrast&) { return absl::OkStatus(); }
  static absl::Status Draw(const v1::RandomAutocontrast& op, Drawing& drawing);
};

template <>
struct Description<v1::RandomEqualize> : HistogramColorOp<v1::RandomEqualize> {
  static constexpr double kArithmetic = 9;
  static absl::Status Validate(const v1::RandomEqualize&) { return absl::OkStatus(); }
  static absl::Status Draw(const v1::RandomEqualize& op, Drawing& drawing);
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_COLOR_H_
