#include "server/augment/affine.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "common/check.h"
#include "common/ops/affine_matrix.h"
#include "server/augment/gather.h"
#include "server/augment/pixel.h"

namespace stoker {
namespace {

using Matrix = std::array<double, 6>;

// Coordinates of equally spaced points, in 1/2^16 pixel, as PIL computes them for nearest.
struct Line {
  static constexpr int kFractionBits = kFixedAffineBits;
  int64_t start, step;

  int64_t Pixel(int64_t i) const { return (start + i * step) >> kFractionBits; }
};

int64_t DividedUp(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }  // Requires b > 0.

// Narrows [first, end) to the points of `line` that lie in the pixels 0…pixels − 1.
void Clip(const Line& line, int64_t pixels, int64_t& first, int64_t& end) {
  const int64_t limit = pixels << Line::kFractionBits;
  if (line.step == 0) {
    if (line.start < 0 || line.start >= limit) end = first;
  } else if (line.step > 0) {
    first = std::max(first, DividedUp(-line.start, line.step));
    end = std::min(end, DividedUp(limit - line.start, line.step));
  } else {
    first = std::max(first, DividedUp(line.start - limit + 1, -line.step));
    end = std::min(end, DividedUp(line.start + 1, -line.step));
  }
}

template <int kPixelBytes>
void CopyAlong(const ImageView& in, Line x, Line y, int64_t first, int64_t end, uint8_t* out) {
  const uint8_t* const pixels = in.pixels;
  const int64_t stride = in.stride;
  x.start += first * x.step;
  y.start += first * y.step;
  for (int64_t i = first; i < end; ++i, x.start += x.step, y.start += y.step)
    CopyPixel(pixels + y.Pixel(0) * stride + x.Pixel(0) * kPixelBytes, out + i * kChannels);
}

void NearestFixed(const FixedAffineMap& m, const Color& fill, const ImageView& in, uint8_t* out) {
  const auto [height, width] = in.size;
  for (int64_t row = 0; row < height; ++row, out += width * kChannels) {
    const Line x = {m[2] + row * m[1], m[0]}, y = {m[5] + row * m[4], m[3]};
    int64_t first = 0, end = width;
    Clip(x, width, first, end);
    Clip(y, height, first, end);
    first = std::min(first, width);
    end = std::clamp(end, first, width);
    FillPixels(fill, first, out);
    (in.pixel_bytes == 4 ? CopyAlong<4> : CopyAlong<3>)(in, x, y, first, end, out);
    FillPixels(fill, width - end, out + end * kChannels);
  }
}

// Returns the input pixel that each of `size` output pixels shows along an axis that the matrix only scales and shifts,
// −1 outside the image. It steps by adding, as PIL does.
std::vector<int64_t> ScaledAxis(double scale, double offset, int64_t size) {
  std::vector<int64_t> sources(size);
  double position = offset + scale * 0.5;
  for (int64_t& source : sources) {
    source = position >= 0 && position < static_cast<double>(size) ? static_cast<int64_t>(position) : -1;
    position += scale;
  }
  return sources;
}

// Writes the pixels at `xs` of `row`. `in_a_row` says that each of `xs` is one more than the one before.
void CopyScaled(const ImageView& in, const uint8_t* row, std::span<const int64_t> xs, bool in_a_row, uint8_t* out) {
  if (in_a_row && in.pixel_bytes == kChannels) {
    std::copy_n(row + xs.front() * kChannels, std::ssize(xs) * kChannels, out);
    return;
  }
  for (int64_t x : xs) {
    CopyPixel(row + x * in.pixel_bytes, out);
    out += kChannels;
  }
}

void NearestScaled(const AffineParameters& warp, const ImageView& in, uint8_t* out) {
  const std::vector<int64_t> xs = ScaledAxis(warp.matrix[0], warp.matrix[2], in.size.width);
  const std::vector<int64_t> ys = ScaledAxis(warp.matrix[4], warp.matrix[5], in.size.height);
  const auto inside = [](int64_t x) { return x >= 0; };
  const int64_t first = std::find_if(xs.begin(), xs.end(), inside) - xs.begin();
  const int64_t end = std::find_if_not(xs.begin() + first, xs.end(), inside) - xs.begin();
  const std::span<const int64_t> shown = {xs.begin() + first, xs.begin() + end};
  const auto breaks = [](int64_t x, int64_t next) { return next != x + 1; };
  const bool in_a_row = !shown.empty() && std::adjacent_find(shown.begin(), shown.end(), breaks) == shown.end();
  for (int64_t y : ys) {
    if (y < 0) {
      FillPixels(warp.fill, in.size.width, out);
    } else {
      FillPixels(warp.fill, first, out);
      CopyScaled(in, in.Row(y), shown, in_a_row, out + first * kChannels);
      FillPixels(warp.fill, in.size.width - end, out + end * kChannels);
    }
    out += in.size.width * kChannels;
  }
}

// Calls at(x, y) with the position in the input of each pixel of the output, row by row, until `interrupt` is raised.
template <typename At>
void ForEachPosition(const AffineParameters& warp, ImageSize size, const Interrupt& interrupt, const At& at) {
  const Matrix& m = warp.matrix;
  for (int64_t row = 0; row < size.height && !InterruptedAt(row, interrupt); ++row)
    for (int64_t column = 0; column < size.width; ++column) {
      const double x = static_cast<double>(column) + 0.5, y = static_cast<double>(row) + 0.5;
      at(m[0] * x + m[1] * y + m[2], m[3] * x + m[4] * y + m[5]);
    }
}

// Where a pixel shows what lies at infinity, its position is no number, which is not inside of the image.
template <typename At>
void ForEachPosition(const PerspectiveParameters& warp, ImageSize size, const Interrupt& interrupt, const At& at) {
  const std::array<double, 8>& c = warp.coefficients;
  for (int64_t row = 0; row < size.height && !InterruptedAt(row, interrupt); ++row)
    for (int64_t column = 0; column < size.width; ++column) {
      const double x = static_cast<double>(column) + 0.5, y = static_cast<double>(row) + 0.5;
      const double w = c[6] * x + c[7] * y + 1;
      at((c[0] * x + c[1] * y + c[2]) / w, (c[3] * x + c[4] * y + c[5]) / w);
    }
}

}  // namespace

void ApplyAffine(const AffineParameters& warp, const ImageView& in, uint8_t* out, const Interrupt& interrupt) {
  const Matrix& m = warp.matrix;
  const auto for_each_position = [&](const auto& at) { ForEachPosition(warp, in.size, interrupt, at); };
  if (warp.interpolation == v1::INTERPOLATION_BILINEAR) return GatherBilinear(warp.fill, in, out, for_each_position);
  STOKER_CHECK(warp.interpolation == v1::INTERPOLATION_NEAREST);
  if (m[1] == 0 && m[3] == 0) return NearestScaled(warp, in, out);
  const auto fixed = FixedAffineMapOf(m, in.size);
  if (fixed.has_value()) return NearestFixed(*fixed, warp.fill, in, out);
  GatherNearest(warp.fill, in, out, for_each_position);
}

void ApplyPerspective(const PerspectiveParameters& warp, const ImageView& in, uint8_t* out,
                      const Interrupt& interrupt) {
  const auto for_each_position = [&](const auto& at) { ForEachPosition(warp, in.size, interrupt, at); };
  if (warp.interpolation == v1::INTERPOLATION_BILINEAR) return GatherBilinear(warp.fill, in, out, for_each_position);
  STOKER_CHECK(warp.interpolation == v1::INTERPOLATION_NEAREST);
  GatherNearest(warp.fill, in, out, for_each_position);
}

}  // namespace stoker
