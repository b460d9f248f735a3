#ifndef STOKER_SERVER_WORK_CACHED_DECODER_H_
#define STOKER_SERVER_WORK_CACHED_DECODER_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "server/augment/augmenter.h"
#include "server/decode/decoder.h"
#include "server/work/decoded_cache.h"

namespace stoker {

// Decodes the images of samples, or finds them decoded. One thread at a time.
class CachedDecoder {
 public:
  // Where images of the file opened last are kept, if anywhere, and by what name.
  struct Origin {
    const DecodedCache::Images* kept = nullptr;  // of the dataset; null where none are kept
    uint64_t sample = 0;                         // its id
    int source = 0;                              // the field of the dataset's schema
  };

  struct Decoded {
    SourceImage image;  // valid until the next Decode, and as long as `kept` is
    KeptBytes kept;     // the image's bytes, where it was found
  };

  // Does what Decoder::Open does.
  absl::StatusOr<ImageSize> Open(std::span<const uint8_t> file, const DecodeOptions& options, const Origin& origin);

  // Returns at least what `target` needs of the file opened last, at its full size where it cannot be reduced. Where
  // images are kept and there is room for one more, the whole image is decoded, and kept. Errors are those of
  // Decoder::Decode.
  absl::StatusOr<Decoded> Decode(const DecodeTarget& target);

 private:
  // Decodes all of the image, `whole`, and keeps it. False where there is no room, or some of it is damaged.
  bool DecodeToKeep(const DecodedCache::Image& name, const Region& whole);

  Decoder decoder_;
  DecodedImage image_;

  // Of the file opened last.
  Origin origin_;
  ImageSize size_;
  DecodeOptions options_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_CACHED_DECODER_H_
