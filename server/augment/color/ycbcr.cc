#include "server/augment/color/ycbcr.h"

#include <array>

namespace stoker {
namespace {

// What each level of one channel adds to Y, Cb and Cr, in 1/64 level. All three are in one number, so that one addition
// adds them:
//
//   bit 42 on      41        21 20         0
//  +--------------+------------+------------+
//  | Cr           | Cb         | Y          |
//  +--------------+------------+------------+
//
// A channel's shares of Cb and Cr may be negative, and then borrow from the bits above. The sums over the three
// channels are not negative.
using Shares = std::array<int64_t, 256>;

constexpr int kBits = 21;
constexpr int64_t kMiddle = int64_t{128} << 6;  // the level 128 that Cb and Cr are centered on; red's shares include it

constexpr int64_t Share(double weight, int level) { return static_cast<int64_t>(level * weight * 64 + 0.5); }

constexpr Shares MakeShares(double y, double cb, double cr, int64_t middle) {
  Shares shares = {};
  for (int level = 0; level < 256; ++level)
    shares[level] = Share(y, level) + (Share(cb, level) + middle) * (int64_t{1} << kBits) +
                    (Share(cr, level) + middle) * (int64_t{1} << 2 * kBits);
  return shares;
}

constexpr Shares kRed = MakeShares(0.299, -0.16874, 0.5, kMiddle);
constexpr Shares kGreen = MakeShares(0.587, -0.33126, -0.41869, 0);
constexpr Shares kBlue = MakeShares(0.114, 0.5, -0.08131, 0);

}  // namespace

void ToYCbCr(size_t count, uint8_t* red, uint8_t* green, uint8_t* blue) {
  for (size_t i = 0; i < count; ++i) {
    const int64_t sum = kRed[red[i]] + kGreen[green[i]] + kBlue[blue[i]];
    red[i] = static_cast<uint8_t>(sum >> 6);
    green[i] = static_cast<uint8_t>(sum >> (kBits + 6));
    blue[i] = static_cast<uint8_t>(sum >> (2 * kBits + 6));
  }
}

}  // namespace stoker
