#include "common/ops/append.h"

#include <cmath>

#include "common/ops/arguments.h"

namespace stoker {
namespace {

// Whether `color` leaves every image as it is.
bool ChangesNothing(const ColorParameters& color) {
  switch (color.kind) {
    case ColorParameters::Kind::kBrightness:
    case ColorParameters::Kind::kContrast:
    case ColorParameters::Kind::kSaturation: return color.value == 1;
    case ColorParameters::Kind::kHue: return color.value == 0;
    case ColorParameters::Kind::kPosterize: return color.value == 8;
    case ColorParameters::Kind::kSolarize: return color.value > 255;
    case ColorParameters::Kind::kGrayscale:
    case ColorParameters::Kind::kYCbCr:
    case ColorParameters::Kind::kInvert:
    case ColorParameters::Kind::kAutocontrast:
    case ColorParameters::Kind::kEqualize: break;
  }
  return false;
}

bool IsWhole(double x) { return x == std::floor(x); }

}  // namespace

void AppendCrop(const CropParameters& crop, Drawing& drawing) {
  if (crop.top != 0 || crop.left != 0 || crop.size != drawing.size) drawing.parameters.push_back(crop);
  drawing.size = crop.size;
}

void AppendResize(ImageSize to, v1::Interpolation interpolation, bool antialias, Drawing& drawing) {
  if (to != drawing.size) drawing.parameters.push_back(ResizeParameters{to, OrBilinear(interpolation), antialias});
  drawing.size = to;
}

void AppendColor(ColorParameters::Kind kind, double value, Drawing& drawing) {
  const ColorParameters color = {kind, value};
  if (!ChangesNothing(color)) drawing.parameters.push_back(color);
}

void AppendSharpness(double factor, Drawing& drawing) {
  if (factor != 1) drawing.parameters.push_back(SharpnessParameters{factor});
}

void AppendAffine(const AffineParameters& affine, Drawing& drawing) {
  const auto& m = affine.matrix;
  if (m[0] == 1 && m[1] == 0 && IsWhole(m[2]) && m[3] == 0 && m[4] == 1 && IsWhole(m[5])) {
    AppendCrop({static_cast<int64_t>(m[5]), static_cast<int64_t>(m[2]), drawing.size, affine.fill,
                v1::PADDING_MODE_CONSTANT, affine.map_fill},
               drawing);
  } else {
    drawing.parameters.push_back(affine);
  }
}

}  // namespace stoker
