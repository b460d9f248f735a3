#include "server/work/cached_decoder.h"

#include <utility>

#include "common/check.h"
#include "common/status_macros.h"

namespace stoker {

absl::StatusOr<ImageSize> CachedDecoder::Open(std::span<const uint8_t> file, const DecodeOptions& options,
                                              const Origin& origin) {
  origin_ = origin;
  options_ = options;
  STOKER_ASSIGN_OR_RETURN(size_, decoder_.Open(file, options));
  return size_;
}

absl::StatusOr<CachedDecoder::Decoded> CachedDecoder::Decode(const DecodeTarget& target) {
  const int eighths = decoder_.can_reduce() ? target.eighths : 8;
  const DecodedCache::Image name = {origin_.sample, origin_.source, eighths};
  const Region whole = Reduced(WholeOf(size_), eighths);
  if (origin_.kept != nullptr) {
    if (KeptBytes kept = origin_.kept->Get(name, whole.size, options_); kept != nullptr)
      return Decoded{{{kept->data(), whole.size, whole.size.width * 3}, whole, eighths}, kept};
    if (DecodeToKeep(name, whole)) return Decoded{SourceOf(image_), nullptr};
  }
  STOKER_RETURN_IF_ERROR(decoder_.Decode(target, image_));
  STOKER_CHECK(image_.eighths == eighths);
  return Decoded{SourceOf(image_), nullptr};
}

bool CachedDecoder::DecodeToKeep(const DecodedCache::Image& name, const Region& whole) {
  if (!origin_.kept->Reserve(whole.size)) return false;
  if (!decoder_.Decode({WholeOf(size_), name.eighths}, image_).ok()) {
    // What is damaged may be below all that is needed.
    origin_.kept->Release(whole.size);
    return false;
  }
  STOKER_CHECK(image_.eighths == name.eighths && image_.region == whole);
  origin_.kept->Put(name, options_, image_.view());
  return true;
}

}  // namespace stoker
