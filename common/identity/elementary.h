#ifndef STOKER_COMMON_IDENTITY_ELEMENTARY_H_
#define STOKER_COMMON_IDENTITY_ELEMENTARY_H_

namespace stoker {

// exp, log, sin and cos from + − × ÷ alone, so that every CPU gives the same bits: glibc's choose other code, with
// other last bits, where a CPU has FMA. Relative error below 4e-16, of sin and cos absolute. Thread-safe.

// e^x for |x| ≤ 700.
double DeterministicExp(double x);

// Natural logarithm of a positive, normal x.
double DeterministicLog(double x);

// Of finite degrees; exact at multiples of 90.
double DeterministicSinDegrees(double degrees);
double DeterministicCosDegrees(double degrees);

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_ELEMENTARY_H_
