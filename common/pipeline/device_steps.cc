#include "common/pipeline/device_steps.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/ops/arguments.h"
#include "common/ops/gaussian_kernel.h"
#include "common/ops/nested.h"
#include "common/ops/ops.h"
#include "common/ops/resize_kernels.h"
#include "common/pipeline/compose_gather.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// Steps that a pipeline may have; a policy of many changes has many.
constexpr size_t kMostSteps = 1024;

// The steps of each change that a policy may draw, in order.
constexpr DeviceStep::Kind kPolicySteps[] = {DeviceStep::Kind::kGather, DeviceStep::Kind::kColors,
                                             DeviceStep::Kind::kSharpen};

DeviceStep::Kind KindOf(DevicePass pass) {
  switch (pass) {
    case DevicePass::kGather: return DeviceStep::Kind::kGather;
    case DevicePass::kResample: return DeviceStep::Kind::kResample;
    case DevicePass::kSharpen: return DeviceStep::Kind::kSharpen;
    case DevicePass::kColors: return DeviceStep::Kind::kColors;
    case DevicePass::kBlur: return DeviceStep::Kind::kBlur;
    case DevicePass::kMask: return DeviceStep::Kind::kMask;
    case DevicePass::kErase: return DeviceStep::Kind::kErase;
    case DevicePass::kPolicy:
    case DevicePass::kNone: break;
  }
  STOKER_CHECK(false);  // AddPolicy adds a policy's steps, and IsDeviceStep is false for kNone.
  return DeviceStep::Kind::kGather;
}

bool IsA(const DeviceTraits& traits, DeviceTraits::Geometry geometry) {
  return traits.pass == DevicePass::kGather && traits.geometry == geometry;
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
    case From::kAutocontrast: return {To::kAutocontrast, 0};
    case From::kEqualize: return {To::kEqualize, 0};
    case From::kYCbCr: break;  // This one runs on the server only.
  }
  STOKER_CHECK(false);
  return {};
}

MaskDraw MaskOf(const MaskParameters& mask) {
  return {static_cast<uint32_t>(std::ceil(std::clamp(mask.ratio, 0.0, 1.0) * 0x1p16)), mask.dilate,
          Draws::MixedKey(mask.key), mask.key.position};
}

void AddTo(GatherComposer& composer, const std::vector<OpParameters>& drawn) {
  for (const OpParameters& op : drawn) {
    if (const auto* crop = std::get_if<CropParameters>(&op)) composer.Add(*crop);
    if (const auto* resize = std::get_if<ResizeParameters>(&op)) composer.Add(*resize);
    if (const auto* flip = std::get_if<FlipParameters>(&op)) composer.Add(*flip);
    if (const auto* turn = std::get_if<AffineParameters>(&op)) composer.Add(*turn);
  }
}

StepDraw GatherOf(const DeviceStep& step, const std::vector<OpParameters>& drawn) {
  GatherComposer composer(step.in);
  AddTo(composer, drawn);
  STOKER_CHECK(composer.size() == step.out);
  return composer.gather();
}

// Returns what `drawn` for an image does to a map that lies on it.
std::vector<OpParameters> ForMaps(std::vector<OpParameters> drawn) {
  const auto fill = [](int32_t value) {
    return Color{static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8), 0};
  };
  for (OpParameters& op : drawn) {
    if (auto* crop = std::get_if<CropParameters>(&op)) crop->fill = fill(crop->map_fill);
    if (auto* resize = std::get_if<ResizeParameters>(&op)) resize->interpolation = v1::INTERPOLATION_NEAREST;
    auto* turn = std::get_if<AffineParameters>(&op);
    if (turn != nullptr) turn->interpolation = v1::INTERPOLATION_NEAREST, turn->fill = fill(turn->map_fill);
  }
  return drawn;
}

Resampling ResamplingOf(const DeviceTraits& traits) {
  if (traits.interpolation == v1::INTERPOLATION_BILINEAR) return Resampling::kTriangle;
  return traits.antialias ? Resampling::kCubic : Resampling::kTorchCubic;
}

// Returns whether more pixels become one along either axis than a resize can weigh.
bool ReducesTooMuch(Resampling resampling, ImageSize from, ImageSize to) {
  if (resampling == Resampling::kTorchCubic) return false;
  const double support = resampling == Resampling::kCubic ? CubicKernel::kSupport : TriangleKernel::kSupport;
  const auto taps = [&](int64_t pixels, int64_t outputs) {
    return 2 * support * static_cast<double>(pixels) / static_cast<double>(outputs);
  };
  return std::max(taps(from.width, to.width), taps(from.height, to.height)) > kMostConvolvedTaps;
}

StepDraw ResampleOf(const DeviceStep& step, const std::vector<OpParameters>& drawn) {
  ResampleDraw resample = {.size = step.in};
  for (const OpParameters& op : drawn)
    if (const auto* crop = std::get_if<CropParameters>(&op)) resample = {crop->top, crop->left, crop->size};
  const auto& [top, left, size] = resample;
  STOKER_CHECK(top >= 0 && left >= 0 && top + size.height <= step.in.height && left + size.width <= step.in.width);
  return resample;
}

// Which of kPolicySteps makes a policy's change.
int PolicyStepOf(const OpParameters& change) {
  if (std::holds_alternative<ColorParameters>(change)) return 1;
  if (std::holds_alternative<SharpnessParameters>(change)) return 2;
  STOKER_CHECK(std::holds_alternative<CropParameters>(change) || std::holds_alternative<AffineParameters>(change));
  return 0;
}

StepDraw StepDrawOf(const DeviceStep& step, const std::vector<OpParameters>& drawn) {
  if (drawn.empty() && step.in == step.out) return {};
  if (step.kind == DeviceStep::Kind::kGather) return GatherOf(step, drawn);
  if (step.kind == DeviceStep::Kind::kResample) return ResampleOf(step, drawn);
  if (step.kind == DeviceStep::Kind::kSharpen)
    return SharpenDraw{static_cast<float>(std::get<SharpnessParameters>(drawn[0]).factor)};
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
  if (transforms == nullptr) return DeviceTraitsOf(op, {1, 1}).pass != DevicePass::kNone;
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

absl::Status DeviceSteps::CheckLeaf(const v1::Op& op, const DeviceTraits& traits, ImageSize out, bool nested) const {
  if (traits.interpolation == v1::INTERPOLATION_LANCZOS)
    return Invalid(op, "lanczos does not run on the device; choose another interpolation, or run it on the server");
  if (traits.pass == DevicePass::kResample && ReducesTooMuch(ResamplingOf(traits), size_, out))
    return Invalid(op, absl::StrCat("reduces an image of ", size_.width, "×", size_.height, " to ", out.width, "×",
                                    out.height, ", which is too much for the device; run it on the server"));
  const size_t steps = traits.pass == DevicePass::kPolicy ? std::size(kPolicySteps) * traits.most_changes : 1;
  if (steps_.size() + steps > kMostSteps)
    return Invalid(op, absl::StrCat("the device's ops would take more than ", kMostSteps,
                                    " passes; run some of them on the server"));
  if (nested && out != size_)
    return Invalid(op, "inside of another op it must not change the image's size on the device; run it on the server");
  if (channels_ != 3 && (traits.pass == DevicePass::kColors || traits.pass == DevicePass::kPolicy))
    return Invalid(op, absl::StrCat("needs three channels, and the image has ", channels_));
  if (channels_ != 3 && !traits.one_level)
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
  const absl::Status drawable =
      DrawOp(op, DrawKey{}, drawn_size, parameters);  // Whether it fails does not depend on the key.
  if (!drawable.ok()) return absl::InvalidArgumentError(drawable.message());
  const std::optional<ImageSize> out = OutputSize(op, size_);
  STOKER_CHECK(out.has_value());
  const DeviceTraits traits = DeviceTraitsOf(op, size_);
  STOKER_RETURN_IF_ERROR(CheckLeaf(op, traits, *out, nested));
  if (traits.pass == DevicePass::kPolicy) {
    AddPolicy(traits, index);
    return absl::OkStatus();
  }
  DeviceStep& step = StepFor(traits);
  size_ = step.out = *out;
  if (step.ops.empty() || step.ops.back() != index) step.ops.push_back(index);
  leaves_.push_back({.step = static_cast<int>(steps_.size()) - 1});
  return absl::OkStatus();
}

void DeviceSteps::AddPolicy(const DeviceTraits& traits, int index) {
  leaves_.push_back({.step = static_cast<int>(steps_.size()), .is_policy = true});
  for (int change = 0; change < traits.most_changes; ++change)
    for (DeviceStep::Kind kind : kPolicySteps) {
      const bool colors = kind == DeviceStep::Kind::kColors;
      steps_.push_back(
          {.kind = kind, .in = size_, .out = size_, .contrast = colors, .histogram = colors, .ops = {index}});
    }
  if (traits.most_changes > 0) open_ = {};
}

DeviceStep& DeviceSteps::StepFor(const DeviceTraits& traits) {
  using Geometry = DeviceTraits::Geometry;
  const bool resizes = IsA(traits, Geometry::kResize), interpolates = resizes || IsA(traits, Geometry::kTurn);
  const DeviceStep::Kind kind = KindOf(traits.pass);
  bool joins = !steps_.empty() && steps_.back().kind == kind;
  if (kind == DeviceStep::Kind::kGather) {
    joins = joins && !(open_.fills && (interpolates || traits.may_fill)) &&
            !(open_.crops_interpolated && traits.may_fill) && !(open_.interpolates && (resizes || traits.mirrors));
  } else if (kind == DeviceStep::Kind::kColors) {
    const bool both_measure =
        joins && (traits.contrast || traits.histogram) && (steps_.back().contrast || steps_.back().histogram);
    joins = joins && open_.colors + traits.most_colors <= ColorsDraw::kMost && !both_measure;
  } else {
    joins = false;
  }
  if (!joins) {
    steps_.push_back({.kind = kind, .in = size_, .out = size_});
    open_ = {.only_flips = true};
  }
  DeviceStep& step = steps_.back();
  open_.only_flips = open_.only_flips && IsA(traits, Geometry::kFlip);
  open_.crops_interpolated = open_.crops_interpolated || (open_.interpolates && IsA(traits, Geometry::kCrop));
  open_.interpolates = open_.interpolates || interpolates;
  open_.fills = open_.fills || traits.may_fill;
  open_.colors += traits.most_colors;
  step.contrast = step.contrast || traits.contrast;
  step.histogram = step.histogram || traits.histogram;
  if (kind == DeviceStep::Kind::kResample) step.resampling = ResamplingOf(traits);
  if (kind == DeviceStep::Kind::kBlur) step.kernel = traits.kernel;
  return step;
}

void DeviceSteps::Finish() {
  if (!steps_.empty() && open_.only_flips) steps_.pop_back();
  if (moves_maps_) FinishMapMoves();
}

void DeviceSteps::FinishMapMoves() {
  for (size_t i = 0; i < steps_.size(); ++i) {
    const DeviceStep& step = steps_[i];
    if (step.kind != DeviceStep::Kind::kGather && step.kind != DeviceStep::Kind::kResample) continue;
    map_moves_.push_back({.kind = DeviceStep::Kind::kGather, .in = step.in, .out = step.out});
    moving_steps_.push_back({static_cast<int>(i)});
  }
  const int flips = static_cast<int>(steps_.size());
  const auto flips_last = [flips](const Leaf& leaf) { return leaf.step == flips && !leaf.is_policy; };
  if (std::none_of(leaves_.begin(), leaves_.end(), flips_last)) return;
  if (map_moves_.empty()) {
    map_moves_.push_back({.kind = DeviceStep::Kind::kGather, .in = size_, .out = size_});
    moving_steps_.emplace_back();
  }
  moving_steps_.back().push_back(flips);
}

// Draws for one sample, leaf after leaf, what DrawOp would draw for the whole op.
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

  // The parameters drawn for step number `step`.
  const std::vector<OpParameters>& Of(size_t step) const { return drawn_[step]; }

 private:
  void DrawLeaf(const v1::Op& op, const DrawKey& key, bool happens) {
    const Leaf& leaf = steps_.leaves_[leaf_++];
    if (!happens) return;
    if (!leaf.is_policy) {
      STOKER_CHECK(DrawOp(op, key, size_, drawn_[leaf.step]).ok());  // It cannot fail, since AddLeaf tried it.
      return;
    }
    std::vector<OpParameters> changes;
    STOKER_CHECK(DrawOp(op, key, size_, changes).ok());
    for (size_t i = 0; i < changes.size(); ++i)
      drawn_[leaf.step + std::size(kPolicySteps) * i + PolicyStepOf(changes[i])].push_back(changes[i]);
  }

  const DeviceSteps& steps_;
  ImageSize size_;
  int leaf_ = 0;
  std::vector<std::vector<OpParameters>> drawn_;
};

SampleDraw DeviceSteps::Draw(uint64_t seed, uint64_t epoch, uint64_t position, uint64_t view) const {
  Drawing drawing(*this);
  for (const TopOp& top : ops_)
    drawing.Draw(
        top.op,
        {.seed = seed, .epoch = epoch, .position = position, .op = static_cast<uint64_t>(top.index), .view = view},
        true);
  SampleDraw draw;
  for (size_t i = 0; i < steps_.size(); ++i) draw.steps.push_back(StepDrawOf(steps_[i], drawing.Of(i)));
  for (const OpParameters& flip : drawing.Of(steps_.size())) {
    const bool horizontal = std::get<FlipParameters>(flip).axis == FlipParameters::Axis::kHorizontal;
    bool& side = horizontal ? draw.flips.horizontal : draw.flips.vertical;
    side = !side;
  }
  for (size_t i = 0; i < map_moves_.size(); ++i) {
    GatherComposer composer(map_moves_[i].in);
    for (int step : moving_steps_[i]) AddTo(composer, ForMaps(drawing.Of(step)));
    draw.map_moves.push_back(composer.gather());
  }
  return draw;
}

}  // namespace stoker
