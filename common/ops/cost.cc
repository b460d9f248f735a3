#include "common/ops/cost.h"

namespace stoker {

Cost CostOfResize(v1::Interpolation interpolation, ImageSize input, ImageSize output) {
  const double support = interpolation == v1::INTERPOLATION_LANCZOS   ? 3
                         : interpolation == v1::INTERPOLATION_BICUBIC ? 2
                         : interpolation == v1::INTERPOLATION_NEAREST ? 0.5
                                                                      : 1;
  const auto taps = [&](int64_t from, int64_t to) {
    return 2 * support * std::max(1.0, static_cast<double>(from) / static_cast<double>(to));
  };
  const ImageSize between = {input.height, output.width};
  return {
      6 * Pixels(between) * taps(input.width, output.width) + 6 * Pixels(output) * taps(input.height, output.height),
      3 * Pixels(between) + 3 * Pixels(output)};
}

}  // namespace stoker
