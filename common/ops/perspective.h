#ifndef STOKER_COMMON_OPS_PERSPECTIVE_H_
#define STOKER_COMMON_OPS_PERSPECTIVE_H_

#include <array>
#include <optional>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

template <>
struct Description<v1::RandomPerspective> : SameSize<v1::RandomPerspective> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::RandomPerspective& op);
  static void FillDefaults(v1::RandomPerspective& op);
  static bool IsDeterministic(const v1::RandomPerspective&) { return false; }
  static absl::Status Draw(const v1::RandomPerspective& op, Drawing& drawing);
  static Cost CostOf(const v1::RandomPerspective& op, ImageSize input, ImageSize output);
};

// The corners of a quadrilateral in pixels: top left, top right, bottom right, bottom left.
struct Corner {
  double x = 0, y = 0;
};
using Corners = std::array<Corner, 4>;

// Returns PerspectiveParameters::coefficients that show at each of `to` what lies at the same one of `from`. Nothing
// where no or many of them do, as where three of `to` lie on a line. The equations are Heckbert's, "Fundamentals of
// Texture Mapping and Image Warping" (1989), 2.2.3. Pure; + − × ÷ alone, so that every CPU gives the same bits.
std::optional<std::array<double, 8>> PerspectiveOf(const Corners& from, const Corners& to);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_PERSPECTIVE_H_
