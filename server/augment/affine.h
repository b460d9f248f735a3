#ifndef STOKER_SERVER_AUGMENT_AFFINE_H_
#define STOKER_SERVER_AUGMENT_AFFINE_H_

#include <cstdint>

#include "common/ops/parameters.h"
#include "server/decode/image.h"

namespace stoker {

// Writes what `warp` shows of the whole image `in` (RGB or RGBX) to `out`, H×W×3 packed uint8 of the same size, which
// must not overlap `in`. As PIL's Image.transform(AFFINE): nearest to the same bytes but where a center falls on the
// border of two pixels; bilinear within one level. Thread-safe. The same bytes on every CPU.
void ApplyAffine(const AffineParameters& warp, const ImageView& in, uint8_t* out);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_AFFINE_H_
