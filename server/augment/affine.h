#ifndef STOKER_SERVER_AUGMENT_AFFINE_H_
#define STOKER_SERVER_AUGMENT_AFFINE_H_

#include <cstdint>

#include "common/ops/parameters.h"
#include "server/decode/image.h"
#include "server/decode/interrupt.h"

namespace stoker {

// Warps the whole image `in` (RGB or RGBX) by `warp` and writes the result to `out` as H×W×3 packed uint8 of the same
// size. `out` must not overlap `in`. The function is thread-safe and writes the same bytes on every CPU.
//
// The result is that of PIL's Image.transform(AFFINE). Nearest gives the same bytes, except where a center falls on the
// border of two pixels. Bilinear is within one level. Once `interrupt` is raised the rest of `out` stays as it is.
void ApplyAffine(const AffineParameters& warp, const ImageView& in, uint8_t* out, const Interrupt& interrupt = {});

// The same for PIL's Image.transform(PERSPECTIVE), within one level for either interpolation.
void ApplyPerspective(const PerspectiveParameters& warp, const ImageView& in, uint8_t* out,
                      const Interrupt& interrupt = {});

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_AFFINE_H_
