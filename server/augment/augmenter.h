#ifndef STOKER_SERVER_AUGMENT_AUGMENTER_H_
#define STOKER_SERVER_AUGMENT_AUGMENTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/ops/own_batch.h"
#include "server/augment/crop_flip.h"
#include "server/augment/image_plan.h"
#include "server/augment/recompress.h"
#include "server/augment/resize/resize.h"
#include "server/augment/smooth.h"
#include "server/decode/image.h"
#include "server/decode/interrupt.h"

namespace stoker {

class ChainMixer;

// The pixels of an image's part. The image has been reduced to `eighths` eighths of its size, and `region` is in pixels
// of that size. The pixels belong to someone else.
struct SourceImage {
  ImageView view;
  Region region;
  int eighths = 8;
};

inline SourceImage SourceOf(const DecodedImage& image) { return {image.view(), image.region, image.eighths}; }

// Carries out plans. The last step writes straight to the result's place in the span.
//
// An augmenter is used by one thread at a time. It keeps scratch memory from image to image. It writes the same bytes
// on every CPU. Sizes were settled when the parameters were drawn, so that only own ops can fail, and what lacks
// memory.
class Augmenter {
 public:
  Augmenter();
  ~Augmenter();

  // Carries out `plan` on `image` and writes H×W×3 packed uint8 to `out`, which has exactly the bytes of plan.result().
  // `image` covers plan.target() and has either the target's reduced size or the full one. Pixels beyond the target
  // change nothing. Once `interrupt` is raised it returns early, and `out` holds garbage.
  // DataLoss or Internal is what an own op returned, ResourceExhausted what a JPEG lacked memory for; `out` holds
  // garbage then too.
  absl::Status Apply(const ImagePlan& plan, const SourceImage& image, std::span<uint8_t> out,
                     const Interrupt& interrupt = {});

  // Does what Apply does, but stops before the first own op that `batch` has room for, and returns the number of its
  // step; none where it carried out the whole plan. The op's image is then the last one of the batch. After an error
  // the batch may have one too many.
  absl::StatusOr<std::optional<size_t>> Begin(const ImagePlan& plan, const SourceImage& image, std::span<uint8_t> out,
                                              OwnBatch& batch, const Interrupt& interrupt);

  // Carries out what is left of a plan where Begin returned `step`, whose op made `pixels`. They may be changed.
  absl::Status Finish(const ImagePlan& plan, size_t step, uint8_t* pixels, std::span<uint8_t> out,
                      const Interrupt& interrupt);

  // Returns the nanoseconds that own ops took since the last call, and begins anew.
  uint64_t TakeOwnNanoseconds() { return std::exchange(own_nanoseconds_, 0); }

 private:
  struct Run;
  struct Place;

  // Carries out the steps of `plan` from `place` on, up to an own op that `batch` has room for, if there is one.
  // Returns the number of the step that it stopped before.
  absl::StatusOr<size_t> CarryOut(const ImagePlan& plan, Place place, std::span<uint8_t> out, OwnBatch* batch,
                                  const Interrupt& interrupt);

  CropFlipper crop_flipper_;
  Resizer resizer_;
  Smoother smoother_;
  Recompressor recompressor_;
  std::unique_ptr<ChainMixer> chain_mixer_;  // made when it is needed, since it has an Augmenter of its own
  std::vector<uint8_t> front_, back_;        // the latest intermediate image, and room for the next one
  uint64_t own_nanoseconds_ = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_AUGMENTER_H_
