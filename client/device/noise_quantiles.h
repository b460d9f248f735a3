#ifndef STOKER_CLIENT_DEVICE_NOISE_QUANTILES_H_
#define STOKER_CLIENT_DEVICE_NOISE_QUANTILES_H_

#include <vector>

namespace stoker {

// Returns the standard normal number that each 16 random bits stand for: where each of 2^16 equally likely parts of the
// distribution has its middle, in ascending order. Every machine has the same bits. Thread-safe; the table is made by
// the first call and kept.
const std::vector<float>& NoiseQuantiles();

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_NOISE_QUANTILES_H_
