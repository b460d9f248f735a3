#ifndef STOKER_TESTS_UNIT_SERVER_AUGMENT_GOLDEN_PIXELS_H_
#define STOKER_TESTS_UNIT_SERVER_AUGMENT_GOLDEN_PIXELS_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"

namespace stoker {

using Bytes = std::vector<uint8_t>;

inline Bytes FromHex(const char* hex) {
  const std::string bytes = absl::HexStringToBytes(hex);
  return Bytes(bytes.begin(), bytes.end());
}

// Returns the largest difference between two pictures of the same size.
inline int LargestDifference(const Bytes& a, const Bytes& b) {
  int largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_AUGMENT_GOLDEN_PIXELS_H_
