#include "common/ops/mosaic.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/ops/append.h"
#include "common/ops/arguments.h"
#include "common/ops/boxes.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr Range kDefaultCenter = {0.3, 0.7};
constexpr int32_t kDefaultFill = 114;  // YOLOv5's gray

Color FillOf(const v1::Mosaic& op) {
  if (!op.fill().empty()) return ColorOf(op.fill());
  return {kDefaultFill, kDefaultFill, kDefaultFill};
}

// Returns the largest size that fits into `box` and has the aspect ratio of `image`, rounded to whole pixels, halves
// up.
ImageSize Fitted(ImageSize image, ImageSize box) {
  const auto scaled = [](int64_t extent, int64_t to, int64_t from) {
    return std::max<int64_t>(1, (2 * extent * to + from) / (2 * from));
  };
  if (image.width * box.height <= image.height * box.width)
    return {box.height, scaled(image.width, box.height, image.height)};
  return {scaled(image.height, box.width, image.width), box.width};
}

// Returns the first pixel of a cut that lies at a drawn share of `extent`, so that neither side is empty.
int64_t CutAt(double share, int64_t extent) {
  return std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(extent)), 1, extent - 1);
}

}  // namespace

absl::Status Description<v1::Mosaic>::Validate(const v1::Mosaic& op) {
  STOKER_RETURN_IF_ERROR(ValidateSize(op, op.size()));
  const ImageSize canvas = CropSize(op.size());
  if (canvas.height < 2 || canvas.width < 2) return Invalid(op, "size", "four images need at least 2×2 pixels");
  if (!op.center_range().empty() && op.center_range_size() != 2)
    return Invalid(op, "center_range", absl::StrCat("give two numbers, from and to; found ", op.center_range_size()));
  STOKER_RETURN_IF_ERROR(ValidateRangeWithin(op, "center_range", RangeOr(kDefaultCenter, op.center_range()), 0, 1));
  if (op.has_p() && op.p() == 0) return Invalid(op, "p", "with 0 it joins nothing; leave it out, and Resize instead");
  STOKER_RETURN_IF_ERROR(ValidateBoxLabels(op, "", op.labels()));
  return ValidateFill(op);
}

void Description<v1::Mosaic>::FillDefaults(v1::Mosaic& op) {
  const ImageSize canvas = CropSize(op.size());
  op.clear_size();
  op.add_size(static_cast<int32_t>(canvas.height));
  op.add_size(static_cast<int32_t>(canvas.width));
  if (op.center_range().empty()) Set(kDefaultCenter, op.mutable_center_range());
  Set(FillOf(op), op.mutable_fill());
}

std::optional<ImageSize> Description<v1::Mosaic>::OutputSize(const v1::Mosaic& op, std::optional<ImageSize>) {
  return CropSize(op.size());
}

absl::Status Description<v1::Mosaic>::Draw(const v1::Mosaic& op, Drawing& drawing) {
  const std::vector<OpParameters> alone = CellOps(op, {}, 0, drawing.size);
  drawing.parameters.insert(drawing.parameters.end(), alone.begin(), alone.end());
  drawing.size = CropSize(op.size());
  return absl::OkStatus();
}

Cost Description<v1::Mosaic>::CostOf(const v1::Mosaic&, ImageSize input, ImageSize output) {
  const ImageSize quarter = {std::max<int64_t>(1, output.height / 2), std::max<int64_t>(1, output.width / 2)};
  const Cost one = CostOfResize(v1::INTERPOLATION_BILINEAR, input, Fitted(input, quarter)) + CostOfPixels(quarter, 1);
  const Cost alone = CostOfResize(v1::INTERPOLATION_BILINEAR, input, Fitted(input, output)) + CostOfPixels(output, 1);
  return MostOf(double{kMosaicCells} * one, alone);
}

MosaicDraw DrawMosaic(const v1::Mosaic& op, const DrawKey& key, uint64_t first, uint64_t count) {
  STOKER_CHECK(count > 0);
  Draws draws(key);
  const Range range = RangeOr(kDefaultCenter, op.center_range());
  const ImageSize canvas = CropSize(op.size());
  MosaicDraw draw;
  draw.joins = draws.Bernoulli(ProbabilityOf(op));
  draw.row = CutAt(Uniform(draws, range), canvas.height);
  draw.column = CutAt(Uniform(draws, range), canvas.width);
  for (uint64_t& partner : draw.partners) partner = first + draws.Below(count);
  return draw;
}

MosaicCell CellOf(const v1::Mosaic& op, const MosaicDraw& draw, int cell) {
  const ImageSize canvas = CropSize(op.size());
  if (!draw.joins) return {0, 0, canvas};
  const bool below = cell >= 2, right = cell % 2 == 1;
  return {below ? draw.row : 0,
          right ? draw.column : 0,
          {below ? canvas.height - draw.row : draw.row, right ? canvas.width - draw.column : draw.column}};
}

std::vector<OpParameters> CellOps(const v1::Mosaic& op, const MosaicDraw& draw, int cell, ImageSize size) {
  const MosaicCell at = CellOf(op, draw, cell);
  const ImageSize canvas = CropSize(op.size());
  const ImageSize fitted = Fitted(size, draw.joins ? ImageSize{canvas.height / 2, canvas.width / 2} : canvas);
  // The corner that lies where the cells meet is the image's lower or right one in the upper and left cells.
  int64_t top = cell >= 2 ? 0 : fitted.height - at.size.height;
  int64_t left = cell % 2 == 1 ? 0 : fitted.width - at.size.width;
  if (!draw.joins) {
    top = -(canvas.height - fitted.height) / 2;
    left = -(canvas.width - fitted.width) / 2;
  }
  std::vector<OpParameters> ops;
  const DrawKey unused;
  Drawing drawing = {unused, Draws(unused), size, ops};
  AppendResize(fitted, v1::INTERPOLATION_BILINEAR, true, drawing);
  AppendCrop({top, left, at.size, FillOf(op), v1::PADDING_MODE_CONSTANT, op.map_fill()}, drawing);
  return ops;
}

}  // namespace stoker
