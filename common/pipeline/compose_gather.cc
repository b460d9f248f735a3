#include "common/pipeline/compose_gather.h"

#include <algorithm>
#include <utility>

#include "common/check.h"
#include "common/ops/affine_matrix.h"

namespace stoker {
namespace {

using Matrix = std::array<double, 6>;

// Returns the matrix that maps a position by `second`, and the result by `first`.
Matrix Composed(const Matrix& first, const Matrix& second) {
  const auto& [a, b, c, d, e, f] = first;
  const auto& [u, v, w, x, y, z] = second;
  return {a * u + b * x, a * v + b * y, a * w + b * z + c, d * u + e * x, d * v + e * y, d * w + e * z + f};
}

// Whether a matrix of crops and flips is of crops alone.
bool IsShift(const Matrix& m) { return m[0] == 1 && m[1] == 0 && m[3] == 0 && m[4] == 1; }

GatherDraw::Beyond BeyondOf(v1::PaddingMode padding) {
  switch (padding) {
    case v1::PADDING_MODE_EDGE: return GatherDraw::Beyond::kEdge;
    case v1::PADDING_MODE_REFLECT: return GatherDraw::Beyond::kReflect;
    case v1::PADDING_MODE_SYMMETRIC: return GatherDraw::Beyond::kSymmetric;
    default: return GatherDraw::Beyond::kFill;
  }
}

}  // namespace

GatherComposer::GatherComposer(ImageSize size) : size_(size) {
  gather_.window = {0, 0, static_cast<double>(size.width), static_cast<double>(size.height)};
}

void GatherComposer::Append(const Matrix& matrix) {
  gather_.matrix = Composed(gather_.matrix, matrix);
  if (!gather_.is_fixed) return;
  // It follows a turn, so it is a crop or a flip: −1 or 1 column or row for each, from another one on.
  const auto across = static_cast<int64_t>(matrix[0]), down = static_cast<int64_t>(matrix[4]);
  const int64_t column = static_cast<int64_t>(matrix[2]) + (across - 1) / 2;
  const int64_t row = static_cast<int64_t>(matrix[5]) + (down - 1) / 2;
  auto& m = gather_.fixed;
  for (int first : {0, 3}) {
    m[first + 2] += m[first] * column + m[first + 1] * row;
    m[first] *= across;
    m[first + 1] *= down;
  }
}

void GatherComposer::Narrow(double left, double top, double right, double bottom) {
  const auto& [a, b, c, d, e, f] = gather_.matrix;
  const auto [x0, x1] = std::minmax({a * left + c, a * right + c});
  const auto [y0, y1] = std::minmax({e * top + f, e * bottom + f});
  Window& window = gather_.window;
  window = {std::max(window.left, x0), std::max(window.top, y0), std::min(window.right, x1),
            std::min(window.bottom, y1)};
}

void GatherComposer::Add(const CropParameters& crop) {
  const auto left = static_cast<double>(crop.left), top = static_cast<double>(crop.top);
  const double right = left + static_cast<double>(crop.size.width),
               bottom = top + static_cast<double>(crop.size.height);
  const auto width = static_cast<double>(size_.width), height = static_cast<double>(size_.height);
  const bool inside = left >= 0 && top >= 0 && right <= width && bottom <= height;
  STOKER_CHECK(inside || !filled_);
  const bool mirrors = crop.padding == v1::PADDING_MODE_REFLECT || crop.padding == v1::PADDING_MODE_SYMMETRIC ||
                       crop.padding == v1::PADDING_MODE_EDGE;
  STOKER_CHECK(inside || !resized_ || !mirrors);
  if (!filled_ && !resized_ && (inside || !mirrors))
    Narrow(std::max(left, 0.0), std::max(top, 0.0), std::min(right, width), std::min(bottom, height));
  if (!inside) {
    filled_ = true;
    gather_.beyond = BeyondOf(crop.padding);
    gather_.fill = crop.fill;
  }
  Append({1, 0, left, 0, 1, top});
  size_ = crop.size;
}

void GatherComposer::Add(const ResizeParameters& resize) {
  STOKER_CHECK(!filled_);
  Append({static_cast<double>(size_.width) / static_cast<double>(resize.size.width), 0, 0, 0,
          static_cast<double>(size_.height) / static_cast<double>(resize.size.height), 0});
  gather_.bilinear = gather_.bilinear || resize.interpolation == v1::INTERPOLATION_BILINEAR;
  resized_ = true;
  size_ = resize.size;
}

void GatherComposer::Add(const FlipParameters& flip) {
  const bool horizontal = flip.axis == FlipParameters::Axis::kHorizontal;
  if (horizontal) {
    Append({-1, 0, static_cast<double>(size_.width), 0, 1, 0});
  } else {
    Append({1, 0, 0, 0, -1, static_cast<double>(size_.height)});
  }
}

void GatherComposer::Add(const AffineParameters& turn) {
  STOKER_CHECK(!filled_);
  const Matrix before = gather_.matrix;
  Append(turn.matrix);
  if (turn.interpolation == v1::INTERPOLATION_NEAREST && !gather_.bilinear && !resized_ && IsShift(before)) {
    const auto fixed = FixedAffineMapOf(turn.matrix, size_);
    gather_.is_fixed = fixed.has_value();
    gather_.fixed = fixed.value_or(FixedAffineMap{});
    gather_.fixed[2] += static_cast<int64_t>(before[2]) << kFixedAffineBits;
    gather_.fixed[5] += static_cast<int64_t>(before[5]) << kFixedAffineBits;
  }
  gather_.bilinear = gather_.bilinear || turn.interpolation == v1::INTERPOLATION_BILINEAR;
  gather_.fill = turn.fill;
  gather_.beyond = GatherDraw::Beyond::kFill;
  filled_ = true;
}

}  // namespace stoker
