#include "server/augment/fuse.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "server/decode/image.h"

namespace stoker {
namespace {

Region RegionOf(const CropParameters& crop) { return {crop.top, crop.left, crop.size}; }

bool Inside(const CropParameters& crop, ImageSize size) { return WholeOf(size).Contains(RegionOf(crop)); }

// Turns `crop` of the image that `flips` makes from one of `size` into a crop of the image before the flips.
CropParameters Mirrored(CropParameters crop, const Geometry& flips, ImageSize size) {
  if (flips.flip_vertical) crop.top = size.height - crop.top - crop.size.height;
  if (flips.flip_horizontal) crop.left = size.width - crop.left - crop.size.width;
  return crop;
}

// Returns the crop of an image of `size` that does what `first` and then `second` do, or nothing if there is none.
std::optional<CropParameters> Merged(const CropParameters& first, const CropParameters& second, ImageSize size) {
  if (RegionOf(first) == WholeOf(size)) return second;
  const bool one_fill = first.padding == v1::PADDING_MODE_CONSTANT && second.padding == v1::PADDING_MODE_CONSTANT &&
                        first.fill == second.fill;
  const bool padded_alike = one_fill && RegionOf(first).Contains(WholeOf(size));
  if (!padded_alike && !Inside(second, first.size)) return std::nullopt;
  CropParameters merged = first;
  merged.top += second.top;
  merged.left += second.left;
  merged.size = second.size;
  return merged;
}

// Takes ops one by one and merges each with the steps before it where that changes no byte.
class Fuser {
 public:
  explicit Fuser(ImageSize size) : size_(size), source_(size) {}

  void Add(int op, const OpParameters& parameters) {
    std::visit([&](const auto& of_op) { Add(op, of_op); }, parameters);
  }

  FusedOps Finish() {
    std::vector<Step> steps;
    std::vector<int> undone;
    for (Step& step : steps_) {
      const auto* geometry = std::get_if<Geometry>(&step.action);
      if (geometry != nullptr && geometry->identity(step.in)) {
        undone.insert(undone.end(), step.ops.begin(), step.ops.end());
      } else if (auto* colors = steps.empty() ? nullptr : std::get_if<Coloring>(&steps.back().action);
                 colors != nullptr && std::holds_alternative<Coloring>(step.action)) {
        const Coloring& more = std::get<Coloring>(step.action);
        colors->ops.insert(colors->ops.end(), more.ops.begin(), more.ops.end());
        steps.back().ops.insert(steps.back().ops.end(), step.ops.begin(), step.ops.end());
      } else {
        steps.push_back(std::move(step));
      }
    }
    if (steps.empty() || steps.front().in_place())
      steps.insert(steps.begin(), {Geometry{CropParameters{.size = source_}}, {}, source_, source_});
    std::sort(undone.begin(), undone.end());
    return {std::move(steps), std::move(undone)};
  }

 private:
  template <typename Action>
  void Append(int op, Action action, ImageSize out) {
    steps_.push_back({std::move(action), {op}, size_, out});
    size_ = out;
  }

  template <typename Action>
  Action* Last() {
    return steps_.empty() ? nullptr : std::get_if<Action>(&steps_.back().action);
  }

  void Add(int op, const CropParameters& crop) {
    Step later = TakeColorsAfter(crop);
    auto* before = Last<Geometry>();
    std::optional<CropParameters> merged;
    if (before != nullptr && !before->resize.has_value())
      merged = Merged(before->crop, Mirrored(crop, *before, size_), steps_.back().in);
    if (merged.has_value()) {
      before->crop = *merged;
      steps_.back().ops.push_back(op);
      steps_.back().out = size_ = crop.size;
    } else {
      Append(op, Geometry{crop}, crop.size);
    }
    if (later.ops.empty()) return;
    later.in = later.out = size_;
    steps_.push_back(std::move(later));
  }

  void Add(int op, const ResizeParameters& resize) {
    auto* before = Last<Geometry>();
    if (before == nullptr || before->resize.has_value() || before->flip_horizontal || before->flip_vertical ||
        !Inside(before->crop, steps_.back().in))
      return Append(op, Geometry{CropParameters{.size = size_}, resize}, resize.size);
    before->resize = resize;
    steps_.back().ops.push_back(op);
    steps_.back().out = size_ = resize.size;
  }

  void Add(int op, const FlipParameters& flip) {
    auto at = steps_.end();
    if (Last<Coloring>() != nullptr) --at;
    if (at == steps_.begin() || !std::holds_alternative<Geometry>(std::prev(at)->action)) {
      at = steps_.insert(at, {Geometry{CropParameters{.size = size_}}, {}, size_, size_});
    } else {
      --at;
    }
    auto& geometry = std::get<Geometry>(at->action);
    bool& flipped = flip.axis == FlipParameters::Axis::kHorizontal ? geometry.flip_horizontal : geometry.flip_vertical;
    flipped = !flipped;
    at->ops.push_back(op);
  }

  void Add(int op, const ColorParameters& color) {
    auto* colors = Last<Coloring>();
    if (colors == nullptr) return Append(op, Coloring{{color}}, size_);
    colors->ops.push_back(color);
    steps_.back().ops.push_back(op);
  }

  void Add(int op, const OwnParameters& own) { Append(op, own, own.size); }

  template <typename Other>
  void Add(int op, const Other& other) {
    Append(op, other, size_);
  }

  // Removes from the end, and returns, the color ops that may as well follow `crop`. There are none where the crop pads
  // with a color, since padding must not be colored.
  Step TakeColorsAfter(const CropParameters& crop) {
    Step taken;
    auto* colors = Last<Coloring>();
    if (colors == nullptr || (crop.padding == v1::PADDING_MODE_CONSTANT && !Inside(crop, size_))) return taken;
    std::vector<ColorParameters>& all = colors->ops;
    const auto kept = std::find_if(all.rbegin(), all.rend(), LooksAtWhole).base() - all.begin();
    std::vector<int>& all_ops = steps_.back().ops;
    taken.action = Coloring{{all.begin() + kept, all.end()}};
    taken.ops.assign(all_ops.begin() + kept, all_ops.end());
    all.resize(kept);
    all_ops.resize(kept);
    if (kept == 0) steps_.pop_back();
    return taken;
  }

  std::vector<Step> steps_;  // No Coloring follows another one.
  ImageSize size_;           // the image's size after steps_
  const ImageSize source_;   // the image's size before them
};

}  // namespace

bool Geometry::identity(ImageSize size) const {
  return RegionOf(crop) == WholeOf(size) && !resize.has_value() && !flip_horizontal && !flip_vertical;
}

bool Step::in_place() const {
  return std::holds_alternative<Coloring>(action) || std::holds_alternative<EraseParameters>(action) ||
         std::holds_alternative<MaskParameters>(action) || std::holds_alternative<NoiseParameters>(action) ||
         std::holds_alternative<RecompressParameters>(action);
}

bool LooksAtWhole(const ColorParameters& op) {
  using Kind = ColorParameters::Kind;
  return op.kind == Kind::kContrast || op.kind == Kind::kAutocontrast || op.kind == Kind::kEqualize;
}

FusedOps Fuse(ImageSize size, std::span<const OpParameters> ops) {
  Fuser fuser(size);
  for (size_t i = 0; i < ops.size(); ++i) fuser.Add(static_cast<int>(i), ops[i]);
  return fuser.Finish();
}

}  // namespace stoker
