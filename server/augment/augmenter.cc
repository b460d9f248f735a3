#include "server/augment/augmenter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <variant>

#include "common/check.h"
#include "server/augment/scratch.h"

namespace stoker {
namespace {

constexpr int64_t kChannels = 3;

// The pixels at hand of an image, and where they lie in it.
struct Part {
  ImageView view;
  Region region;
};

Part PackedImage(const uint8_t* pixels, ImageSize size) {
  return {{pixels, size, static_cast<ptrdiff_t>(size.width * kChannels)}, WholeOf(size)};
}

int64_t Bytes(ImageSize size) { return size.height * size.width * kChannels; }

Region RegionOf(const CropParameters& crop) { return {crop.top, crop.left, crop.size}; }

ImageSize SizeAfter(const CropParameters& crop, ImageSize) { return crop.size; }
ImageSize SizeAfter(const ResizeParameters& resize, ImageSize) { return resize.size; }
ImageSize SizeAfter(const FlipParameters&, ImageSize size) { return size; }

void Fill(const std::array<uint8_t, 3>& color, int64_t pixels, uint8_t* out) {
  for (int64_t x = 0; x < pixels; ++x) std::copy(color.begin(), color.end(), out + x * kChannels);
}

// Pixels inside of the image that are not at hand are filled too; no later op looks at them.
void Crop(const Part& in, const CropParameters& crop, uint8_t* out) {
  const Region copied = in.region.Intersection(RegionOf(crop));
  for (int64_t y = crop.top; y < crop.top + crop.size.height; ++y, out += crop.size.width * kChannels) {
    if (copied.empty() || y < copied.top || y >= copied.bottom()) {
      Fill(crop.fill, crop.size.width, out);
      continue;
    }
    const int64_t before = copied.left - crop.left, after = crop.left + crop.size.width - copied.right();
    Fill(crop.fill, before, out);
    std::memcpy(out + before * kChannels, in.view.Row(y - in.region.top) + (copied.left - in.region.left) * kChannels,
                copied.size.width * kChannels);
    Fill(crop.fill, after, out + (before + copied.size.width) * kChannels);
  }
}

void MirrorRow(const uint8_t* in, int64_t width, uint8_t* out) {
  for (int64_t x = 0; x < width; ++x)
    for (int64_t channel = 0; channel < kChannels; ++channel)
      out[x * kChannels + channel] = in[(width - 1 - x) * kChannels + channel];
}

void Flip(const ImageView& in, FlipParameters::Axis axis, uint8_t* out) {
  const auto [height, width] = in.size;
  for (int64_t y = 0; y < height; ++y, out += width * kChannels) {
    if (axis == FlipParameters::Axis::kHorizontal) {
      MirrorRow(in.Row(y), width, out);
    } else {
      std::memcpy(out, in.Row(height - 1 - y), width * kChannels);
    }
  }
}

// Makes `in` what `op` leaves of it if that takes no new pixels.
bool Narrow(const OpParameters& op, Part& in) {
  const auto* crop = std::get_if<CropParameters>(&op);
  if (crop == nullptr || !in.region.Contains(RegionOf(*crop))) return false;
  const uint8_t* pixels = in.view.Row(crop->top - in.region.top) + (crop->left - in.region.left) * kChannels;
  in = {{pixels, crop->size, in.view.stride}, WholeOf(crop->size)};
  return true;
}

struct Run {
  const Part& in;
  Resizer& resizer;
  uint8_t* out;

  void operator()(const CropParameters& crop) const { Crop(in, crop, out); }
  void operator()(const ResizeParameters& resize) const { resizer.Resize(in.view, resize, out); }
  void operator()(const FlipParameters& flip) const { Flip(in.view, flip.axis, out); }
};

}  // namespace

Region Augmenter::Needed(ImageSize size, std::span<const OpParameters> ops) {
  Region needed = WholeOf(size);
  int64_t top = 0, left = 0;  // Of what the crops so far leave, in the image.
  for (const OpParameters& op : ops) {
    const auto* crop = std::get_if<CropParameters>(&op);
    if (crop == nullptr) break;
    top += crop->top;
    left += crop->left;
    needed = needed.Intersection({top, left, crop->size});
  }
  return needed.empty() ? Region{0, 0, {1, 1}} : needed;
}

void Augmenter::Apply(const ImageView& part, const Region& region, ImageSize whole, std::span<const OpParameters> ops,
                      std::span<uint8_t> out) {
  STOKER_CHECK(part.size == region.size && region.Contains(Needed(whole, ops)));
  if (ops.empty()) return Apply(part, region, whole, std::array<OpParameters, 1>{CropParameters{.size = whole}}, out);
  Part image = {part, region};
  for (const OpParameters& op : ops) {
    const bool last = &op == &ops.back();
    if (!last && Narrow(op, image)) continue;
    const ImageSize size =
        std::visit([&](const auto& parameters) { return SizeAfter(parameters, image.region.size); }, op);
    if (last) STOKER_CHECK(static_cast<int64_t>(out.size()) == Bytes(size));
    uint8_t* target = last ? out.data() : Reserve(Bytes(size), back_);
    std::visit(Run{image, resizer_, target}, op);
    image = PackedImage(target, size);
    if (!last) std::swap(front_, back_);
  }
}

}  // namespace stoker
