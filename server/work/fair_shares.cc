#include "server/work/fair_shares.h"

#include <algorithm>
#include <numeric>

namespace stoker {

std::vector<double> FairShares(const std::vector<uint32_t>& most_percent) {
  const auto bound = [&](size_t party) { return most_percent[party] == 0 ? 1.0 : most_percent[party] / 100.0; };
  std::vector<size_t> order(most_percent.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bound(a) < bound(b); });
  std::vector<double> shares(most_percent.size());
  double left = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    shares[order[i]] = std::min(bound(order[i]), left / static_cast<double>(order.size() - i));
    left -= shares[order[i]];
  }
  return shares;
}

}  // namespace stoker
