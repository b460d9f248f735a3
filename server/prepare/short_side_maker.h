#ifndef STOKER_SERVER_PREPARE_SHORT_SIDE_MAKER_H_
#define STOKER_SERVER_PREPARE_SHORT_SIDE_MAKER_H_

#include "server/augment/augmenter.h"
#include "server/decode/decoder.h"
#include "server/prepare/file_maker.h"
#include "server/prepare/lossless_maker.h"

namespace stoker {

// Reduces images to a given shorter side, with the antialiased triangle filter of torchvision's Resize, and encodes
// them as JPEG, whatever format they had. Images that are no larger go to LosslessMaker.
class ShortSideMaker final : public FileMaker {
 public:
  explicit ShortSideMaker(const v1::PreparedShortSide& settings);

  absl::StatusOr<MadeFile> Make(std::span<const uint8_t> file) override;

 private:
  absl::StatusOr<std::vector<uint8_t>> Reduce(ImageSize size, std::span<const uint8_t> file);

  const v1::PreparedShortSide settings_;
  LosslessMaker lossless_;
  Decoder decoder_;
  DecodedImage image_;
  Augmenter augmenter_;
  std::vector<uint8_t> reduced_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_SHORT_SIDE_MAKER_H_
