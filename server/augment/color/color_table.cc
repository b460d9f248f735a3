#include "server/augment/color/color_table.h"

#include <algorithm>

namespace stoker {
namespace {

using Levels = std::array<uint8_t, 256>;

template <typename LevelOf>
Levels MakeLevels(const LevelOf& level_of) {
  Levels levels;
  for (int level = 0; level < 256; ++level) levels[level] = static_cast<uint8_t>(level_of(level));
  return levels;
}

template <typename LevelOf>
ColorTable SameForAll(const LevelOf& level_of) {
  const Levels levels = MakeLevels(level_of);
  return {levels, levels, levels};
}

Levels Identity() {
  return MakeLevels([](int level) { return level; });
}

Levels Autocontrast(const std::array<uint32_t, 256>& counts) {
  int low = 0, high = 255;
  while (low < 255 && counts[low] == 0) ++low;
  while (high > 0 && counts[high] == 0) --high;
  if (high <= low) return Identity();
  const double scale = 255.0 / (high - low), offset = -low * scale;
  return MakeLevels([&](int level) { return std::clamp(static_cast<int>(level * scale + offset), 0, 255); });
}

Levels Equalize(const std::array<uint32_t, 256>& counts) {
  uint64_t pixels = 0, of_last_level = 0;
  for (uint32_t count : counts) {
    pixels += count;
    if (count != 0) of_last_level = count;
  }
  const uint64_t step = (pixels - of_last_level) / 255;
  if (step == 0) return Identity();
  uint64_t sum = step / 2;
  return MakeLevels([&](int level) {
    const uint64_t equalized = sum / step;
    sum += counts[level];
    return std::min<uint64_t>(equalized, 255);
  });
}

}  // namespace

ColorTable Compose(const ColorTable& first, const ColorTable& second) {
  ColorTable both;
  for (int channel = 0; channel < 3; ++channel)
    both[channel] = MakeLevels([&](int level) { return second[channel][first[channel][level]]; });
  return both;
}

ColorTable BlendTable(uint8_t from, double factor) {
  const float alpha = static_cast<float>(factor);
  return SameForAll([&](int level) {
    const float blended = static_cast<float>(from) + alpha * static_cast<float>(level - from);
    return std::clamp(blended, 0.0f, 255.0f);
  });
}

ColorTable PosterizeTable(int bits) {
  return SameForAll([&](int level) { return level & ~((1 << (8 - bits)) - 1); });
}

ColorTable SolarizeTable(double threshold) {
  return SameForAll([&](int level) { return level < threshold ? level : 255 - level; });
}

ColorTable AutocontrastTable(const Histogram& histogram) {
  return {Autocontrast(histogram[0]), Autocontrast(histogram[1]), Autocontrast(histogram[2])};
}

ColorTable EqualizeTable(const Histogram& histogram) {
  return {Equalize(histogram[0]), Equalize(histogram[1]), Equalize(histogram[2])};
}

}  // namespace stoker
