#include "common/ops/perspective.h"

#include <cmath>
#include <utility>

#include "common/ops/arguments.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr double kDefaultDistortion = 0.5;
constexpr int kUnknowns = 8;

double DistortionOf(const v1::RandomPerspective& op) {
  return op.has_distortion_scale() ? op.distortion_scale() : kDefaultDistortion;
}

// Linear equations: on the left of each its factors, in the last column the right side.
using Equations = std::array<std::array<double, kUnknowns + 1>, kUnknowns>;

// Subtracts from each equation below `pivot` what removes unknown number `pivot` from it.
void Eliminate(Equations& equations, int pivot) {
  for (int row = pivot + 1; row < kUnknowns; ++row) {
    const double times = equations[row][pivot] / equations[pivot][pivot];
    for (int column = pivot; column <= kUnknowns; ++column) equations[row][column] -= times * equations[pivot][column];
  }
}

// Returns whether any three of the corners lie on a line. This is exact where corners are whole pixels.
bool AnyThreeOnALine(const Corners& corners) {
  for (size_t i = 0; i < corners.size(); ++i) {
    const Corner &a = corners[i], &b = corners[(i + 1) % 4], &c = corners[(i + 2) % 4];
    if ((b.x - a.x) * (c.y - a.y) == (b.y - a.y) * (c.x - a.x)) return true;
  }
  return false;
}

// Gaussian elimination with partial pivoting. Nothing where a pivot is 0.
std::optional<std::array<double, kUnknowns>> Solve(Equations equations) {
  for (int pivot = 0; pivot < kUnknowns; ++pivot) {
    int largest = pivot;
    for (int row = pivot + 1; row < kUnknowns; ++row)
      if (std::abs(equations[row][pivot]) > std::abs(equations[largest][pivot])) largest = row;
    std::swap(equations[pivot], equations[largest]);
    if (equations[pivot][pivot] == 0) return std::nullopt;
    Eliminate(equations, pivot);
  }
  std::array<double, kUnknowns> solution = {};
  for (int row = kUnknowns - 1; row >= 0; --row) {
    double rest = equations[row][kUnknowns];
    for (int column = row + 1; column < kUnknowns; ++column) rest -= equations[row][column] * solution[column];
    solution[row] = rest / equations[row][row];
  }
  return solution;
}

// A whole number from `least` up to `bound`, which is left out.
double DrawBetween(Draws& draws, int64_t least, int64_t bound) {
  return static_cast<double>(least + static_cast<int64_t>(draws.Below(bound - least)));
}

}  // namespace

std::optional<std::array<double, 8>> PerspectiveOf(const Corners& from, const Corners& to) {
  if (AnyThreeOnALine(from) || AnyThreeOnALine(to)) return std::nullopt;
  Equations equations = {};
  for (size_t i = 0; i < to.size(); ++i) {
    const auto [x, y] = to[i];
    equations[2 * i] = {x, y, 1, 0, 0, 0, -from[i].x * x, -from[i].x * y, from[i].x};
    equations[2 * i + 1] = {0, 0, 0, x, y, 1, -from[i].y * x, -from[i].y * y, from[i].y};
  }
  return Solve(equations);
}

absl::Status Description<v1::RandomPerspective>::Validate(const v1::RandomPerspective& op) {
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "distortion_scale", DistortionOf(op), 0, 1));
  STOKER_RETURN_IF_ERROR(ValidateAffineInterpolation(op, op.interpolation()));
  return ValidateFill(op);
}

void Description<v1::RandomPerspective>::FillDefaults(v1::RandomPerspective& op) {
  op.set_distortion_scale(DistortionOf(op));
  op.set_interpolation(OrBilinear(op.interpolation()));
  Set(ColorOf(op.fill()), op.mutable_fill());
}

// torchvision's RandomPerspective: each corner moves inward by whole pixels. Where the corners that are drawn make no
// image, because three of them lie on a line, the image stays as it is.
absl::Status Description<v1::RandomPerspective>::Draw(const v1::RandomPerspective& op, Drawing& drawing) {
  const auto [height, width] = drawing.size;
  const auto reach = [&](int64_t side) {
    return static_cast<int64_t>(DistortionOf(op) * static_cast<double>(side / 2));
  };
  const int64_t down = reach(height) + 1, across = reach(width) + 1;
  Draws& draws = drawing.draws;
  Corners to;
  to[0].x = DrawBetween(draws, 0, across);
  to[0].y = DrawBetween(draws, 0, down);
  to[1].x = DrawBetween(draws, width - across, width);
  to[1].y = DrawBetween(draws, 0, down);
  to[2].x = DrawBetween(draws, width - across, width);
  to[2].y = DrawBetween(draws, height - down, height);
  to[3].x = DrawBetween(draws, 0, across);
  to[3].y = DrawBetween(draws, height - down, height);
  const auto right = static_cast<double>(width - 1), bottom = static_cast<double>(height - 1);
  const Corners from = {{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}};
  if (const auto coefficients = PerspectiveOf(from, to); coefficients.has_value())
    drawing.parameters.push_back(
        PerspectiveParameters{*coefficients, OrBilinear(op.interpolation()), ColorOf(op.fill()), op.map_fill()});
  return absl::OkStatus();
}

// As for a turn, and two divisions for each pixel's place.
Cost Description<v1::RandomPerspective>::CostOf(const v1::RandomPerspective& op, ImageSize, ImageSize output) {
  return CostOfPixels(output, OrBilinear(op.interpolation()) == v1::INTERPOLATION_NEAREST ? 80 : 200);
}

}  // namespace stoker
