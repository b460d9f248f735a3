#include "server/decode/webp.h"

#include <webp/decode.h>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/decode/limits.h"

namespace stoker {
namespace {

absl::Status ToStatus(VP8StatusCode code) {
  constexpr char kPrefix[] = "cannot decode this WebP: ";
  switch (code) {
    case VP8_STATUS_OK: return absl::OkStatus();
    case VP8_STATUS_OUT_OF_MEMORY: return absl::ResourceExhaustedError("no memory to decode a WebP");
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED: return absl::DataLossError(absl::StrCat(kPrefix, "the file ends early"));
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return absl::DataLossError(absl::StrCat(kPrefix, "it uses a feature that libwebp lacks"));
    default: return absl::DataLossError(absl::StrCat(kPrefix, "its bitstream is damaged"));
  }
}

}  // namespace

absl::StatusOr<ImageSize> ReadWebpHeader(std::span<const uint8_t> file, const Decoder::Options& options) {
  WebPBitstreamFeatures features;
  STOKER_RETURN_IF_ERROR(ToStatus(WebPGetFeatures(file.data(), file.size(), &features)));
  const ImageSize size = {features.height, features.width};
  STOKER_RETURN_IF_ERROR(CheckSize(size, options));
  if (features.has_animation) return absl::DataLossError("an animated WebP: only still images are decoded");
  return size;
}

absl::Status DecodeWebp(std::span<const uint8_t> file, const Decoder::Options& options, const Region& needed,
                        DecodedImage& image) {
  STOKER_ASSIGN_OR_RETURN(const ImageSize size, ReadWebpHeader(file, options));
  STOKER_CHECK(WholeOf(size).Contains(needed));
  image.Reset(WholeOf(size));
  WebPDecoderConfig config;
  STOKER_CHECK(WebPInitDecoderConfig(&config));
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {image.pixels.data(), static_cast<int>(size.width * 3), image.pixels.size()};
  return ToStatus(WebPDecode(file.data(), file.size(), &config));
}

}  // namespace stoker
