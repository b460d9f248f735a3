#ifndef STOKER_COMMON_IDENTITY_ELEMENTARY_H_
#define STOKER_COMMON_IDENTITY_ELEMENTARY_H_

namespace stoker {

// exp, log, sin and cos from + − × ÷ alone, so that every CPU gives the same bits. glibc's functions do not: on a CPU
// with FMA they run other code, whose last bits differ. The relative error of exp and log, and the absolute error of
// sin and cos, is below 4e-16. Pure functions, thread-safe.

// Returns e^x. Requires |x| ≤ 700.
double DeterministicExp(double x);

// Returns the natural logarithm of x. Requires a positive, normal x.
double DeterministicLog(double x);

// Return the sine and cosine of an angle in degrees, exact at multiples of 90. Require a finite angle.
double DeterministicSinDegrees(double degrees);
double DeterministicCosDegrees(double degrees);

// Returns what a standard normal variable is below with probability p, with a relative error of about 1e-15: Wichura,
// "Algorithm AS 241: The Percentage Points of the Normal Distribution" (1988), PPND16. Requires 1e-10 ≤ p ≤ 1 − 1e-10.
double DeterministicNormalQuantile(double p);

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_ELEMENTARY_H_
