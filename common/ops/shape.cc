#include "common/ops/shape.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/identity/elementary.h"
#include "common/ops/append.h"
#include "common/ops/arguments.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr Range kDefaultScale = {0.08, 1.0};
constexpr Range kDefaultRatio = {3.0 / 4, 4.0 / 3};

void SetSquare(Integers* size) {
  if (size->size() == 1) size->Add(size->Get(0));
}

// (difference / 2) as Python rounds it.
int64_t HalfRounded(int64_t difference) { return difference / 2 + (difference % 4 == 3 ? 1 : 0); }

// torchvision's RandomResizedCrop.get_params: ten tries, then the center crop of the nearest allowed ratio.
CropParameters DrawResizedCropBox(const v1::RandomResizedCrop& op, Draws& draws, const ImageSize& image) {
  const Range scale = RangeOr(kDefaultScale, op.scale()), ratio = RangeOr(kDefaultRatio, op.ratio());
  const double area = static_cast<double>(image.height) * static_cast<double>(image.width);
  const double log_low = DeterministicLog(ratio.from), log_high = DeterministicLog(ratio.to);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * draws.Uniform(scale.from, scale.to);
    const double aspect = DeterministicExp(draws.Uniform(log_low, log_high));
    const ImageSize crop = {RoundHalfToEven(std::sqrt(target / aspect)), RoundHalfToEven(std::sqrt(target * aspect))};
    if (crop.width < 1 || crop.width > image.width || crop.height < 1 || crop.height > image.height) continue;
    const auto top = static_cast<int64_t>(draws.Below(image.height - crop.height + 1));
    const auto left = static_cast<int64_t>(draws.Below(image.width - crop.width + 1));
    return {top, left, crop};
  }
  const double in_ratio = static_cast<double>(image.width) / static_cast<double>(image.height);
  ImageSize crop = image;
  if (in_ratio < ratio.from) crop.height = RoundHalfToEven(static_cast<double>(image.width) / ratio.from);
  if (in_ratio > ratio.to) crop.width = RoundHalfToEven(static_cast<double>(image.height) * ratio.to);
  crop = {std::clamp<int64_t>(crop.height, 1, image.height), std::clamp<int64_t>(crop.width, 1, image.width)};
  return {(image.height - crop.height) / 2, (image.width - crop.width) / 2, crop};
}

// Returns the multiple of `multiple` that is nearest to `pixels`, of two such that with an even factor, but not 0 and
// none above `most`. It is what round(pixels / multiple) · multiple gives in Python.
int64_t NearestMultiple(int64_t pixels, int64_t multiple, int64_t most) {
  const int64_t below = pixels / multiple, rest = pixels % multiple;
  const bool up = 2 * rest > multiple || (2 * rest == multiple && below % 2 == 1);
  return std::clamp<int64_t>(below + (up ? 1 : 0), 1, most / multiple) * multiple;
}

ImageSize RatioKept(const v1::Resize& op, ImageSize image) {
  const bool tall = image.height >= image.width;
  const int64_t in_short = tall ? image.width : image.height, in_long = tall ? image.height : image.width;
  int64_t out_short = op.size(0), out_long = out_short * in_long / in_short;
  if (op.max_size() != 0 && out_long > op.max_size()) {
    out_short = std::max<int64_t>(1, op.max_size() * out_short / out_long);
    out_long = op.max_size();
  }
  return tall ? ImageSize{out_long, out_short} : ImageSize{out_short, out_long};
}

ImageSize ResizedSize(const v1::Resize& op, ImageSize image) {
  const ImageSize size = op.size_size() == 2 ? ImageSize{op.size(0), op.size(1)} : RatioKept(op, image);
  if (op.multiple() == 0) return size;
  const int64_t most = op.max_size() != 0 ? op.max_size() : INT32_MAX;
  return {NearestMultiple(size.height, op.multiple(), most), NearestMultiple(size.width, op.multiple(), most)};
}

// Where a centered crop of `want` begins in an image of `have` pixels that is padded evenly if it is smaller.
int64_t CenterStart(int64_t have, int64_t want) {
  return have < want ? -((want - have) / 2) : HalfRounded(have - want);
}

ImageSize Padded(const Padding& pad, ImageSize size) {
  return {size.height + pad.top + pad.bottom, size.width + pad.left + pad.right};
}

v1::PaddingMode ModeOf(const v1::Pad& op) {
  return op.padding_mode() == v1::PADDING_MODE_UNSPECIFIED ? v1::PADDING_MODE_CONSTANT : op.padding_mode();
}

DeviceTraits OfGeometry(DeviceTraits::Geometry geometry) { return {.pass = DevicePass::kGather, .geometry = geometry}; }

// A crop of `size` shows pixels from beyond an image of `input` where it is larger.
DeviceTraits OfCrop(ImageSize size, ImageSize input) {
  DeviceTraits traits = OfGeometry(DeviceTraits::Geometry::kCrop);
  traits.may_fill = size.height > input.height || size.width > input.width;
  return traits;
}

// A gather takes one pixel or four. What weighs more of them has passes of its own, which give the server's bytes.
template <typename Arguments>
DeviceTraits OfResize(const Arguments& op) {
  DeviceTraits traits = OfGeometry(DeviceTraits::Geometry::kResize);
  traits.interpolation = OrBilinear(op.interpolation());
  traits.antialias = !op.has_antialias() || op.antialias();
  const bool gathers = traits.interpolation == v1::INTERPOLATION_NEAREST ||
                       (traits.interpolation == v1::INTERPOLATION_BILINEAR && !traits.antialias);
  if (!gathers) traits.pass = DevicePass::kResample;
  return traits;
}

DeviceTraits OfFlip() {
  DeviceTraits traits = OfGeometry(DeviceTraits::Geometry::kFlip);
  traits.on_floats = true;  // It commutes with what is done to each value alone.
  return traits;
}

bool Pads(const Integers& padding) {
  return std::any_of(padding.begin(), padding.end(), [](int pixels) { return pixels != 0; });
}

// A copy.
Cost CostOfCopy(ImageSize output) { return CostOfPixels(output, 3); }

}  // namespace

absl::Status Description<v1::RandomResizedCrop>::Validate(const v1::RandomResizedCrop& op) {
  STOKER_RETURN_IF_ERROR(ValidateSize(op, op.size()));
  STOKER_RETURN_IF_ERROR(ValidatePositiveRange(op, "scale", op.scale(), 1));
  STOKER_RETURN_IF_ERROR(ValidatePositiveRange(op, "ratio", op.ratio(), 1000));
  if (!op.ratio().empty() && op.ratio(0) < 0.001) return Invalid(op, "ratio", "must not be below 0.001");
  return ValidateInterpolation(op, op.interpolation());
}

void Description<v1::RandomResizedCrop>::FillDefaults(v1::RandomResizedCrop& op) {
  SetSquare(op.mutable_size());
  if (op.scale().empty()) Set(kDefaultScale, op.mutable_scale());
  if (op.ratio().empty()) Set(kDefaultRatio, op.mutable_ratio());
  op.set_interpolation(OrBilinear(op.interpolation()));
  if (!op.has_antialias()) op.set_antialias(true);
}

std::optional<ImageSize> Description<v1::RandomResizedCrop>::OutputSize(const v1::RandomResizedCrop& op,
                                                                        std::optional<ImageSize>) {
  return CropSize(op.size());
}

absl::Status Description<v1::RandomResizedCrop>::Draw(const v1::RandomResizedCrop& op, Drawing& drawing) {
  AppendCrop(DrawResizedCropBox(op, drawing.draws, drawing.size), drawing);
  AppendResize(CropSize(op.size()), op.interpolation(), !op.has_antialias() || op.antialias(), drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::Resize>::Validate(const v1::Resize& op) {
  STOKER_RETURN_IF_ERROR(ValidateSize(op, op.size()));
  if (op.max_size() != 0 && op.size_size() == 2)
    return Invalid(op, "max_size", "needs a size of one number, the shorter side");
  if (op.max_size() != 0 && (op.max_size() <= op.size(0) || op.max_size() > kMaxExtent))
    return Invalid(op, "max_size",
                   absl::StrCat(op.max_size(), " is not above size ", op.size(0), " and up to ", kMaxExtent));
  if (op.multiple() < 0 || op.multiple() > kMaxExtent)
    return Invalid(op, "multiple", absl::StrCat(op.multiple(), " is not between 0 and ", kMaxExtent));
  if (op.max_size() != 0 && op.multiple() > op.max_size())
    return Invalid(op, "multiple", absl::StrCat(op.multiple(), " is above max_size, ", op.max_size()));
  return ValidateInterpolation(op, op.interpolation());
}

void Description<v1::Resize>::FillDefaults(v1::Resize& op) {
  op.set_interpolation(OrBilinear(op.interpolation()));
  if (!op.has_antialias()) op.set_antialias(true);
}

std::optional<ImageSize> Description<v1::Resize>::OutputSize(const v1::Resize& op, std::optional<ImageSize> input) {
  if (op.size_size() == 2) return ResizedSize(op, {});
  if (input.has_value()) return ResizedSize(op, *input);
  return std::nullopt;
}

absl::Status Description<v1::Resize>::Draw(const v1::Resize& op, Drawing& drawing) {
  const ImageSize from = drawing.size, to = ResizedSize(op, from);
  if (to.height > kMaxExtent || to.width > kMaxExtent)
    return absl::FailedPreconditionError(absl::StrCat("Resize.size: an image of ", from.width, "×", from.height,
                                                      " would become ", to.width, "×", to.height, ", more than ",
                                                      kMaxExtent, " a side; set max_size"));
  AppendResize(to, op.interpolation(), !op.has_antialias() || op.antialias(), drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::CenterCrop>::Validate(const v1::CenterCrop& op) { return ValidateSize(op, op.size()); }

void Description<v1::CenterCrop>::FillDefaults(v1::CenterCrop& op) { SetSquare(op.mutable_size()); }

std::optional<ImageSize> Description<v1::CenterCrop>::OutputSize(const v1::CenterCrop& op, std::optional<ImageSize>) {
  return CropSize(op.size());
}

absl::Status Description<v1::CenterCrop>::Draw(const v1::CenterCrop& op, Drawing& drawing) {
  const ImageSize crop = CropSize(op.size());
  AppendCrop({CenterStart(drawing.size.height, crop.height), CenterStart(drawing.size.width, crop.width), crop},
             drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::RandomCrop>::Validate(const v1::RandomCrop& op) {
  STOKER_RETURN_IF_ERROR(ValidateSize(op, op.size()));
  STOKER_RETURN_IF_ERROR(ValidatePadding(op, op.padding()));
  return ValidateFill(op);
}

void Description<v1::RandomCrop>::FillDefaults(v1::RandomCrop& op) {
  SetSquare(op.mutable_size());
  Set(PaddingOf(op.padding()), op.mutable_padding());
  Set(ColorOf(op.fill()), op.mutable_fill());
}

std::optional<ImageSize> Description<v1::RandomCrop>::OutputSize(const v1::RandomCrop& op, std::optional<ImageSize>) {
  return CropSize(op.size());
}

absl::Status Description<v1::RandomCrop>::Draw(const v1::RandomCrop& op, Drawing& drawing) {
  const ImageSize crop = CropSize(op.size()), image = drawing.size;
  Padding pad = PaddingOf(op.padding());
  ImageSize padded = Padded(pad, image);
  if (op.pad_if_needed() && padded.height < crop.height) {
    pad.top += crop.height - padded.height;
    padded.height += 2 * (crop.height - padded.height);
  }
  if (op.pad_if_needed() && padded.width < crop.width) {
    pad.left += crop.width - padded.width;
    padded.width += 2 * (crop.width - padded.width);
  }
  if (padded.height < crop.height || padded.width < crop.width)
    return absl::FailedPreconditionError(absl::StrCat("RandomCrop.size: an image of ", image.width, "×", image.height,
                                                      ", with padding ", padded.width, "×", padded.height,
                                                      ", is smaller than the crop of ", crop.width, "×", crop.height,
                                                      "; set pad_if_needed, or Resize first"));
  const auto top = static_cast<int64_t>(drawing.draws.Below(padded.height - crop.height + 1)) - pad.top;
  const auto left = static_cast<int64_t>(drawing.draws.Below(padded.width - crop.width + 1)) - pad.left;
  AppendCrop({top, left, crop, ColorOf(op.fill()), v1::PADDING_MODE_CONSTANT, op.map_fill()}, drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::Pad>::Validate(const v1::Pad& op) {
  if (op.padding().empty()) return Invalid(op, "padding", "give 1, 2 or 4 numbers; found none");
  STOKER_RETURN_IF_ERROR(ValidatePadding(op, op.padding()));
  STOKER_RETURN_IF_ERROR(ValidateFill(op));
  if (!v1::PaddingMode_IsValid(op.padding_mode()))
    return Invalid(op, "padding_mode", absl::StrCat("unknown value ", op.padding_mode()));
  return absl::OkStatus();
}

void Description<v1::Pad>::FillDefaults(v1::Pad& op) {
  Set(PaddingOf(op.padding()), op.mutable_padding());
  Set(ColorOf(op.fill()), op.mutable_fill());
  op.set_padding_mode(ModeOf(op));
}

std::optional<ImageSize> Description<v1::Pad>::OutputSize(const v1::Pad& op, std::optional<ImageSize> input) {
  if (!input.has_value()) return std::nullopt;
  return Padded(PaddingOf(op.padding()), *input);
}

absl::Status Description<v1::Pad>::Draw(const v1::Pad& op, Drawing& drawing) {
  const Padding pad = PaddingOf(op.padding());
  const ImageSize image = drawing.size;
  const bool reflects = ModeOf(op) == v1::PADDING_MODE_REFLECT;
  const int64_t rows = image.height - (reflects ? 1 : 0), columns = image.width - (reflects ? 1 : 0);
  if ((reflects || ModeOf(op) == v1::PADDING_MODE_SYMMETRIC) &&
      (pad.top > rows || pad.bottom > rows || pad.left > columns || pad.right > columns))
    return absl::FailedPreconditionError(absl::StrCat("Pad.padding: an image of ", image.width, "×", image.height,
                                                      " can be mirrored for at most ", columns, " pixels across and ",
                                                      rows, " down; Resize first, or choose another padding_mode"));
  AppendCrop({-pad.top, -pad.left, Padded(pad, image), ColorOf(op.fill()), ModeOf(op), op.map_fill()}, drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::RandomHorizontalFlip>::Draw(const v1::RandomHorizontalFlip&, Drawing& drawing) {
  drawing.parameters.push_back(FlipParameters{FlipParameters::Axis::kHorizontal});
  return absl::OkStatus();
}

absl::Status Description<v1::RandomVerticalFlip>::Draw(const v1::RandomVerticalFlip&, Drawing& drawing) {
  drawing.parameters.push_back(FlipParameters{FlipParameters::Axis::kVertical});
  return absl::OkStatus();
}

DeviceTraits Description<v1::RandomResizedCrop>::OnDevice(const v1::RandomResizedCrop& op, ImageSize) {
  return OfResize(op);
}
DeviceTraits Description<v1::Resize>::OnDevice(const v1::Resize& op, ImageSize) { return OfResize(op); }
DeviceTraits Description<v1::CenterCrop>::OnDevice(const v1::CenterCrop& op, ImageSize input) {
  return OfCrop(CropSize(op.size()), input);
}
DeviceTraits Description<v1::RandomCrop>::OnDevice(const v1::RandomCrop& op, ImageSize input) {
  DeviceTraits traits = OfCrop(CropSize(op.size()), input);
  traits.may_fill = traits.may_fill || Pads(op.padding());
  traits.one_level = IsOneValue(op.fill());
  return traits;
}
DeviceTraits Description<v1::Pad>::OnDevice(const v1::Pad& op, ImageSize) {
  DeviceTraits traits = OfGeometry(DeviceTraits::Geometry::kPad);
  traits.may_fill = Pads(op.padding());
  traits.mirrors = ModeOf(op) != v1::PADDING_MODE_CONSTANT;
  traits.one_level = IsOneValue(op.fill());
  return traits;
}
DeviceTraits Description<v1::RandomHorizontalFlip>::OnDevice(const v1::RandomHorizontalFlip&, ImageSize) {
  return OfFlip();
}
DeviceTraits Description<v1::RandomVerticalFlip>::OnDevice(const v1::RandomVerticalFlip&, ImageSize) {
  return OfFlip();
}

Cost Description<v1::RandomResizedCrop>::CostOf(const v1::RandomResizedCrop& op, ImageSize input, ImageSize output) {
  return CostOfResize(OrBilinear(op.interpolation()), input, output);  // The largest crop is the whole image.
}
Cost Description<v1::Resize>::CostOf(const v1::Resize& op, ImageSize input, ImageSize output) {
  return CostOfResize(OrBilinear(op.interpolation()), input, output);
}
Cost Description<v1::CenterCrop>::CostOf(const v1::CenterCrop&, ImageSize, ImageSize output) {
  return CostOfCopy(output);
}
Cost Description<v1::RandomCrop>::CostOf(const v1::RandomCrop&, ImageSize, ImageSize output) {
  return CostOfCopy(output);
}
Cost Description<v1::Pad>::CostOf(const v1::Pad&, ImageSize, ImageSize output) { return CostOfCopy(output); }
Cost Description<v1::RandomHorizontalFlip>::CostOf(const v1::RandomHorizontalFlip&, ImageSize, ImageSize output) {
  return CostOfCopy(output);
}
Cost Description<v1::RandomVerticalFlip>::CostOf(const v1::RandomVerticalFlip&, ImageSize, ImageSize output) {
  return CostOfCopy(output);
}

}  // namespace stoker
