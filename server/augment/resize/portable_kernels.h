#ifndef STOKER_SERVER_AUGMENT_RESIZE_PORTABLE_KERNELS_H_
#define STOKER_SERVER_AUGMENT_RESIZE_PORTABLE_KERNELS_H_

#include "server/augment/resize/blend.h"
#include "server/augment/resize/convolve.h"

namespace stoker {

// These do what Blend, ConvolveRows and ConvolveColumns do, one value at a time. They serve CPUs without vectors of a
// known length, and they tell in a few lines what the vector kernels must do. Thread-safe.
void PortableBlend(const BlendTask& task);
void PortableConvolveRows(const ConvolveRowsTask& task);
void PortableConvolveColumns(const ConvolveColumnsTask& task);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_PORTABLE_KERNELS_H_
