#ifndef STOKER_SERVER_AUGMENT_CHAIN_MIXER_H_
#define STOKER_SERVER_AUGMENT_CHAIN_MIXER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/ops/parameters.h"
#include "server/augment/augmenter.h"
#include "server/decode/interrupt.h"

namespace stoker {

// Mixes an image with what chains of changes make of it. One thread at a time; buffers are kept from image to image.
class ChainMixer {
 public:
  // Writes the mix of the whole image `in` to `out`, H×W×3 packed uint8 of its size: the weighted sum of levels, cut to
  // whole ones. `out` must not overlap `in`. Each chain begins with the image itself. The same bytes on every CPU. Once
  // `interrupt` is raised it returns early, and `out` holds garbage.
  absl::Status Run(const MixedChainsParameters& mixed, const SourceImage& in, uint8_t* out, const Interrupt& interrupt);

 private:
  Augmenter augmenter_;
  std::vector<uint8_t> made_;
  std::vector<int32_t> sums_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_CHAIN_MIXER_H_
