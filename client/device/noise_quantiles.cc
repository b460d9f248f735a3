#include "client/device/noise_quantiles.h"

#include "common/identity/elementary.h"

namespace stoker {

const std::vector<float>& NoiseQuantiles() {
  static const auto* const quantiles = [] {
    constexpr int kParts = 1 << 16;
    auto* all = new std::vector<float>(kParts);
    for (int i = 0; i < kParts; ++i) (*all)[i] = static_cast<float>(DeterministicNormalQuantile((i + 0.5) / kParts));
    return all;
  }();
  return *quantiles;
}

}  // namespace stoker
