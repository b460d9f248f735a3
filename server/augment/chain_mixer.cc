#include "server/augment/chain_mixer.h"

#include <algorithm>
#include <variant>

#include "common/check.h"
#include "common/status_macros.h"
#include "server/augment/image_plan.h"
#include "server/augment/pixel.h"
#include "server/augment/resize/scratch.h"

namespace stoker {
namespace {

std::vector<OpParameters> OpsOf(const std::vector<MixedChainsParameters::Change>& chain) {
  std::vector<OpParameters> ops;
  ops.reserve(chain.size());
  for (const auto& change : chain) std::visit([&](const auto& of_op) { ops.emplace_back(of_op); }, change);
  return ops;
}

// Sets each sum to `weight` times its level of `image`.
void Begin(int32_t weight, const ImageView& image, int32_t* sums) {
  for (int64_t y = 0; y < image.size.height; ++y)
    for (int64_t x = 0; x < image.size.width; ++x)
      for (int64_t channel = 0; channel < kChannels; ++channel) *sums++ = weight * image.At(y, x)[channel];
}

}  // namespace

absl::Status ChainMixer::Run(const MixedChainsParameters& mixed, const SourceImage& in, uint8_t* out,
                             const Interrupt& interrupt) {
  STOKER_CHECK(mixed.weights.size() == mixed.chains.size() + 1);
  const ImageSize size = in.view.size;
  const size_t values = size.height * size.width * kChannels;
  sums_.resize(std::max(sums_.size(), values));
  Begin(mixed.weights[0], in.view, sums_.data());
  for (size_t i = 0; i < mixed.chains.size(); ++i) {
    if (interrupt.raised()) return absl::OkStatus();
    const ImagePlan plan = ImagePlan::Make(size, OpsOf(mixed.chains[i]), v1::JPEG_SCALING_EXACT);
    uint8_t* const made = Reserve(static_cast<int64_t>(values), made_);
    STOKER_RETURN_IF_ERROR(augmenter_.Apply(plan, in, {made, values}, interrupt));
    const int32_t weight = mixed.weights[i + 1];
    for (size_t value = 0; value < values; ++value) sums_[value] += weight * made[value];
  }
  for (size_t value = 0; value < values; ++value) out[value] = static_cast<uint8_t>(sums_[value] / kMixedWhole);
  return absl::OkStatus();
}

}  // namespace stoker
