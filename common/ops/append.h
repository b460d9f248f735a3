#ifndef STOKER_COMMON_OPS_APPEND_H_
#define STOKER_COMMON_OPS_APPEND_H_

#include "common/ops/description.h"
#include "common/ops/parameters.h"

namespace stoker {

// Appending to a drawing what several ops draw. Nothing is appended where it would change no pixel.

void AppendCrop(const CropParameters& crop, Drawing& drawing);
void AppendResize(ImageSize to, v1::Interpolation interpolation, bool antialias, Drawing& drawing);
void AppendColor(ColorParameters::Kind kind, double value, Drawing& drawing);
void AppendSharpness(double factor, Drawing& drawing);
void AppendAffine(const AffineParameters& affine, Drawing& drawing);  // A mere shift by whole pixels becomes a crop.

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_APPEND_H_
