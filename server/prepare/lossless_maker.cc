#include "server/prepare/lossless_maker.h"

#include <algorithm>

#include "common/status_macros.h"
#include "server/decode/magic.h"

namespace stoker {
namespace {

// Compares the three colors of each pixel. The fourth byte of a decoded pixel has no meaning.
bool SamePixels(const DecodedImage& a, const DecodedImage& b) {
  if (a.region != b.region || a.eighths != b.eighths) return false;
  const size_t pixels = a.region.size.height * a.region.size.width;
  const uint8_t *left = a.pixels.data(), *right = b.pixels.data();
  for (size_t i = 0; i < pixels; ++i, left += DecodedImage::kPixelBytes, right += DecodedImage::kPixelBytes)
    if (!std::equal(left, left + 3, right)) return false;
  return true;
}

}  // namespace

LosslessMaker::LosslessMaker(const v1::PreparedLossless& settings)
    : layout_{static_cast<int>(settings.restart_interval()), settings.strip()} {}

DecodeOptions LosslessMaker::StrictDecoding() {
  DecodeOptions options;
  options.warnings = v1::DECODE_WARNINGS_FAIL;
  options.time = absl::Hours(1);
  return options;
}

absl::StatusOr<MadeFile> LosslessMaker::Make(std::span<const uint8_t> file) {
  auto made = Transcode(file);
  if (absl::IsDataLoss(made.status())) return MadeFile{.problem = std::string(made.status().message())};
  return made;
}

absl::StatusOr<MadeFile> LosslessMaker::Transcode(std::span<const uint8_t> file) {
  STOKER_ASSIGN_OR_RETURN(const ImageSize size, decoder_.Open(file, StrictDecoding()));
  if (!IsJpeg(AsText(file))) return MadeFile{};
  STOKER_RETURN_IF_ERROR(decoder_.Decode({WholeOf(size)}, before_));
  STOKER_ASSIGN_OR_RETURN(std::vector<uint8_t> transcoded, TranscodeJpeg(file, layout_));
  STOKER_ASSIGN_OR_RETURN(const ImageSize new_size, decoder_.Open(transcoded, StrictDecoding()));
  STOKER_RETURN_IF_ERROR(decoder_.Decode({WholeOf(new_size)}, after_));
  if (!SamePixels(before_, after_)) return absl::DataLossError("its pixels would change");
  return MadeFile{.bytes = std::move(transcoded)};
}

}  // namespace stoker
