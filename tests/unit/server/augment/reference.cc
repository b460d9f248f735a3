#include "tests/unit/server/augment/reference.h"

#include <algorithm>

#include "common/ops/loaded_ops.h"
#include "gtest/gtest.h"
#include "server/augment/affine.h"
#include "server/augment/chain_mixer.h"
#include "server/augment/color/color.h"
#include "server/augment/elastic.h"
#include "server/augment/erase.h"
#include "server/augment/noise.h"
#include "server/augment/recompress.h"
#include "server/augment/resize/resize.h"
#include "server/augment/smooth.h"

namespace stoker {
namespace {

ReferenceImage Blank(ImageSize size) { return {size, std::vector<uint8_t>(size.height * size.width * 3)}; }

// An image of `size` whose pixel at y, x is the one `at` points to.
template <typename At>
ReferenceImage Map(ImageSize size, const At& at) {
  ReferenceImage out = {size, {}};
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x) out.pixels.insert(out.pixels.end(), at(y, x), at(y, x) + 3);
  return out;
}

// numpy.pad's modes, walking outward a pixel at a time.
int64_t Padded(int64_t i, int64_t extent, v1::PaddingMode padding) {
  while (i < 0 || i >= extent) {
    if (padding == v1::PADDING_MODE_EDGE) return i < 0 ? 0 : extent - 1;
    const int64_t border = padding == v1::PADDING_MODE_REFLECT ? 0 : 1;
    i = i < 0 ? -i - border : 2 * extent - 2 - i + border;
  }
  return i;
}

struct Apply {
  const ReferenceImage& in;

  ReferenceImage operator()(const CropParameters& crop) const {
    return Map(crop.size, [&](int64_t y, int64_t x) {
      const int64_t row = crop.top + y, column = crop.left + x;
      const bool inside = row >= 0 && column >= 0 && row < in.size.height && column < in.size.width;
      if (!inside && crop.padding == v1::PADDING_MODE_CONSTANT) return crop.fill.data();
      return in.At(Padded(row, in.size.height, crop.padding), Padded(column, in.size.width, crop.padding));
    });
  }
  ReferenceImage operator()(const ResizeParameters& resize) const {
    ReferenceImage out = Blank(resize.size);
    const Box box = {0, 0, static_cast<double>(in.size.height), static_cast<double>(in.size.width)};
    Resizer().Resize({in.view(), box, resize.size, resize.interpolation, resize.antialias}, out.pixels.data());
    return out;
  }
  ReferenceImage operator()(const FlipParameters& flip) const {
    return Map(in.size, [&](int64_t y, int64_t x) {
      return flip.axis == FlipParameters::Axis::kHorizontal ? in.At(y, in.size.width - 1 - x)
                                                            : in.At(in.size.height - 1 - y, x);
    });
  }
  ReferenceImage operator()(const ColorParameters& color) const {
    ReferenceImage out = in;
    ApplyColors({&color, 1}, out.size, out.pixels.data());
    return out;
  }
  ReferenceImage operator()(const BlurParameters& blur) const {
    ReferenceImage out = Blank(in.size);
    Smoother().Blur(blur, in.view(), WholeOf(in.size), in.size, WholeOf(in.size), out.pixels.data());
    return out;
  }
  ReferenceImage operator()(const SharpnessParameters& sharpness) const {
    ReferenceImage out = Blank(in.size);
    Smoother().Sharpen(sharpness, in.view(), WholeOf(in.size), in.size, WholeOf(in.size), out.pixels.data());
    return out;
  }
  ReferenceImage operator()(const AffineParameters& warp) const {
    ReferenceImage out = Blank(in.size);
    ApplyAffine(warp, in.view(), out.pixels.data());
    return out;
  }
  ReferenceImage operator()(const EraseParameters& erase) const {
    ReferenceImage out = in;
    EraseRectangle(erase, out.size, out.pixels.data());
    return out;
  }
  ReferenceImage operator()(const MaskParameters& mask) const {
    ReferenceImage out = in;
    MaskPixels(mask, out.size, out.pixels.data());
    return out;
  }
  ReferenceImage operator()(const PerspectiveParameters& warp) const {
    ReferenceImage out = Blank(in.size);
    ApplyPerspective(warp, in.view(), out.pixels.data());
    return out;
  }
  ReferenceImage operator()(const ElasticParameters& elastic) const {
    ReferenceImage out = Blank(in.size);
    ApplyElastic(elastic, in.view(), out.pixels.data());
    return out;
  }
  ReferenceImage operator()(const NoiseParameters& noise) const {
    ReferenceImage out = in;
    AddNoise(noise, out.pixels);
    return out;
  }
  ReferenceImage operator()(const RecompressParameters& recompress) const {
    ReferenceImage out = in;
    EXPECT_TRUE(Recompressor().Run(recompress, out.size, out.pixels.data()).ok());
    return out;
  }
  ReferenceImage operator()(const MixedChainsParameters& mixed) const {
    ReferenceImage out = Blank(in.size);
    EXPECT_TRUE(ChainMixer().Run(mixed, {in.view(), WholeOf(in.size)}, out.pixels.data(), {}).ok());
    return out;
  }
  ReferenceImage operator()(const OwnParameters& own) const {
    ReferenceImage out = Blank(own.size);
    EXPECT_TRUE(own.op->Apply(own.values, own.key, in.pixels.data(), in.size, out.pixels.data(), out.size).ok());
    return out;
  }
};

}  // namespace

ReferenceImage ApplyOneByOne(ReferenceImage image, std::span<const OpParameters> ops) {
  for (const OpParameters& op : ops) image = std::visit(Apply{image}, op);
  return image;
}

}  // namespace stoker
