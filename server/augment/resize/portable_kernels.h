#ifndef STOKER_SERVER_AUGMENT_RESIZE_PORTABLE_KERNELS_H_
#define STOKER_SERVER_AUGMENT_RESIZE_PORTABLE_KERNELS_H_

#include "server/augment/resize/blend.h"
#include "server/augment/resize/convolve.h"

namespace stoker {

// What the kernels of their names do, one value at a time: for CPUs without vectors that we know, and to tell in a few
// lines what the others must do.
void PortableBlend(const BlendTask& task);
void PortableConvolveRows(const ConvolveRowsTask& task);
void PortableConvolveColumns(const ConvolveColumnsTask& task);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_PORTABLE_KERNELS_H_
