#include "common/identity/elementary.h"

#include <array>
#include <cmath>
#include <cstddef>
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

// Returns a[0] + a[1] x + a[2] x² + …, by Horner's rule.
template <size_t kCount>
double Polynomial(const std::array<double, kCount>& a, double x) {
  double sum = 0;
  for (size_t i = kCount; i > 0; --i) sum = sum * x + a[i - 1];
  return sum;
}

// AS 241's quotients of polynomials: for p near 1/2, and for the tails.
constexpr std::array<double, 8> kMiddleUpper = {
    3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
    4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr std::array<double, 8> kMiddleLower = {1.0,
                                                4.2313330701600911252e1,
                                                6.8718700749205790830e2,
                                                5.3941960214247511077e3,
                                                2.1213794301586595867e4,
                                                3.9307895800092710610e4,
                                                2.8729085735721942674e4,
                                                5.2264952788528545610e3};
constexpr std::array<double, 8> kTailUpper = {
    1.42343711074968357734e0, 4.63033784615654529590e0,  5.76949722146069140550e0,  3.64784832476320460504e0,
    1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr std::array<double, 8> kTailLower = {1.0,
                                              2.05319162663775882187e0,
                                              1.67638483018380384940e0,
                                              6.89767334985100004550e-1,
                                              1.48103976427480074590e-1,
                                              1.51986665636164571966e-2,
                                              5.47593808499534494600e-4,
                                              1.05075007164441684324e-9};

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

double DeterministicNormalQuantile(double p) {
  STOKER_CHECK(p >= 1e-10 && p <= 1 - 1e-10);
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * Polynomial(kMiddleUpper, r) / Polynomial(kMiddleLower, r);
  }
  const double r = std::sqrt(-DeterministicLog(q < 0 ? p : 1 - p)) - 1.6;
  const double tail = Polynomial(kTailUpper, r) / Polynomial(kTailLower, r);
  return q < 0 ? -tail : tail;
}

}  // namespace stoker
