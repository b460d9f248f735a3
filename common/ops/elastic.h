#ifndef STOKER_COMMON_OPS_ELASTIC_H_
#define STOKER_COMMON_OPS_ELASTIC_H_

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

template <>
struct Description<v1::ElasticTransform> : SameSize<v1::ElasticTransform> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::ElasticTransform& op);
  static void FillDefaults(v1::ElasticTransform& op);
  static bool IsDeterministic(const v1::ElasticTransform& op);
  static absl::Status Draw(const v1::ElasticTransform& op, Drawing& drawing);  // FailedPrecondition of small images.
  static Cost CostOf(const v1::ElasticTransform& op, ImageSize input, ImageSize output);
};

// Returns how many pixels a Gaussian of `sigma` reaches to either side: four deviations, as torchvision cuts it here.
int ElasticReach(double sigma);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_ELASTIC_H_
