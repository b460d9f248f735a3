#ifndef STOKER_SERVER_AUGMENT_NOISE_H_
#define STOKER_SERVER_AUGMENT_NOISE_H_

#include <cstdint>
#include <span>

#include "common/ops/parameters.h"

namespace stoker {

// Adds normal noise to each of `values` in place, as torchvision's gaussian_noise does to uint8: the noise is cut to a
// whole number of levels toward 0, and the sum to 0…255. Draws(key) gives 16 bits for each value, in order: the lower
// half of each 32 bits, then the upper half. With bits b the noise is what a normal variable is below with probability
// (b + 1/2) / 2^16, so that it lies within 4.3 standard deviations. Thread-safe; the same bytes on every CPU.
void AddNoise(const NoiseParameters& noise, std::span<uint8_t> values);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_NOISE_H_
