#include "common/identity/elementary.h"

#include <cmath>
#include <numbers>

#include "common/check.h"

namespace stoker {
namespace {

// ln 2 is the sum of these two. The upper part has 32 bits, so that its product with a small whole number is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// These are Taylor's series, for |x| ≤ π / 4: the first terms that they leave out are below 1e-18.
double SinSeries(double x) {
  double sum = 1;
  for (int n = 17; n >= 3; n -= 2) sum = 1 - x * x * sum / (n * (n - 1));
  return x * sum;
}

double CosSeries(double x) {
  double sum = 1;
  for (int n = 18; n >= 2; n -= 2) sum = 1 - x * x * sum / (n * (n - 1));
  return sum;
}

// Returns the sine of `degrees` plus `quarters` right angles.
double SinOfQuarters(double degrees, int quarters) {
  const double turn = std::fmod(degrees, 360);  // This is exact, and so are `nearest` and the difference below.
  const double nearest = std::floor(turn / 90 + 0.5);
  const double radians = (turn - nearest * 90) * (std::numbers::pi / 180);
  switch ((static_cast<int>(nearest) + quarters) & 3) {
    case 0: return SinSeries(radians);
    case 1: return CosSeries(radians);
    case 2: return -SinSeries(radians);
    default: return -CosSeries(radians);
  }
}

}  // namespace

double DeterministicExp(double x) {
  STOKER_CHECK(x >= -700 && x <= 700);
  const double k = std::floor(x / std::numbers::ln2 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| ≤ ln 2 / 2
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + r * sum / n;  // Taylor's series: the next term is below 1e-19.
  return std::ldexp(sum, static_cast<int>(k));
}

double DeterministicLog(double x) {
  STOKER_CHECK(std::isnormal(x) && x > 0);
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < std::numbers::sqrt2 / 2) {
    m *= 2;
    --exponent;
  }
  // log m = 2 artanh(s) with s = (m − 1) / (m + 1). Since |s| ≤ 0.172, the series' next term is below 1e-19.
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double sum = 0;
  for (int n = 23; n >= 3; n -= 2) sum = s2 * (1.0 / n + sum);
  return exponent * kLn2High + (exponent * kLn2Low + 2 * s * sum + 2 * s);
}

double DeterministicSinDegrees(double degrees) {
  STOKER_CHECK(std::isfinite(degrees));
  return SinOfQuarters(degrees, 0);
}

double DeterministicCosDegrees(double degrees) {
  STOKER_CHECK(std::isfinite(degrees));
  return SinOfQuarters(degrees, 1);
}

}  // namespace stoker
