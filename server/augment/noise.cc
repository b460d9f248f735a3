#include "server/augment/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "common/identity/draws.h"
#include "common/identity/elementary.h"

namespace stoker {
namespace {

constexpr int kQuantiles = 1 << 16;

// Returns where each of equally likely parts of the standard normal distribution has its middle, in ascending order.
const std::vector<double>& NormalQuantiles() {
  static const auto* const quantiles = [] {
    auto* all = new std::vector<double>(kQuantiles);
    for (int i = 0; i < kQuantiles; ++i) (*all)[i] = DeterministicNormalQuantile((i + 0.5) / kQuantiles);
    return all;
  }();
  return *quantiles;
}

// Returns the noise in levels for each 16 bits. More than 255 levels change no value otherwise than 255 do.
std::vector<int16_t> LevelsByBits(double mean, double deviation) {
  const std::vector<double>& quantiles = NormalQuantiles();
  std::vector<int16_t> levels(kQuantiles);
  std::transform(quantiles.begin(), quantiles.end(), levels.begin(), [&](double quantile) {
    return static_cast<int16_t>(std::clamp((mean + deviation * quantile) * 255, -255.0, 255.0));
  });
  return levels;
}

uint8_t Added(uint8_t value, int16_t noise) { return static_cast<uint8_t>(std::clamp(value + noise, 0, 255)); }

}  // namespace

void AddNoise(const NoiseParameters& noise, std::span<uint8_t> values) {
  const std::vector<int16_t> levels = LevelsByBits(noise.mean, noise.deviation);
  Draws draws(noise.key);
  std::array<uint32_t, 1024> words;
  for (size_t begin = 0; begin < values.size(); begin += 2 * words.size()) {
    const std::span<uint8_t> part = values.subspan(begin, std::min(2 * words.size(), values.size() - begin));
    draws.Fill(words);
    for (size_t i = 0; i < part.size(); ++i)
      part[i] = Added(part[i], levels[static_cast<uint16_t>(words[i / 2] >> (i % 2 * 16))]);
  }
}

}  // namespace stoker
