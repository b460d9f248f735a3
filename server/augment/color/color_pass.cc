#include "server/augment/color/color_pass.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/augment/color/color_pass.cc"
#include "hwy/foreach_target.h"
// foreach_target.h must come first: all that follows it is compiled once for each target.
#include "hwy/highway.h"
#include "server/augment/color/hue-inl.h"
#include "server/augment/color/levels-inl.h"
#include "server/augment/color/ycbcr.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace {

// Pixels of a block. It is taken through all steps while it is in the nearest cache. The number is a multiple of every
// vector's lanes, so that no step has a rest. Pixels of the last block beyond the image have any color.
constexpr int64_t kBlock = 512;

// A block's pixels with their channels apart.
struct Block {
  HWY_ALIGN_MAX uint8_t red[kBlock], green[kBlock], blue[kBlock];
};

using WideTag = hn::ScalableTag<uint8_t>;
using Bytes = hn::Vec<WideTag>;

void LoadBlock(const uint8_t* pixels, int64_t count, Block& block) {
  const WideTag d;
  const int64_t lanes = hn::Lanes(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Bytes red, green, blue;
    hn::LoadInterleaved3(d, pixels + 3 * i, red, green, blue);
    hn::Store(red, d, block.red + i);
    hn::Store(green, d, block.green + i);
    hn::Store(blue, d, block.blue + i);
  }
  for (; i < count; ++i) {
    block.red[i] = pixels[3 * i];
    block.green[i] = pixels[3 * i + 1];
    block.blue[i] = pixels[3 * i + 2];
  }
}

void StoreBlock(const Block& block, int64_t count, uint8_t* pixels) {
  const WideTag d;
  const int64_t lanes = hn::Lanes(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreInterleaved3(hn::Load(d, block.red + i), hn::Load(d, block.green + i), hn::Load(d, block.blue + i), d,
                          pixels + 3 * i);
  for (; i < count; ++i) {
    pixels[3 * i] = block.red[i];
    pixels[3 * i + 1] = block.green[i];
    pixels[3 * i + 2] = block.blue[i];
  }
}

#if HWY_TARGET == HWY_SCALAR
void LookUp(const std::array<uint8_t, 256>& table, uint8_t* levels) {
  for (int64_t i = 0; i < kBlock; ++i) levels[i] = table[levels[i]];
}
#else
// Looks up levels in a table of kParts × 16 entries. The `lower` 4 bits of a level choose an entry in each 16, and
// `choose` picks between the halves of the table by a bit of the upper ones.
template <int kParts, typename Choose>
HWY_INLINE Bytes LookUpParts(const uint8_t* table, Bytes lower, const Choose& choose) {
  if constexpr (kParts == 1) {
    return hn::TableLookupBytes(hn::LoadDup128(WideTag(), table), lower);
  } else {
    return choose(kParts * 8, LookUpParts<kParts / 2>(table + kParts * 8, lower, choose),
                  LookUpParts<kParts / 2>(table, lower, choose));
  }
}

void LookUp(const std::array<uint8_t, 256>& table, uint8_t* levels) {
  const WideTag d;
  for (int64_t i = 0; i < kBlock; i += hn::Lanes(d)) {
    const Bytes in = hn::Load(d, levels + i);
    const auto bit = [&](uint8_t value) HWY_ATTR { return hn::TestBit(in, hn::Set(d, value)); };
    const auto bit128 = bit(128), bit64 = bit(64), bit32 = bit(32), bit16 = bit(16);
    const auto choose = [&](int value, Bytes if_set, Bytes if_not) HWY_ATTR {
      return hn::IfThenElse(value == 128 ? bit128 : value == 64 ? bit64 : value == 32 ? bit32 : bit16, if_set, if_not);
    };
    hn::Store(LookUpParts<16>(table.data(), hn::And(in, hn::Set(d, 15)), choose), d, levels + i);
  }
}
#endif

template <typename NewColors>
void ForEachColors(Block& block, const NewColors& new_colors) {
  for (int64_t i = 0; i < kBlock; i += hn::Lanes(ShortTag())) {
    const Levels red = LoadLevels(block.red + i), green = LoadLevels(block.green + i);
    const Levels blue = LoadLevels(block.blue + i);
    const ColorVectors a = new_colors({red.a, green.a, blue.a}), b = new_colors({red.b, green.b, blue.b});
    StoreLevels({a.red, b.red}, block.red + i);
    StoreLevels({a.green, b.green}, block.green + i);
    StoreLevels({a.blue, b.blue}, block.blue + i);
  }
}

// Calls with_luma(i, luma) for each vector of lumas; i is the first of its pixels.
template <typename WithLuma>
void ForEachLuma(const Block& block, const WithLuma& with_luma) {
  for (int64_t i = 0; i < kBlock; i += hn::Lanes(ShortTag()))
    with_luma(i, Luma(LoadShorts(block.red + i), LoadShorts(block.green + i), LoadShorts(block.blue + i)));
}

void Saturate(float factor, Block& block) {
  const Floats alpha = hn::Set(FloatTag(), factor);
  ForEachLuma(block, [&](int64_t i, Shorts luma) HWY_ATTR {
    const Levels gray = ToLevels(luma);
    for (uint8_t* plane : {block.red, block.green, block.blue}) {
      const Levels in = LoadLevels(plane + i);
      StoreLevels({Blend(gray.a, in.a, alpha), Blend(gray.b, in.b, alpha)}, plane + i);
    }
  });
}

void Desaturate(Block& block) {
  ForEachLuma(block, [&](int64_t i, Shorts luma) HWY_ATTR {
    const auto gray = hn::DemoteTo(ByteTag(), luma);
    for (uint8_t* plane : {block.red, block.green, block.blue}) hn::StoreU(gray, ByteTag(), plane + i);
  });
}

void RunStep(const ColorStep& step, Block& block) {
  switch (step.kind) {
    case ColorStep::Kind::kTable:
      LookUp(step.table[0], block.red);
      LookUp(step.table[1], block.green);
      LookUp(step.table[2], block.blue);
      return;
    case ColorStep::Kind::kSaturation: return Saturate(step.factor, block);
    // Hue takes two loops, because in a single one the chain of operations is too long to overlap with the next.
    case ColorStep::Kind::kHue: {
      const float shift = static_cast<float>(step.shift);
      ForEachColors(block, [](const ColorVectors& rgb) HWY_ATTR { return ToHsv(rgb); });
      return ForEachColors(block, [&](const ColorVectors& hsv) HWY_ATTR { return FromHsv(hsv, shift); });
    }
    case ColorStep::Kind::kGrayscale: return Desaturate(block);
    case ColorStep::Kind::kYCbCr: return ToYCbCr(kBlock, block.red, block.green, block.blue);
  }
}

uint64_t SumLuma(Block& block, int64_t count) {
  for (uint8_t* plane : {block.red, block.green, block.blue}) std::fill(plane + count, plane + kBlock, 0);
  HWY_ALIGN_MAX uint8_t gray[kBlock];
  ForEachLuma(block,
              [&](int64_t i, Shorts luma) HWY_ATTR { hn::StoreU(hn::DemoteTo(ByteTag(), luma), ByteTag(), gray + i); });
  const WideTag d;
  const hn::Repartition<uint64_t, WideTag> d_sum;
  auto sum = hn::Zero(d_sum);
  for (int64_t i = 0; i < kBlock; i += hn::Lanes(d)) sum = hn::Add(sum, hn::SumsOf8(hn::Load(d, gray + i)));
  return hn::GetLane(hn::SumOfLanes(d_sum, sum));
}

void Count(const Block& block, int64_t count, Histogram& histogram) {
  for (int64_t i = 0; i < count; ++i) {
    ++histogram[0][block.red[i]];
    ++histogram[1][block.green[i]];
    ++histogram[2][block.blue[i]];
  }
}

ImageFigures RunColorPass(std::span<const ColorStep> steps, Figures figures, int64_t count, uint8_t* pixels) {
  ImageFigures measured;
  Block block = {};
  for (int64_t first = 0; first < count; first += kBlock) {
    const int64_t size = std::min(kBlock, count - first);
    LoadBlock(pixels + 3 * first, size, block);
    for (const ColorStep& step : steps) RunStep(step, block);
    if (!steps.empty()) StoreBlock(block, size, pixels + 3 * first);
    if (figures == Figures::kLumaSum) measured.luma_sum += SumLuma(block, size);
    if (figures == Figures::kHistogram) Count(block, size, measured.histogram);
  }
  return measured;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {
namespace {

HWY_EXPORT(RunColorPass);

}  // namespace

ImageFigures RunColorPass(std::span<const ColorStep> steps, Figures figures, int64_t count, uint8_t* pixels) {
  return HWY_DYNAMIC_DISPATCH(RunColorPass)(steps, figures, count, pixels);
}

}  // namespace stoker
#endif  // HWY_ONCE
