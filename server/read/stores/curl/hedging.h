#ifndef STOKER_SERVER_READ_STORES_CURL_HEDGING_H_
#define STOKER_SERVER_READ_STORES_CURL_HEDGING_H_

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/time/time.h"

namespace stoker {

// Which reads are asked for a second time, because their first byte is late: those that take twice as long as 95 of 100
// do, and one of twenty at most, so that a server that is slow as a whole gets hardly more to do. The source is Dean
// and Barroso, "The Tail at Scale", Communications of the ACM 56(2), 2013. One thread at a time.
class Hedging {
 public:
  // No first byte is late before `least`.
  explicit Hedging(absl::Duration least) : least_(least) {}

  // Counts a read whose first byte took so long, or had not come after so long.
  void OnFirstByte(absl::Duration taken) {
    last_[count_++ % kLast] = taken;
    budget_ = std::min(kMostAtOnce, budget_ + kPart);
    if (count_ < kFewest || count_ % kEvery != 0) return;
    auto sorted = last_;
    const auto end = sorted.begin() + static_cast<ptrdiff_t>(std::min(count_, kLast));
    const auto usual = sorted.begin() + (end - sorted.begin()) * 95 / 100;
    std::nth_element(sorted.begin(), usual, end);
    patience_ = std::max(least_, 2 * *usual);
  }

  // Returns how long after a read's begin its first byte is late. It is infinite until enough are known.
  absl::Duration patience() const { return patience_; }

  // Whether one more read may be hedged; if so, it is counted.
  bool Take() {
    if (budget_ < 1) return false;
    budget_ -= 1;
    return true;
  }

 private:
  static constexpr size_t kLast = 256, kFewest = 32, kEvery = 32;
  static constexpr double kPart = 0.05, kMostAtOnce = 4;

  const absl::Duration least_;
  std::array<absl::Duration, kLast> last_;
  size_t count_ = 0;
  double budget_ = 0;
  absl::Duration patience_ = absl::InfiniteDuration();
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_CURL_HEDGING_H_
