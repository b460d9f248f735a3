#include "server/decode/decoder.h"

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/decode/flaw.h"
#include "server/decode/jpeg.h"
#include "server/decode/magic.h"
#include "server/decode/other.h"
#include "server/decode/packed.h"
#include "server/decode/png.h"
#include "server/decode/webp.h"

namespace stoker {

// The functions of one format.
struct Codec {
  bool (*matches)(absl::string_view file);
  // Both functions are null for JPEG: a JpegDecoder keeps state between the two.
  absl::StatusOr<ImageSize> (*read_header)(std::span<const uint8_t> file, const DecodeOptions& options);
  absl::Status (*decode)(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                         DecodedImage& image);
};

namespace {

bool IsPng(absl::string_view file) { return absl::StartsWith(file, "\x89PNG\r\n\x1a\n"); }
bool IsWebp(absl::string_view file) {
  return file.size() >= 12 && absl::StartsWith(file, "RIFF") && file.substr(8, 4) == "WEBP";
}

constexpr Codec kCodecs[] = {
    {IsJpeg, nullptr, nullptr},
    {IsPng, ReadPngHeader, DecodePng},
    {IsWebp, ReadWebpHeader, DecodeWebp},
    {IsPacked, ReadPackedHeader, DecodePacked},
    {IsOther, ReadOtherHeader, DecodeOther},
};

constexpr Codec kMapCodec = {IsPng, ReadPngMapHeader, DecodePngMap};

absl::StatusOr<const Codec*> MapCodecOf(std::span<const uint8_t> bytes) {
  const absl::string_view file = AsText(bytes);
  if (kMapCodec.matches(file)) return &kMapCodec;
  if (file.empty()) return FlawError(Flaw::kTruncated, "the file is empty");
  return FlawError(Flaw::kNotAnImage, absl::StrCat("not a PNG, as the file of a map must be (starts with ",
                                                   absl::BytesToHexString(file.substr(0, 12)), ")"));
}

absl::StatusOr<const Codec*> CodecOf(std::span<const uint8_t> bytes) {
  const absl::string_view file = AsText(bytes);
  for (const Codec& codec : kCodecs)
    if (codec.matches(file)) return &codec;
  if (file.empty()) return FlawError(Flaw::kTruncated, "the file is empty");
  return FlawError(Flaw::kNotAnImage, absl::StrCat("not a JPEG, PNG, WebP, BMP, PNM or TIFF file (starts with ",
                                                   absl::BytesToHexString(file.substr(0, 12)), ")"));
}

}  // namespace

Decoder::Decoder() : jpeg_(std::make_unique<JpegDecoder>()) {}
Decoder::~Decoder() = default;

absl::StatusOr<ImageSize> Decoder::Open(std::span<const uint8_t> file, const DecodeOptions& options) {
  const bool is_map = options.content == DecodeOptions::Content::kMap;
  STOKER_ASSIGN_OR_RETURN(codec_, is_map ? MapCodecOf(file) : CodecOf(file));
  file_ = file;
  options_ = options;
  return codec_->read_header == nullptr ? jpeg_->Open(file, options) : codec_->read_header(file, options);
}

bool Decoder::can_reduce() const { return codec_ != nullptr && codec_->decode == nullptr; }

absl::Status Decoder::Decode(const DecodeTarget& target, DecodedImage& image) {
  STOKER_CHECK(codec_ != nullptr && !target.needed.empty());
  return codec_->decode == nullptr ? jpeg_->Decode(target, image) : codec_->decode(file_, options_, target, image);
}

}  // namespace stoker
