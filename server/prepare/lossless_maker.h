#ifndef STOKER_SERVER_PREPARE_LOSSLESS_MAKER_H_
#define STOKER_SERVER_PREPARE_LOSSLESS_MAKER_H_

#include "server/decode/decoder.h"
#include "server/prepare/file_maker.h"
#include "server/prepare/jpeg_writer.h"

namespace stoker {

// Writes JPEGs in another layout and checks that each decodes to the same pixels. Leaves other formats as they are.
class LosslessMaker final : public FileMaker {
 public:
  explicit LosslessMaker(const v1::PreparedLossless& settings);

  absl::StatusOr<MadeFile> Make(std::span<const uint8_t> file) override;

  // Options that refuse even damage over which libjpeg only warns: such an original must stay as it is, for clients
  // that refuse it. The time limit is an hour, since nobody waits for one image here.
  static DecodeOptions StrictDecoding();

 private:
  absl::StatusOr<MadeFile> Transcode(std::span<const uint8_t> file);

  const JpegLayout layout_;
  Decoder decoder_;
  DecodedImage before_, after_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_LOSSLESS_MAKER_H_
