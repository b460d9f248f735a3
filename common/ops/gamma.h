#ifndef STOKER_COMMON_OPS_GAMMA_H_
#define STOKER_COMMON_OPS_GAMMA_H_

#include "common/identity/draws.h"

namespace stoker {

// Draws the logarithm of a number from the Gamma distribution of shape `alpha` > 0: for small alphas the number itself
// is too small to be told from 0. Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables" (2000). The
// same bits on every CPU.
double DrawLogGamma(double alpha, Draws& draws);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_GAMMA_H_
