#include "server/decode/jpeg.h"

#include <optional>

#include "common/status_macros.h"
#include "server/decode/limits.h"

namespace stoker {

absl::StatusOr<ImageSize> JpegDecoder::Open(std::span<const uint8_t> file, const DecodeOptions& options) {
  file_ = file;
  options_ = options;
  const std::optional<ImageSize> size = options.to_end ? std::nullopt : region_.Open(file);
  by_region_ = size.has_value();
  by_library_ = !by_region_;
  if (by_library_) return library_.Open(file, options);
  STOKER_RETURN_IF_ERROR(CheckSize(*size, options));
  return *size;
}

absl::Status JpegDecoder::Decode(const DecodeTarget& target, DecodedImage& image) {
  static const Interrupt kNever;
  const Interrupt& interrupt = options_.interrupt != nullptr ? *options_.interrupt : kNever;
  if (by_region_ && region_.Decode(target, image, interrupt)) return absl::OkStatus();
  STOKER_RETURN_IF_ERROR(interrupt.status());
  if (!by_library_) {
    STOKER_RETURN_IF_ERROR(library_.Open(file_, options_).status());
    by_library_ = true;
  }
  return library_.Decode(target, image);
}

}  // namespace stoker
