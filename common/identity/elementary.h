#ifndef STOKER_COMMON_IDENTITY_ELEMENTARY_H_
#define STOKER_COMMON_IDENTITY_ELEMENTARY_H_

namespace stoker {

// exp and log from + − × ÷ alone, so that every CPU gives the same bits: glibc's choose other code, with other
// last bits, where a CPU has FMA. Relative error below 4e-16. Thread-safe.

// e^x for |x| ≤ 700.
double DeterministicExp(double x);

// Natural logarithm of a positive, normal x.
double DeterministicLog(double x);

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_ELEMENTARY_H_
