#ifndef STOKER_SERVER_PREPARE_PACKED_MAKER_H_
#define STOKER_SERVER_PREPARE_PACKED_MAKER_H_

#include "server/augment/augmenter.h"
#include "server/decode/decoder.h"
#include "server/prepare/file_maker.h"

namespace stoker {

// Runs a pipeline's ops as the server does, and packs the resulting pixels: see server/decode/packed.h. If the server
// would call the file damaged, the packed file holds the same reason instead.
class PackedMaker final : public FileMaker {
 public:
  // Requires a pipeline from ValidatedMode: no op is random, defaults and limits are written out.
  explicit PackedMaker(const v1::Pipeline& pipeline) : pipeline_(pipeline) {}

  absl::StatusOr<MadeFile> Make(std::span<const uint8_t> file) override;

 private:
  absl::StatusOr<MadeFile> Run(std::span<const uint8_t> file);
  absl::StatusOr<ImagePlan> PlanFor(ImageSize size) const;

  const v1::Pipeline pipeline_;
  Decoder decoder_;
  DecodedImage image_;
  Augmenter augmenter_;
  std::vector<uint8_t> pixels_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_PACKED_MAKER_H_
