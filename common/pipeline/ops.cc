#include "common/pipeline/ops.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/identity/elementary.h"

namespace stoker {
namespace {

constexpr int kMaxExtent = 1 << 14;  // pixels of an output's side
constexpr double kDefaultScale[] = {0.08, 1.0};
constexpr double kDefaultRatio[] = {3.0 / 4, 4.0 / 3};

absl::Status Invalid(const v1::Op& op, absl::string_view argument, absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(OpName(op), ".", argument, ": ", reason));
}

template <typename Repeated>
absl::Status ValidateSize(const v1::Op& op, const Repeated& size) {
  if (size.size() != 1 && size.size() != 2)
    return Invalid(op, "size", absl::StrCat("give one number or height and width; found ", size.size(), " numbers"));
  for (int extent : size)
    if (extent < 1 || extent > kMaxExtent)
      return Invalid(op, "size", absl::StrCat(extent, " is not between 1 and ", kMaxExtent));
  return absl::OkStatus();
}

template <typename Repeated>
absl::Status ValidateRange(const v1::Op& op, absl::string_view argument, const Repeated& range, double most) {
  if (range.empty()) return absl::OkStatus();
  if (range.size() != 2)
    return Invalid(op, argument, absl::StrCat("give two numbers, from and to; found ", range.size()));
  if (!(range[0] > 0 && range[0] <= range[1] && range[1] <= most))
    return Invalid(op, argument,
                   absl::StrCat("[", range[0], ", ", range[1], "] is not an ascending range above 0 and up to ", most));
  return absl::OkStatus();
}

absl::Status ValidateInterpolation(const v1::Op& op, v1::Interpolation interpolation) {
  if (!v1::Interpolation_IsValid(interpolation))
    return Invalid(op, "interpolation", absl::StrCat("unknown value ", interpolation));
  return absl::OkStatus();
}

absl::Status ValidateProbability(const v1::Op& op, double p) {
  if (!(p >= 0 && p <= 1)) return Invalid(op, "p", absl::StrCat(p, " is not a probability"));
  return absl::OkStatus();
}

absl::Status Validate(const v1::Op& op, const v1::RandomResizedCrop& crop) {
  if (auto status = ValidateSize(op, crop.size()); !status.ok()) return status;
  if (auto status = ValidateRange(op, "scale", crop.scale(), 1); !status.ok()) return status;
  if (auto status = ValidateRange(op, "ratio", crop.ratio(), 1000); !status.ok()) return status;
  if (!crop.ratio().empty() && crop.ratio(0) < 0.001) return Invalid(op, "ratio", "must not be below 0.001");
  return ValidateInterpolation(op, crop.interpolation());
}

absl::Status Validate(const v1::Op& op, const v1::Resize& resize) {
  if (auto status = ValidateSize(op, resize.size()); !status.ok()) return status;
  if (resize.max_size() != 0 && resize.size_size() == 2)
    return Invalid(op, "max_size", "needs a size of one number, the shorter side");
  if (resize.max_size() != 0 && (resize.max_size() <= resize.size(0) || resize.max_size() > kMaxExtent))
    return Invalid(op, "max_size",
                   absl::StrCat(resize.max_size(), " is not above size ", resize.size(0), " and up to ", kMaxExtent));
  return ValidateInterpolation(op, resize.interpolation());
}

absl::Status Validate(const v1::Op& op, const v1::RandomCrop& crop) {
  if (auto status = ValidateSize(op, crop.size()); !status.ok()) return status;
  if (int n = crop.padding_size(); n != 0 && n != 1 && n != 2 && n != 4)
    return Invalid(op, "padding", absl::StrCat("give 1, 2 or 4 numbers; found ", n));
  for (int pixels : crop.padding())
    if (pixels < 0 || pixels > kMaxExtent)
      return Invalid(op, "padding", absl::StrCat(pixels, " is not between 0 and ", kMaxExtent));
  if (int n = crop.fill_size(); n != 0 && n != 1 && n != 3)
    return Invalid(op, "fill", absl::StrCat("give one number, or red, green and blue; found ", n));
  for (int value : crop.fill())
    if (value < 0 || value > 255) return Invalid(op, "fill", absl::StrCat(value, " is not between 0 and 255"));
  return absl::OkStatus();
}

absl::Status Validate(const v1::Op& op, const v1::ToDtype& to) {
  if (to.dtype() != v1::DTYPE_FLOAT32 && to.dtype() != v1::DTYPE_UINT8)
    return Invalid(op, "dtype", "must be float32 or uint8");
  if (to.scale() && to.dtype() != v1::DTYPE_FLOAT32) return Invalid(op, "scale", "needs dtype float32");
  return absl::OkStatus();
}

absl::Status Validate(const v1::Op& op, const v1::Normalize& normalize) {
  for (auto [name, values] : {std::pair("mean", &normalize.mean()), std::pair("std", &normalize.std())}) {
    if (values->size() != 1 && values->size() != 3)
      return Invalid(op, name, absl::StrCat("give one number or one a channel (3); found ", values->size()));
    for (double value : *values)
      if (!std::isfinite(value)) return Invalid(op, name, "must be finite");
  }
  for (double value : normalize.std())
    if (!(value > 0)) return Invalid(op, "std", absl::StrCat(value, " is not above 0"));
  return absl::OkStatus();
}

// One number is a square for crops.
ImageSize CropSize(const google::protobuf::RepeatedField<int32_t>& size) { return {size[0], size[size.size() - 1]}; }

v1::Interpolation OrBilinear(v1::Interpolation interpolation) {
  return interpolation == v1::INTERPOLATION_UNSPECIFIED ? v1::INTERPOLATION_BILINEAR : interpolation;
}

int64_t RoundHalfToEven(double x) { return static_cast<int64_t>(std::nearbyint(x)); }

// (difference / 2) as Python rounds it.
int64_t HalfRounded(int64_t difference) { return difference / 2 + (difference % 4 == 3 ? 1 : 0); }

void AppendCrop(int64_t top, int64_t left, ImageSize crop, ImageSize& size, std::vector<OpParameters>& parameters,
                std::array<uint8_t, 3> fill = {0, 0, 0}) {
  if (top != 0 || left != 0 || crop != size) parameters.push_back(CropParameters{top, left, crop, fill});
  size = crop;
}

void AppendResize(ImageSize to, v1::Interpolation interpolation, bool antialias, ImageSize& size,
                  std::vector<OpParameters>& parameters) {
  if (to != size) parameters.push_back(ResizeParameters{to, OrBilinear(interpolation), antialias});
  size = to;
}

// torchvision's RandomResizedCrop.get_params: ten tries, then the center crop of the nearest allowed ratio.
void DrawResizedCropBox(const v1::RandomResizedCrop& op, Draws& draws, const ImageSize& image, int64_t& top,
                        int64_t& left, ImageSize& crop) {
  const double* scale = op.scale().empty() ? kDefaultScale : op.scale().data();
  const double* ratio = op.ratio().empty() ? kDefaultRatio : op.ratio().data();
  const double area = static_cast<double>(image.height) * static_cast<double>(image.width);
  const double log_low = DeterministicLog(ratio[0]), log_high = DeterministicLog(ratio[1]);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * draws.Uniform(scale[0], scale[1]);
    const double aspect = DeterministicExp(draws.Uniform(log_low, log_high));
    crop = {RoundHalfToEven(std::sqrt(target / aspect)), RoundHalfToEven(std::sqrt(target * aspect))};
    if (crop.width < 1 || crop.width > image.width || crop.height < 1 || crop.height > image.height) continue;
    top = static_cast<int64_t>(draws.Below(image.height - crop.height + 1));
    left = static_cast<int64_t>(draws.Below(image.width - crop.width + 1));
    return;
  }
  const double in_ratio = static_cast<double>(image.width) / static_cast<double>(image.height);
  crop = image;
  if (in_ratio < ratio[0]) crop.height = RoundHalfToEven(static_cast<double>(image.width) / ratio[0]);
  if (in_ratio > ratio[1]) crop.width = RoundHalfToEven(static_cast<double>(image.height) * ratio[1]);
  crop = {std::clamp<int64_t>(crop.height, 1, image.height), std::clamp<int64_t>(crop.width, 1, image.width)};
  top = (image.height - crop.height) / 2;
  left = (image.width - crop.width) / 2;
}

absl::Status Draw(const v1::RandomResizedCrop& op, Draws& draws, ImageSize& size,
                  std::vector<OpParameters>& parameters) {
  int64_t top = 0, left = 0;
  ImageSize crop;
  DrawResizedCropBox(op, draws, size, top, left, crop);
  AppendCrop(top, left, crop, size, parameters);
  AppendResize(CropSize(op.size()), op.interpolation(), !op.has_antialias() || op.antialias(), size, parameters);
  return absl::OkStatus();
}

ImageSize ResizedSize(const v1::Resize& op, ImageSize image) {
  if (op.size_size() == 2) return {op.size(0), op.size(1)};
  const bool tall = image.height >= image.width;
  const int64_t in_short = tall ? image.width : image.height, in_long = tall ? image.height : image.width;
  int64_t out_short = op.size(0), out_long = out_short * in_long / in_short;
  if (op.max_size() != 0 && out_long > op.max_size()) {
    out_short = std::max<int64_t>(1, op.max_size() * out_short / out_long);
    out_long = op.max_size();
  }
  return tall ? ImageSize{out_long, out_short} : ImageSize{out_short, out_long};
}

absl::Status Draw(const v1::Resize& op, Draws&, ImageSize& size, std::vector<OpParameters>& parameters) {
  const ImageSize to = ResizedSize(op, size);
  if (to.height > kMaxExtent || to.width > kMaxExtent)
    return absl::FailedPreconditionError(absl::StrCat("Resize.size: an image of ", size.width, "×", size.height,
                                                      " would become ", to.width, "×", to.height, ", more than ",
                                                      kMaxExtent, " a side; set max_size"));
  AppendResize(to, op.interpolation(), !op.has_antialias() || op.antialias(), size, parameters);
  return absl::OkStatus();
}

// Where a centered crop of `want` begins in an image of `have` pixels that is padded evenly if it is smaller.
int64_t CenterStart(int64_t have, int64_t want) {
  return have < want ? -((want - have) / 2) : HalfRounded(have - want);
}

absl::Status Draw(const v1::CenterCrop& op, Draws&, ImageSize& size, std::vector<OpParameters>& parameters) {
  const ImageSize crop = CropSize(op.size());
  AppendCrop(CenterStart(size.height, crop.height), CenterStart(size.width, crop.width), crop, size, parameters);
  return absl::OkStatus();
}

struct Padding {
  int64_t left = 0, top = 0, right = 0, bottom = 0;
};

Padding PaddingOf(const v1::RandomCrop& op) {
  const auto& p = op.padding();
  switch (p.size()) {
    case 0: return {};
    case 1: return {p[0], p[0], p[0], p[0]};
    case 2: return {p[0], p[1], p[0], p[1]};
    default: return {p[0], p[1], p[2], p[3]};
  }
}

std::array<uint8_t, 3> FillOf(const v1::RandomCrop& op) {
  std::array<uint8_t, 3> fill = {};
  for (int channel = 0; channel < 3 && op.fill_size() > 0; ++channel)
    fill[channel] = static_cast<uint8_t>(op.fill(op.fill_size() == 1 ? 0 : channel));
  return fill;
}

absl::Status Draw(const v1::RandomCrop& op, Draws& draws, ImageSize& size, std::vector<OpParameters>& parameters) {
  const ImageSize crop = CropSize(op.size());
  Padding pad = PaddingOf(op);
  ImageSize padded = {size.height + pad.top + pad.bottom, size.width + pad.left + pad.right};
  if (op.pad_if_needed() && padded.height < crop.height) {
    pad.top += crop.height - padded.height;
    padded.height += 2 * (crop.height - padded.height);
  }
  if (op.pad_if_needed() && padded.width < crop.width) {
    pad.left += crop.width - padded.width;
    padded.width += 2 * (crop.width - padded.width);
  }
  if (padded.height < crop.height || padded.width < crop.width)
    return absl::FailedPreconditionError(absl::StrCat("RandomCrop.size: an image of ", size.width, "×", size.height,
                                                      ", with padding ", padded.width, "×", padded.height,
                                                      ", is smaller than the crop of ", crop.width, "×", crop.height,
                                                      "; set pad_if_needed, or Resize first"));
  const auto top = static_cast<int64_t>(draws.Below(padded.height - crop.height + 1)) - pad.top;
  const auto left = static_cast<int64_t>(draws.Below(padded.width - crop.width + 1)) - pad.left;
  AppendCrop(top, left, crop, size, parameters, FillOf(op));
  return absl::OkStatus();
}

double ProbabilityOf(const auto& flip) { return flip.has_p() ? flip.p() : 0.5; }

}  // namespace

std::string OpName(const v1::Op& op) {
  const auto* oneof = v1::Op::descriptor()->FindOneofByName("op");
  const auto* field = op.GetReflection()->GetOneofFieldDescriptor(op, oneof);
  return field == nullptr ? "" : field->message_type()->name();
}

v1::Placement PlacementOf(const v1::Op& op) {
  if (op.placement() != v1::PLACEMENT_UNSPECIFIED) return op.placement();
  return op.has_to_dtype() || op.has_normalize() || op.has_to_memory_format() ? v1::PLACEMENT_DEVICE
                                                                              : v1::PLACEMENT_SERVER;
}

v1::Op WithDefaults(const v1::Op& op) {
  v1::Op full = op;
  full.set_placement(PlacementOf(op));
  if (full.has_random_resized_crop()) {
    auto& crop = *full.mutable_random_resized_crop();
    if (crop.size_size() == 1) crop.add_size(crop.size(0));
    if (crop.scale().empty()) crop.mutable_scale()->Add(std::begin(kDefaultScale), std::end(kDefaultScale));
    if (crop.ratio().empty()) crop.mutable_ratio()->Add(std::begin(kDefaultRatio), std::end(kDefaultRatio));
    crop.set_interpolation(OrBilinear(crop.interpolation()));
    if (!crop.has_antialias()) crop.set_antialias(true);
  } else if (full.has_resize()) {
    full.mutable_resize()->set_interpolation(OrBilinear(full.resize().interpolation()));
    if (!full.resize().has_antialias()) full.mutable_resize()->set_antialias(true);
  } else if (full.has_center_crop()) {
    if (full.center_crop().size_size() == 1) full.mutable_center_crop()->add_size(full.center_crop().size(0));
  } else if (full.has_random_crop()) {
    auto& crop = *full.mutable_random_crop();
    if (crop.size_size() == 1) crop.add_size(crop.size(0));
    const Padding pad = PaddingOf(crop);
    crop.clear_padding();
    for (int64_t pixels : {pad.left, pad.top, pad.right, pad.bottom}) crop.add_padding(static_cast<int32_t>(pixels));
    const auto fill = FillOf(crop);
    crop.clear_fill();
    for (uint8_t value : fill) crop.add_fill(value);
  } else if (full.has_random_horizontal_flip()) {
    full.mutable_random_horizontal_flip()->set_p(ProbabilityOf(full.random_horizontal_flip()));
  } else if (full.has_random_vertical_flip()) {
    full.mutable_random_vertical_flip()->set_p(ProbabilityOf(full.random_vertical_flip()));
  } else if (full.has_to_memory_format() && full.to_memory_format().memory_format() == v1::MEMORY_FORMAT_UNSPECIFIED) {
    full.mutable_to_memory_format()->set_memory_format(v1::MEMORY_FORMAT_CHANNELS_FIRST);
  }
  return full;
}

absl::Status ValidateOp(const v1::Op& op) {
  if (!v1::Placement_IsValid(op.placement()))
    return absl::InvalidArgumentError(absl::StrCat("placement: unknown value ", op.placement()));
  switch (op.op_case()) {
    case v1::Op::kRandomResizedCrop: return Validate(op, op.random_resized_crop());
    case v1::Op::kResize: return Validate(op, op.resize());
    case v1::Op::kCenterCrop: return ValidateSize(op, op.center_crop().size());
    case v1::Op::kRandomCrop: return Validate(op, op.random_crop());
    case v1::Op::kRandomHorizontalFlip: return ValidateProbability(op, ProbabilityOf(op.random_horizontal_flip()));
    case v1::Op::kRandomVerticalFlip: return ValidateProbability(op, ProbabilityOf(op.random_vertical_flip()));
    case v1::Op::kToDtype: return Validate(op, op.to_dtype());
    case v1::Op::kNormalize: return Validate(op, op.normalize());
    case v1::Op::kToMemoryFormat:
      if (!v1::MemoryFormat_IsValid(op.to_memory_format().memory_format()))
        return Invalid(op, "memory_format", absl::StrCat("unknown value ", op.to_memory_format().memory_format()));
      return absl::OkStatus();
    case v1::Op::OP_NOT_SET: break;
  }
  return absl::InvalidArgumentError("no op, or one that this build does not know");
}

std::optional<ImageSize> OutputSize(const v1::Op& op, std::optional<ImageSize> input) {
  switch (op.op_case()) {
    case v1::Op::kRandomResizedCrop: return CropSize(op.random_resized_crop().size());
    case v1::Op::kCenterCrop: return CropSize(op.center_crop().size());
    case v1::Op::kRandomCrop: return CropSize(op.random_crop().size());
    case v1::Op::kResize:
      if (op.resize().size_size() == 2) return ImageSize{op.resize().size(0), op.resize().size(1)};
      if (input.has_value()) return ResizedSize(op.resize(), *input);
      return std::nullopt;
    default: return input;
  }
}

absl::Status DrawOp(const v1::Op& op, Draws draws, ImageSize& size, std::vector<OpParameters>& parameters) {
  switch (op.op_case()) {
    case v1::Op::kRandomResizedCrop: return Draw(op.random_resized_crop(), draws, size, parameters);
    case v1::Op::kResize: return Draw(op.resize(), draws, size, parameters);
    case v1::Op::kCenterCrop: return Draw(op.center_crop(), draws, size, parameters);
    case v1::Op::kRandomCrop: return Draw(op.random_crop(), draws, size, parameters);
    case v1::Op::kRandomHorizontalFlip:
      if (draws.Bernoulli(ProbabilityOf(op.random_horizontal_flip())))
        parameters.push_back(FlipParameters{FlipParameters::Axis::kHorizontal});
      return absl::OkStatus();
    case v1::Op::kRandomVerticalFlip:
      if (draws.Bernoulli(ProbabilityOf(op.random_vertical_flip())))
        parameters.push_back(FlipParameters{FlipParameters::Axis::kVertical});
      return absl::OkStatus();
    default: STOKER_CHECK(false); return absl::OkStatus();
  }
}

}  // namespace stoker
