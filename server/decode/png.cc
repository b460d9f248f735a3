#include "server/decode/png.h"

#include <spng.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/decode/flaw.h"
#include "server/decode/limits.h"

namespace stoker {
namespace {

// The most unpacked bytes of a chunk of text, a color profile and so on, and also of all of them. It does not bound
// pixels.
constexpr size_t kMaxChunkBytes = size_t{16} << 20;

absl::Status ToStatus(int error) {
  if (error == SPNG_OK) return absl::OkStatus();
  if (error == SPNG_EMEM) return absl::ResourceExhaustedError("no memory to decode a PNG");
  if (error == SPNG_IO_EOF) return FlawError(Flaw::kTruncated, "cannot decode this PNG: the file ends early");
  return absl::DataLossError(absl::StrCat("cannot decode this PNG: ", spng_strerror(error)));
}

// A file that libspng has open.
class PngFile {
 public:
  // Reads the header and checks the limits. It is called first, once.
  absl::Status Open(std::span<const uint8_t> file, const DecodeOptions& options);

  ImageSize size() const { return {header_.height, header_.width}; }

  // Returns the region to decode so that it covers `needed`: whole rows, or all of an interlaced image.
  Region RegionFor(const Region& needed) const;

  // Decodes `region`, which RegionFor returned, into `pixels`, as RGBX.
  absl::Status Read(const Region& region, const Interrupt* interrupt, uint8_t* pixels);

 private:
  struct Free {
    void operator()(spng_ctx* context) const { spng_ctx_free(context); }
  };

  absl::Status ReadRows(const Region& region, const Interrupt* interrupt, uint8_t* pixels, spng_format format,
                        int64_t stride);

  std::unique_ptr<spng_ctx, Free> context_;
  spng_ihdr header_ = {};
};

absl::Status PngFile::Open(std::span<const uint8_t> file, const DecodeOptions& options) {
  context_.reset(spng_ctx_new(0));
  if (context_ == nullptr) return ToStatus(SPNG_EMEM);
  STOKER_RETURN_IF_ERROR(ToStatus(spng_set_chunk_limits(context_.get(), kMaxChunkBytes, kMaxChunkBytes)));
  STOKER_RETURN_IF_ERROR(ToStatus(spng_set_crc_action(context_.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR)));
  STOKER_RETURN_IF_ERROR(ToStatus(spng_set_png_buffer(context_.get(), file.data(), file.size())));
  STOKER_RETURN_IF_ERROR(ToStatus(spng_get_ihdr(context_.get(), &header_)));
  return CheckSize(size(), options);
}

Region PngFile::RegionFor(const Region& needed) const {
  if (header_.interlace_method != SPNG_INTERLACE_NONE) return WholeOf(size());
  return {needed.top, 0, {needed.size.height, size().width}};
}

// Turns `count` 16-bit gray values into RGBX pixels in place: each is clipped to 255 and replicated. It goes from the
// last to the first, because a pixel takes more room than a value.
void ClipGray16ToRgb(uint8_t* pixels, int64_t count) {
  for (int64_t i = count - 1; i >= 0; --i) {
    uint16_t value;
    std::memcpy(&value, pixels + 2 * i, sizeof value);
    std::fill_n(pixels + 4 * i, 3, static_cast<uint8_t>(std::min<uint16_t>(value, 255)));
  }
}

absl::Status PngFile::Read(const Region& region, const Interrupt* interrupt, uint8_t* pixels) {
  const bool gray16 = header_.bit_depth == 16 && header_.color_type == SPNG_COLOR_TYPE_GRAYSCALE;
  const spng_format format = gray16 ? SPNG_FMT_PNG : SPNG_FMT_RGBA8;
  const int64_t stride = region.size.width * (gray16 ? 2 : 4);
  if (header_.interlace_method != SPNG_INTERLACE_NONE) {
    STOKER_RETURN_IF_ERROR(ToStatus(spng_decode_image(context_.get(), pixels, region.size.height * stride, format, 0)));
  } else {
    STOKER_RETURN_IF_ERROR(ReadRows(region, interrupt, pixels, format, stride));
  }
  if (gray16) ClipGray16ToRgb(pixels, region.size.height * region.size.width);
  if (region.bottom() < size().height) return absl::OkStatus();
  // The checksum of the last pixels comes after them, and is checked only here.
  return ToStatus(spng_decode_chunks(context_.get()));
}

absl::Status PngFile::ReadRows(const Region& region, const Interrupt* interrupt, uint8_t* pixels, spng_format format,
                               int64_t stride) {
  STOKER_RETURN_IF_ERROR(ToStatus(spng_decode_image(context_.get(), nullptr, 0, format, SPNG_DECODE_PROGRESSIVE)));
  for (int64_t y = 0; y < region.bottom(); ++y) {
    if (interrupt != nullptr && InterruptedAt(y, *interrupt)) return interrupt->status();
    // A row above the region is written where the region's first row will be.
    uint8_t* row = pixels + std::max<int64_t>(y - region.top, 0) * stride;
    const int error = spng_decode_row(context_.get(), row, stride);
    if (error != SPNG_EOI) STOKER_RETURN_IF_ERROR(ToStatus(error));  // libspng returns EOI with the last row.
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ImageSize> ReadPngHeader(std::span<const uint8_t> file, const DecodeOptions& options) {
  PngFile png;
  STOKER_RETURN_IF_ERROR(png.Open(file, options));
  return png.size();
}

absl::Status DecodePng(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                       DecodedImage& image) {
  const Region& needed = target.needed;
  PngFile png;
  STOKER_RETURN_IF_ERROR(png.Open(file, options));
  STOKER_CHECK(WholeOf(png.size()).Contains(needed));
  image.Reset(png.RegionFor(needed));
  return png.Read(image.region, options.interrupt, image.pixels.data());
}

}  // namespace stoker
