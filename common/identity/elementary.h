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

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_ELEMENTARY_H_
