#include "server/augment/erase.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/check.h"
#include "common/identity/draws.h"
#include "server/augment/pixel.h"
#include "server/decode/image.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/augment/erase.cc"
#include "hwy/foreach_target.h"
// foreach_target.h must come first: all that follows it is compiled once for each target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Writes 255 for each of `bits` that is at most `last`, and 0 for the others.
void Draw(const uint16_t* bits, uint16_t last, int64_t count, uint8_t* drawn) {
  const auto draw = [&](auto d, int64_t i) HWY_ATTR {
    const hn::Rebind<int8_t, decltype(d)> d_drawn;
    const auto is_drawn =
        hn::VecFromMask(d, hn::Eq(hn::SaturatedSub(hn::LoadU(d, bits + i), hn::Set(d, last)), hn::Zero(d)));
    const auto minus_one = hn::DemoteTo(d_drawn, hn::BitCast(hn::RebindToSigned<decltype(d)>(), is_drawn));
    hn::StoreU(minus_one, d_drawn, reinterpret_cast<int8_t*>(drawn) + i);
  };
  const hn::ScalableTag<uint16_t> d;
  const int64_t lanes = hn::Lanes(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) draw(d, i);
  for (; i < count; ++i) draw(hn::CappedTag<uint16_t, 1>(), i);
}

// Blackens the pixels of a row for which `drawn` is 255 and not 0. With `dilate` it also blackens their four neighbors.
// Rows of `drawn` are `stride` bytes apart.
void BlackenRow(const uint8_t* drawn, int64_t stride, bool dilate, int64_t width, uint8_t* pixels) {
  const auto blacken = [&](auto d, int64_t x) HWY_ATTR {
    auto black = hn::LoadU(d, drawn + x);
    if (dilate) {
      const auto beside = hn::Or(hn::LoadU(d, drawn + x - 1), hn::LoadU(d, drawn + x + 1));
      black = hn::Or(black, hn::Or(beside, hn::Or(hn::LoadU(d, drawn + x - stride), hn::LoadU(d, drawn + x + stride))));
    }
    hn::Vec<decltype(d)> red, green, blue;
    hn::LoadInterleaved3(d, pixels + 3 * x, red, green, blue);
    hn::StoreInterleaved3(hn::AndNot(black, red), hn::AndNot(black, green), hn::AndNot(black, blue), d, pixels + 3 * x);
  };
  const hn::ScalableTag<uint8_t> d;
  const int64_t lanes = hn::Lanes(d);
  int64_t x = 0;
  for (; x + lanes <= width; x += lanes) blacken(d, x);
  for (; x < width; ++x) blacken(hn::CappedTag<uint8_t, 1>(), x);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {
namespace {

HWY_EXPORT(Draw);
HWY_EXPORT(BlackenRow);

// Draws 16 bits for each pixel.
std::vector<uint16_t> DrawBits(const DrawKey& key, int64_t pixels) {
  std::vector<uint32_t> words((pixels + 1) / 2);
  Draws(key).Fill(words);
  std::vector<uint16_t> bits(words.size() * 2);
  for (size_t i = 0; i < words.size(); ++i) {
    bits[2 * i] = static_cast<uint16_t>(words[i]);
    bits[2 * i + 1] = static_cast<uint16_t>(words[i] >> 16);
  }
  return bits;
}

// Returns 255 for each pixel that is drawn and 0 for the others. Around the image is one more row and column of zeros
// on each side.
std::vector<uint8_t> DrawPixels(const MaskParameters& mask, ImageSize size) {
  const int64_t stride = size.width + 2;
  std::vector<uint8_t> drawn((size.height + 2) * stride);
  const int limit = static_cast<int>(std::ceil(std::clamp(mask.ratio, 0.0, 1.0) * 0x1p16));
  if (limit == 0) return drawn;
  const std::vector<uint16_t> bits = DrawBits(mask.key, size.height * size.width);
  const auto draw = HWY_DYNAMIC_DISPATCH(Draw);
  for (int64_t y = 0; y < size.height; ++y)
    draw(bits.data() + y * size.width, static_cast<uint16_t>(limit - 1), size.width,
         drawn.data() + (y + 1) * stride + 1);
  return drawn;
}

}  // namespace

void EraseRectangle(const EraseParameters& erase, ImageSize size, uint8_t* pixels) {
  STOKER_CHECK(WholeOf(size).Contains({erase.top, erase.left, erase.size}));
  for (int64_t y = erase.top; y < erase.top + erase.size.height; ++y)
    FillPixels(erase.value, erase.size.width, pixels + (y * size.width + erase.left) * kChannels);
}

void MaskPixels(const MaskParameters& mask, ImageSize size, uint8_t* pixels) {
  const std::vector<uint8_t> drawn = DrawPixels(mask, size);
  const int64_t stride = size.width + 2;
  const auto blacken_row = HWY_DYNAMIC_DISPATCH(BlackenRow);
  for (int64_t y = 0; y < size.height; ++y)
    blacken_row(drawn.data() + (y + 1) * stride + 1, stride, mask.dilate, size.width,
                pixels + y * size.width * kChannels);
}

}  // namespace stoker
#endif  // HWY_ONCE
