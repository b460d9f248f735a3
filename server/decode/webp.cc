#include "server/decode/webp.h"

#include <webp/decode.h>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/decode/flaw.h"
#include "server/decode/limits.h"

namespace stoker {
namespace {

absl::Status ToStatus(VP8StatusCode code) {
  constexpr char kPrefix[] = "cannot decode this WebP: ";
  switch (code) {
    case VP8_STATUS_OK: return absl::OkStatus();
    case VP8_STATUS_OUT_OF_MEMORY: return absl::ResourceExhaustedError("no memory to decode a WebP");
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED: return FlawError(Flaw::kTruncated, absl::StrCat(kPrefix, "the file ends early"));
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return absl::DataLossError(absl::StrCat(kPrefix, "it uses a feature that libwebp lacks"));
    default: return absl::DataLossError(absl::StrCat(kPrefix, "its bitstream is damaged"));
  }
}

// Widens `needed` by two or three pixels on each side, within the image. It begins at even pixels, as libwebp crops.
Region WithMargin(const Region& needed, ImageSize size) {
  const int64_t top = (needed.top - 2) & ~int64_t{1}, left = (needed.left - 2) & ~int64_t{1};
  return WholeOf(size).Intersection({top, left, {needed.bottom() + 2 - top, needed.right() + 2 - left}});
}

}  // namespace

absl::StatusOr<ImageSize> ReadWebpHeader(std::span<const uint8_t> file, const DecodeOptions& options) {
  WebPBitstreamFeatures features;
  STOKER_RETURN_IF_ERROR(ToStatus(WebPGetFeatures(file.data(), file.size(), &features)));
  const ImageSize size = {features.height, features.width};
  STOKER_RETURN_IF_ERROR(CheckSize(size, options));
  if (features.has_animation) return absl::DataLossError("an animated WebP: only still images are decoded");
  return size;
}

absl::Status DecodeWebp(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                        DecodedImage& image) {
  STOKER_ASSIGN_OR_RETURN(const ImageSize size, ReadWebpHeader(file, options));
  STOKER_CHECK(WholeOf(size).Contains(target.needed));
  image.Reset(WithMargin(target.needed, size));
  WebPDecoderConfig config;
  STOKER_CHECK(WebPInitDecoderConfig(&config));
  config.options.use_cropping = 1;
  config.options.crop_left = static_cast<int>(image.region.left);
  config.options.crop_top = static_cast<int>(image.region.top);
  config.options.crop_width = static_cast<int>(image.region.size.width);
  config.options.crop_height = static_cast<int>(image.region.size.height);
  config.output.colorspace = MODE_RGBA;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {image.pixels.data(), static_cast<int>(image.view().stride), image.pixels.size()};
  return ToStatus(WebPDecode(file.data(), file.size(), &config));
}

}  // namespace stoker
