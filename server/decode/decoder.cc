#include "server/decode/decoder.h"

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/decode/jpeg.h"
#include "server/decode/png.h"
#include "server/decode/webp.h"

namespace stoker {
namespace {

struct Format {
  bool (*matches)(absl::string_view file);
  absl::StatusOr<ImageSize> (*read_header)(std::span<const uint8_t> file, const Decoder::Options& options);
  absl::Status (*decode)(std::span<const uint8_t> file, const Decoder::Options& options, const Region& needed,
                         DecodedImage& image);
};

bool IsJpeg(absl::string_view file) { return absl::StartsWith(file, "\xff\xd8\xff"); }
bool IsPng(absl::string_view file) { return absl::StartsWith(file, "\x89PNG\r\n\x1a\n"); }
bool IsWebp(absl::string_view file) {
  return file.size() >= 12 && absl::StartsWith(file, "RIFF") && file.substr(8, 4) == "WEBP";
}

constexpr Format kFormats[] = {
    {IsJpeg, ReadJpegHeader, DecodeJpeg},
    {IsPng, ReadPngHeader, DecodePng},
    {IsWebp, ReadWebpHeader, DecodeWebp},
};

absl::StatusOr<const Format*> FormatOf(std::span<const uint8_t> bytes) {
  const absl::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Format& format : kFormats)
    if (format.matches(file)) return &format;
  if (file.empty()) return absl::DataLossError("the file is empty");
  return absl::DataLossError(
      absl::StrCat("not a JPEG, PNG or WebP file (starts with ", absl::BytesToHexString(file.substr(0, 12)), ")"));
}

}  // namespace

absl::StatusOr<ImageSize> Decoder::ReadHeader(std::span<const uint8_t> file, const Options& options) {
  STOKER_ASSIGN_OR_RETURN(const Format* format, FormatOf(file));
  return format->read_header(file, options);
}

absl::Status Decoder::Decode(std::span<const uint8_t> file, const Options& options, const Region& needed,
                             DecodedImage& image) {
  STOKER_CHECK(needed.size.height > 0 && needed.size.width > 0);
  STOKER_ASSIGN_OR_RETURN(const Format* format, FormatOf(file));
  return format->decode(file, options, needed, image);
}

}  // namespace stoker
