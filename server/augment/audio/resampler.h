#ifndef STOKER_SERVER_AUGMENT_AUDIO_RESAMPLER_H_
#define STOKER_SERVER_AUGMENT_AUDIO_RESAMPLER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// Changes the sampling rate of audio by a windowed sinc: what torchaudio.functional.resample does by default
// (sinc_interp_hann, lowpass_filter_width 6, rolloff 0.99), computed in double. With from : to in lowest terms, output
// i is the sum over all inputs m of
//
//   s/from · sinc(π t) · cos²(π t / 12)   where t = s · (m / from − i / to), |t| < 6, s = 0.99 · min(from, to)
//
// and inputs outside of the audio are 0. By + − × ÷ and sines of our own, in one order, so that every CPU gives the
// same bits, and an output does not depend on which others are made.
//
// The weights are made once for each pair of rates, and kept. Immutable, hence thread-safe.
class Resampler {
 public:
  // It keeps at most so many weights: 16 MiB.
  static constexpr int64_t kMostWeights = int64_t{1} << 21;

  // DataLoss where the rates have so little in common that there would be more weights. Requires rates of at least 1.
  static absl::StatusOr<Resampler> Create(uint32_t from, uint32_t to);

  int64_t weights() const { return static_cast<int64_t>(weights_.size()); }
  bool IsOf(uint32_t from, uint32_t to) const { return from == given_from_ && to == given_to_; }

  // Returns how many outputs `inputs` give: ⌈inputs · to / from⌉.
  int64_t Outputs(int64_t inputs) const;

  // A stretch of frames.
  struct Stretch {
    int64_t first = 0, count = 0;
  };

  // Returns the inputs, of `all`, that these outputs depend on.
  Stretch Needed(const Stretch& outputs, int64_t all) const;

  // Makes outputs of `channels` numbers each, from `inputs` as Needed returned them, which `in` holds.
  void Run(std::span<const float> in, const Stretch& inputs, int64_t channels, const Stretch& outputs,
           std::span<double> out) const;

  // How many inputs an output depends on.
  int64_t taps() const { return taps_; }

 private:
  Resampler() = default;

  int64_t FirstInput(int64_t output) const { return output / to_ * from_ + begins_[output % to_]; }

  uint32_t given_from_ = 0, given_to_ = 0;
  int64_t from_ = 1, to_ = 1;  // in lowest terms
  int64_t taps_ = 0;
  std::vector<int64_t> begins_;  // for each output below `to`, the first input that counts
  std::vector<double> weights_;  // then the weights, `taps` of each
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_AUDIO_RESAMPLER_H_
