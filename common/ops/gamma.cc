#include "common/ops/gamma.h"

#include <cmath>

#include "common/identity/elementary.h"

namespace stoker {
namespace {

// Above 0 and up to 1.
double DrawPositive(Draws& draws) { return 1 - draws.Uniform(0, 1); }

// Box and Muller, "A Note on the Generation of Random Normal Deviates" (1958); one of the two.
double DrawNormal(Draws& draws) {
  const double radius = std::sqrt(-2 * DeterministicLog(DrawPositive(draws)));
  return radius * DeterministicCosDegrees(draws.Uniform(0, 360));
}

}  // namespace

// Below 1 by way of alpha + 1, as the paper has it.
double DrawLogGamma(double alpha, Draws& draws) {
  if (alpha < 1) return DrawLogGamma(alpha + 1, draws) + DeterministicLog(DrawPositive(draws)) / alpha;
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = DrawNormal(draws), root = 1 + c * x, v = root * root * root;
    if (!(root > 0)) continue;
    const double log_v = 3 * DeterministicLog(root);
    if (DeterministicLog(DrawPositive(draws)) < 0.5 * x * x + d - d * v + d * log_v) return DeterministicLog(d) + log_v;
  }
}

}  // namespace stoker
