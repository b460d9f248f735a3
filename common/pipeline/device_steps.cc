#include "common/pipeline/device_steps.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/ops/arguments.h"
#include "common/ops/gaussian_kernel.h"
#include "common/ops/nested.h"
#include "common/ops/ops.h"
#include "common/pipeline/compose_gather.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// The pass that a leaf belongs to; none if it does not run on the device.
std::optional<DeviceStep::Kind> KindOf(const v1::Op& op) {
  switch (op.op_case()) {
    case v1::Op::kRandomResizedCrop:
    case v1::Op::kResize:
    case v1::Op::kCenterCrop:
    case v1::Op::kRandomCrop:
    case v1::Op::kPad:
    case v1::Op::kRandomRotation:
    case v1::Op::kRandomAffine:
    case v1::Op::kRandomHorizontalFlip:
    case v1::Op::kRandomVerticalFlip: return DeviceStep::Kind::kGather;
    case v1::Op::kColorJitter:
    case v1::Op::kGrayscale:
    case v1::Op::kRandomGrayscale:
    case v1::Op::kRandomPosterize:
    case v1::Op::kRandomSolarize:
    case v1::Op::kRandomInvert:
    case v1::Op::kAdjustBrightness:
    case v1::Op::kAdjustContrast:
    case v1::Op::kAdjustSaturation:
    case v1::Op::kAdjustHue: return DeviceStep::Kind::kColors;
    case v1::Op::kGaussianBlur: return DeviceStep::Kind::kBlur;
    case v1::Op::kRandomMask: return DeviceStep::Kind::kMask;
    case v1::Op::kRandomErasing: return DeviceStep::Kind::kErase;
    default: return std::nullopt;
  }
}

bool IsFlip(const v1::Op& op) { return op.has_random_horizontal_flip() || op.has_random_vertical_flip(); }
bool IsResize(const v1::Op& op) { return op.has_random_resized_crop() || op.has_resize(); }
bool IsCrop(const v1::Op& op) { return op.has_center_crop() || op.has_random_crop(); }
bool IsTurn(const v1::Op& op) { return op.has_random_rotation() || op.has_random_affine(); }

// Whether pixels from beyond an image of `size` may show.
bool MayFill(const v1::Op& op, ImageSize size) {
  const auto larger = [&](ImageSize crop) { return crop.height > size.height || crop.width > size.width; };
  const auto pads = [](const Integers& padding) {
    return std::any_of(padding.begin(), padding.end(), [](int pixels) { return pixels != 0; });
  };
  if (op.has_center_crop()) return larger(CropSize(op.center_crop().size()));
  if (op.has_random_crop()) return pads(op.random_crop().padding()) || larger(CropSize(op.random_crop().size()));
  if (op.has_pad()) return pads(op.pad().padding());
  return IsTurn(op);
}

bool Mirrors(const v1::Op& op) { return op.has_pad() && op.pad().padding_mode() > v1::PADDING_MODE_CONSTANT; }

int MostColors(const v1::Op& op) { return op.has_color_jitter() ? 4 : 1; }

bool HasContrast(const v1::Op& op) {
  return op.has_adjust_contrast() || (op.has_color_jitter() && !op.color_jitter().contrast().empty());
}

ImageSize KernelOf(const v1::GaussianBlur& op) {  // Given as across, down.
  return {op.kernel_size(op.kernel_size_size() - 1), op.kernel_size(0)};
}

v1::Interpolation InterpolationOf(const v1::Op& op) {
  if (op.has_resize()) return op.resize().interpolation();
  return op.has_random_resized_crop() ? op.random_resized_crop().interpolation() : v1::INTERPOLATION_UNSPECIFIED;
}

// Whether the op's color, of pixels that it fills or paints, is one number.
bool IsGray(const v1::Op& op) {
  const auto gray = [](const auto& numbers) {
    return std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
  };
  switch (op.op_case()) {
    case v1::Op::kRandomCrop: return gray(op.random_crop().fill());
    case v1::Op::kPad: return gray(op.pad().fill());
    case v1::Op::kRandomRotation: return gray(op.random_rotation().fill());
    case v1::Op::kRandomAffine: return gray(op.random_affine().fill());
    case v1::Op::kRandomErasing: return gray(op.random_erasing().value());
    default: return true;
  }
}

absl::Status Invalid(const v1::Op& op, absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(OpName(op), ": ", reason));
}

ColorChange ChangeOf(const ColorParameters& color) {
  using From = ColorParameters::Kind;
  using To = ColorChange::Kind;
  const auto value = static_cast<float>(color.value);
  switch (color.kind) {
    case From::kBrightness: return {To::kBrightness, value};
    case From::kContrast: return {To::kContrast, value};
    case From::kSaturation: return {To::kSaturation, value};
    case From::kHue: return {To::kHue, static_cast<float>(static_cast<int>(color.value * 255) & 255)};
    case From::kGrayscale: return {To::kGrayscale, 0};
    case From::kPosterize: return {To::kPosterize, value};
    case From::kSolarize: return {To::kSolarize, value};
    case From::kInvert: return {To::kSolarize, 0};
    case From::kYCbCr:
    case From::kAutocontrast:
    case From::kEqualize: break;  // Ops that do not run here.
  }
  STOKER_CHECK(false);
  return {};
}

MaskDraw MaskOf(const MaskParameters& mask) {
  return {static_cast<uint32_t>(std::ceil(std::clamp(mask.ratio, 0.0, 1.0) * 0x1p16)), mask.dilate,
          Draws::MixedKey(mask.key), mask.key.position};
}

StepDraw GatherOf(const DeviceStep& step, const std::vector<OpParameters>& drawn) {
  GatherComposer composer(step.in);
  for (const OpParameters& op : drawn) {
    if (const auto* crop = std::get_if<CropParameters>(&op)) composer.Add(*crop);
    if (const auto* resize = std::get_if<ResizeParameters>(&op)) composer.Add(*resize);
    if (const auto* flip = std::get_if<FlipParameters>(&op)) composer.Add(*flip);
    if (const auto* turn = std::get_if<AffineParameters>(&op)) composer.Add(*turn);
  }
  STOKER_CHECK(composer.size() == step.out);
  return composer.gather();
}

StepDraw StepDrawOf(const DeviceStep& step, const std::vector<OpParameters>& drawn) {
  if (step.kind == DeviceStep::Kind::kGather) return GatherOf(step, drawn);
  if (drawn.empty()) return {};
  if (step.kind == DeviceStep::Kind::kColors) {
    ColorsDraw colors;
    for (const OpParameters& color : drawn)
      colors.changes.at(colors.count++) = ChangeOf(std::get<ColorParameters>(color));
    return colors;
  }
  if (step.kind == DeviceStep::Kind::kBlur) {
    const auto& blur = std::get<BlurParameters>(drawn[0]);
    return BlurDraw{HalfGaussianKernel(blur.kernel_width, blur.sigma),
                    HalfGaussianKernel(blur.kernel_height, blur.sigma)};
  }
  if (step.kind == DeviceStep::Kind::kMask) return MaskOf(std::get<MaskParameters>(drawn[0]));
  const auto& erase = std::get<EraseParameters>(drawn[0]);
  return EraseDraw{erase.top, erase.left, erase.size, erase.value};
}

}  // namespace

bool IsDeviceStep(const v1::Op& op) {
  const auto* transforms = NestedTransforms(op);
  if (transforms == nullptr) return KindOf(op).has_value();
  return std::all_of(transforms->begin(), transforms->end(), IsDeviceStep);
}

void DeviceSteps::Start(ImageSize size, int64_t channels) {
  in_ = size_ = size;
  channels_ = channels;
}

absl::Status DeviceSteps::Add(const v1::Op& op, int index) {
  ops_.push_back({op, index});
  return AddAny(op, index, false);
}

absl::Status DeviceSteps::AddAny(const v1::Op& op, int index, bool nested) {
  const auto* transforms = NestedTransforms(op);
  if (transforms == nullptr) return AddLeaf(op, index, nested);
  for (const v1::Op& transform : *transforms) {
    const absl::Status status = AddAny(transform, index, true);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat(OpName(op), ".transforms: ", status.message()));
  }
  return absl::OkStatus();
}

absl::Status DeviceSteps::CheckLeaf(const v1::Op& op, ImageSize out, bool nested) const {
  if (InterpolationOf(op) > v1::INTERPOLATION_BILINEAR)
    return Invalid(op, "only nearest and bilinear run on the device; choose one, or run it on the server");
  if (nested && out != size_)
    return Invalid(op, "inside of another op it must not change the image's size on the device; run it on the server");
  if (channels_ != 3 && KindOf(op) == DeviceStep::Kind::kColors)
    return Invalid(op, absl::StrCat("needs three channels, and the image has ", channels_));
  if (channels_ != 3 && !IsGray(op))
    return Invalid(op, absl::StrCat("give one number for all of the image's ", channels_, " channels"));
  v1::Field made;
  made.set_name("image");
  made.set_dtype(v1::DTYPE_UINT8);
  for (int64_t extent : {out.height, out.width, channels_}) made.add_shape(extent);
  const absl::Status fits = ByteSize(made).status();
  return fits.ok() ? fits : Invalid(op, fits.message());
}

absl::Status DeviceSteps::AddLeaf(const v1::Op& op, int index, bool nested) {
  ImageSize drawn_size = size_;
  std::vector<OpParameters> parameters;
  const absl::Status drawable = DrawOp(op, DrawKey{}, drawn_size, parameters);  // Fails or not whatever the key.
  if (!drawable.ok()) return absl::InvalidArgumentError(drawable.message());
  const std::optional<ImageSize> out = OutputSize(op, size_);
  STOKER_CHECK(out.has_value());
  STOKER_RETURN_IF_ERROR(CheckLeaf(op, *out, nested));
  DeviceStep& step = StepFor(op, *KindOf(op));
  size_ = step.out = *out;
  if (step.ops.empty() || step.ops.back() != index) step.ops.push_back(index);
  leaf_steps_.push_back(static_cast<int>(steps_.size()) - 1);
  return absl::OkStatus();
}

DeviceStep& DeviceSteps::StepFor(const v1::Op& op, DeviceStep::Kind kind) {
  const bool turns_or_resizes = IsTurn(op) || IsResize(op), fills = MayFill(op, size_), contrast = HasContrast(op);
  bool joins = !steps_.empty() && steps_.back().kind == kind;
  if (kind == DeviceStep::Kind::kGather) {
    joins = joins && !(open_.fills && (turns_or_resizes || fills)) && !(open_.crops_interpolated && fills) &&
            !(open_.interpolates && (IsResize(op) || Mirrors(op)));
  } else if (kind == DeviceStep::Kind::kColors) {
    joins = joins && open_.colors + MostColors(op) <= ColorsDraw::kMost && !(contrast && steps_.back().contrast);
  } else {
    joins = false;
  }
  if (!joins) {
    steps_.push_back({.kind = kind, .in = size_, .out = size_});
    open_ = {.only_flips = true};
  }
  DeviceStep& step = steps_.back();
  open_.only_flips = open_.only_flips && IsFlip(op);
  open_.crops_interpolated = open_.crops_interpolated || (open_.interpolates && IsCrop(op));
  open_.interpolates = open_.interpolates || turns_or_resizes;
  open_.fills = open_.fills || fills;
  open_.colors += MostColors(op);
  step.contrast = step.contrast || contrast;
  if (op.has_gaussian_blur()) step.kernel = KernelOf(op.gaussian_blur());
  return step;
}

void DeviceSteps::Finish() {
  if (!steps_.empty() && open_.only_flips) steps_.pop_back();
}

// Draws leaf after leaf as DrawOp would draw all of an op's.
class DeviceSteps::Drawing {
 public:
  explicit Drawing(const DeviceSteps& steps) : steps_(steps), size_(steps.in_), drawn_(steps.steps_.size() + 1) {}

  void Draw(const v1::Op& op, const DrawKey& key, bool happens) {
    const auto* transforms = NestedTransforms(op);
    if (transforms == nullptr) return DrawLeaf(op, key, happens);
    const std::vector<bool> chosen = ChosenTransforms(op, key);
    for (int i = 0; i < transforms->size(); ++i) {
      DrawKey nested = key;
      nested.op = NestedOp(key.op, i);
      Draw((*transforms)[i], nested, happens && chosen[i]);
    }
  }

  // What step number `step` is to do.
  const std::vector<OpParameters>& Of(size_t step) const { return drawn_[step]; }

 private:
  void DrawLeaf(const v1::Op& op, const DrawKey& key, bool happens) {
    std::vector<OpParameters>& drawn = drawn_[steps_.leaf_steps_[leaf_++]];
    if (happens) STOKER_CHECK(DrawOp(op, key, size_, drawn).ok());  // As AddLeaf tried.
  }

  const DeviceSteps& steps_;
  ImageSize size_;
  int leaf_ = 0;
  std::vector<std::vector<OpParameters>> drawn_;
};

SampleDraw DeviceSteps::Draw(uint64_t seed, uint64_t epoch, uint64_t position) const {
  Drawing drawing(*this);
  for (const TopOp& top : ops_)
    drawing.Draw(top.op, {.seed = seed, .epoch = epoch, .position = position, .op = static_cast<uint64_t>(top.index)},
                 true);
  SampleDraw draw;
  for (size_t i = 0; i < steps_.size(); ++i) draw.steps.push_back(StepDrawOf(steps_[i], drawing.Of(i)));
  for (const OpParameters& flip : drawing.Of(steps_.size())) {
    const bool horizontal = std::get<FlipParameters>(flip).axis == FlipParameters::Axis::kHorizontal;
    bool& side = horizontal ? draw.flips.horizontal : draw.flips.vertical;
    side = !side;
  }
  return draw;
}

}  // namespace stoker
