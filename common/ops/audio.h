#ifndef STOKER_COMMON_OPS_AUDIO_H_
#define STOKER_COMMON_OPS_AUDIO_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/identity/draws.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops on audio. They change no image, so that nothing is drawn for one.

// The most samples a second that audio may have.
inline constexpr uint32_t kMostSampleRate = 768000;

// Returns the field that an op on audio names, its default filled in; nothing for any other op.
std::string AudioFieldOf(const v1::Op& op);

// Draws where the stretch begins that the op takes of audio with `all` samples; 0 where it takes all of it.
int64_t StartOfStretch(const v1::RandomAudioCrop& op, int64_t all, const DrawKey& key);

template <>
struct Description<v1::Resample> : SameSize<v1::Resample> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnField;
  static absl::Status Validate(const v1::Resample& op);
  static void FillDefaults(v1::Resample& op);
  static bool IsDeterministic(const v1::Resample&) { return true; }
  static absl::Status Draw(const v1::Resample&, Drawing&) { return absl::OkStatus(); }
  static Cost CostOf(const v1::Resample&, ImageSize, ImageSize) { return kNoCost; }  // The field's length decides it.
};

template <>
struct Description<v1::RandomAudioCrop> : SameSize<v1::RandomAudioCrop> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnField;
  static absl::Status Validate(const v1::RandomAudioCrop& op);
  static void FillDefaults(v1::RandomAudioCrop& op);
  static bool IsDeterministic(const v1::RandomAudioCrop& op) { return op.center(); }
  static absl::Status Draw(const v1::RandomAudioCrop&, Drawing&) { return absl::OkStatus(); }
  static Cost CostOf(const v1::RandomAudioCrop&, ImageSize, ImageSize) { return kNoCost; }
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_AUDIO_H_
