#ifndef STOKER_COMMON_OPS_DESCRIPTION_H_
#define STOKER_COMMON_OPS_DESCRIPTION_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/fields/schema.h"
#include "common/identity/draws.h"
#include "common/ops/arguments.h"
#include "common/ops/parameters.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// What ops.cc asks of each kind of op, as overloads for its message:
//
//   ValidateArguments  OK, or InvalidArgument that begins with "Op.argument: ". Not of `p`, which ops.cc validates.
//   FillDefaults       Writes defaults and short forms out; `p` too is ops.cc's.
//   OutputSizeOf       As ops.h's OutputSize.
//   DrawArguments      As ops.h's DrawOp, once it is decided, by `p`, that the op happens.
//
// All require what ops.h requires.

// One op's draws for one image, and what comes of them.
struct Drawing {
  const DrawKey& key;
  Draws draws;      // By `key`.
  ImageSize& size;  // Of the image; becomes the output's.
  std::vector<OpParameters>& parameters;
};

// What most kinds do.
template <typename Arguments>
void FillDefaults(Arguments&) {}
template <typename Arguments>
std::optional<ImageSize> OutputSizeOf(const Arguments&, std::optional<ImageSize> input) {
  return input;
}

// shape_ops.cc
absl::Status ValidateArguments(const v1::RandomResizedCrop& op);
absl::Status ValidateArguments(const v1::Resize& op);
absl::Status ValidateArguments(const v1::CenterCrop& op);
absl::Status ValidateArguments(const v1::RandomCrop& op);
absl::Status ValidateArguments(const v1::Pad& op);
inline absl::Status ValidateArguments(const v1::RandomHorizontalFlip&) { return absl::OkStatus(); }
inline absl::Status ValidateArguments(const v1::RandomVerticalFlip&) { return absl::OkStatus(); }
void FillDefaults(v1::RandomResizedCrop& op);
void FillDefaults(v1::Resize& op);
void FillDefaults(v1::CenterCrop& op);
void FillDefaults(v1::RandomCrop& op);
void FillDefaults(v1::Pad& op);
std::optional<ImageSize> OutputSizeOf(const v1::RandomResizedCrop& op, std::optional<ImageSize> input);
std::optional<ImageSize> OutputSizeOf(const v1::Resize& op, std::optional<ImageSize> input);
std::optional<ImageSize> OutputSizeOf(const v1::CenterCrop& op, std::optional<ImageSize> input);
std::optional<ImageSize> OutputSizeOf(const v1::RandomCrop& op, std::optional<ImageSize> input);
std::optional<ImageSize> OutputSizeOf(const v1::Pad& op, std::optional<ImageSize> input);
absl::Status DrawArguments(const v1::RandomResizedCrop& op, Drawing& drawing);
absl::Status DrawArguments(const v1::Resize& op, Drawing& drawing);
absl::Status DrawArguments(const v1::CenterCrop& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomCrop& op, Drawing& drawing);
absl::Status DrawArguments(const v1::Pad& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomHorizontalFlip& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomVerticalFlip& op, Drawing& drawing);

// color_ops.cc
absl::Status ValidateArguments(const v1::ColorJitter& op);
absl::Status ValidateArguments(const v1::Grayscale& op);
absl::Status ValidateArguments(const v1::ConvertColor& op);
absl::Status ValidateArguments(const v1::RandomPosterize& op);
absl::Status ValidateArguments(const v1::RandomSolarize& op);
absl::Status ValidateArguments(const v1::AdjustBrightness& op);
absl::Status ValidateArguments(const v1::AdjustContrast& op);
absl::Status ValidateArguments(const v1::AdjustSaturation& op);
absl::Status ValidateArguments(const v1::AdjustHue& op);
inline absl::Status ValidateArguments(const v1::RandomGrayscale&) { return absl::OkStatus(); }
inline absl::Status ValidateArguments(const v1::RandomEqualize&) { return absl::OkStatus(); }
inline absl::Status ValidateArguments(const v1::RandomAutocontrast&) { return absl::OkStatus(); }
inline absl::Status ValidateArguments(const v1::RandomInvert&) { return absl::OkStatus(); }
void FillDefaults(v1::ColorJitter& op);
absl::Status DrawArguments(const v1::ColorJitter& op, Drawing& drawing);
absl::Status DrawArguments(const v1::Grayscale& op, Drawing& drawing);
absl::Status DrawArguments(const v1::ConvertColor& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomPosterize& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomSolarize& op, Drawing& drawing);
absl::Status DrawArguments(const v1::AdjustBrightness& op, Drawing& drawing);
absl::Status DrawArguments(const v1::AdjustContrast& op, Drawing& drawing);
absl::Status DrawArguments(const v1::AdjustSaturation& op, Drawing& drawing);
absl::Status DrawArguments(const v1::AdjustHue& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomGrayscale& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomEqualize& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomAutocontrast& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomInvert& op, Drawing& drawing);

// geometry_ops.cc
absl::Status ValidateArguments(const v1::RandomRotation& op);
absl::Status ValidateArguments(const v1::RandomAffine& op);
void FillDefaults(v1::RandomRotation& op);
void FillDefaults(v1::RandomAffine& op);
absl::Status DrawArguments(const v1::RandomRotation& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomAffine& op, Drawing& drawing);

// smooth_ops.cc
absl::Status ValidateArguments(const v1::GaussianBlur& op);
absl::Status ValidateArguments(const v1::RandomAdjustSharpness& op);
void FillDefaults(v1::GaussianBlur& op);
absl::Status DrawArguments(const v1::GaussianBlur& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomAdjustSharpness& op, Drawing& drawing);

// cover_ops.cc
absl::Status ValidateArguments(const v1::RandomErasing& op);
absl::Status ValidateArguments(const v1::RandomMask& op);
absl::Status ValidateLevels(const v1::RandomErasing& op);  // That its value is one of uint8 levels.
void FillDefaults(v1::RandomErasing& op);
void FillDefaults(v1::RandomMask& op);
absl::Status DrawArguments(const v1::RandomErasing& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomMask& op, Drawing& drawing);

// policies.cc
absl::Status ValidateArguments(const v1::RandAugment& op);
absl::Status ValidateArguments(const v1::TrivialAugmentWide& op);
void FillDefaults(v1::RandAugment& op);
void FillDefaults(v1::TrivialAugmentWide& op);
absl::Status DrawArguments(const v1::RandAugment& op, Drawing& drawing);
absl::Status DrawArguments(const v1::TrivialAugmentWide& op, Drawing& drawing);

// nested_ops.cc
absl::Status ValidateArguments(const v1::RandomApply& op);
absl::Status ValidateArguments(const v1::RandomChoice& op);
void FillDefaults(v1::RandomApply& op);
void FillDefaults(v1::RandomChoice& op);
std::optional<ImageSize> OutputSizeOf(const v1::RandomApply& op, std::optional<ImageSize> input);
std::optional<ImageSize> OutputSizeOf(const v1::RandomChoice& op, std::optional<ImageSize> input);
absl::Status DrawArguments(const v1::RandomApply& op, Drawing& drawing);
absl::Status DrawArguments(const v1::RandomChoice& op, Drawing& drawing);

// device_ops.cc; never drawn by DrawOp.
absl::Status ValidateArguments(const v1::ToDtype& op);
absl::Status ValidateArguments(const v1::Normalize& op);
absl::Status ValidateArguments(const v1::ToMemoryFormat& op);
absl::Status ValidateArguments(const v1::OneHot& op);
absl::Status ValidateArguments(const v1::UnpackBits& op);
void FillDefaults(v1::ToMemoryFormat& op);
void FillDefaults(v1::OneHot& op);
void FillDefaults(v1::UnpackBits& op);
absl::Status DrawArguments(const v1::ToDtype& op, Drawing& drawing);
absl::Status DrawArguments(const v1::Normalize& op, Drawing& drawing);
absl::Status DrawArguments(const v1::ToMemoryFormat& op, Drawing& drawing);
absl::Status DrawArguments(const v1::OneHot& op, Drawing& drawing);
absl::Status DrawArguments(const v1::UnpackBits& op, Drawing& drawing);

// batch_ops.cc; never drawn by DrawOp.
absl::Status ValidateArguments(const v1::MixUp& op);
absl::Status ValidateArguments(const v1::CutMix& op);
void FillDefaults(v1::MixUp& op);
void FillDefaults(v1::CutMix& op);
absl::Status DrawArguments(const v1::MixUp& op, Drawing& drawing);
absl::Status DrawArguments(const v1::CutMix& op, Drawing& drawing);

// What several kinds append; nothing where it would change no pixel. In append.cc.
void AppendCrop(const CropParameters& crop, Drawing& drawing);
void AppendColor(ColorParameters::Kind kind, double value, Drawing& drawing);
void AppendSharpness(double factor, Drawing& drawing);
void AppendAffine(const AffineParameters& warp, Drawing& drawing);  // A mere shift by whole pixels becomes a crop.

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_DESCRIPTION_H_
