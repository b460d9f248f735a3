#include "server/decode/png.h"

#include <spng.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

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

// Returns value number `x` of a row of values of `bits` bits each. Those of less than 8 are packed from the highest bit
// of a byte on, and those of 16 have the machine's byte order.
uint16_t ValueAt(const uint8_t* row, int bits, int64_t x) {
  if (bits == 16) {
    uint16_t value;
    std::memcpy(&value, row + 2 * x, sizeof value);
    return value;
  }
  const int64_t first_bit = x * bits;
  return (row[first_bit / 8] >> (8 - bits - first_bit % 8)) & ((1 << bits) - 1);
}

// Writes a map's value as a pixel.
void WriteValue(uint16_t value, uint8_t* pixel) {
  pixel[0] = static_cast<uint8_t>(value);
  pixel[1] = static_cast<uint8_t>(value >> 8);
  pixel[2] = value > INT16_MAX ? 1 : 0;
  pixel[3] = 0;
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

  // OK if the file may be a map: it has one channel.
  absl::Status CheckIsMap() const;

  // Decodes `region` as Read does, into pixels that hold a map's values.
  absl::Status ReadMap(const Region& region, const Interrupt* interrupt, uint8_t* pixels);

 private:
  struct Free {
    void operator()(spng_ctx* context) const { spng_ctx_free(context); }
  };

  // Decodes `region` in `format`, its rows `stride` bytes apart, and checks the file's end if it comes so far.
  absl::Status ReadAs(spng_format format, int64_t stride, const Region& region, const Interrupt* interrupt,
                      uint8_t* pixels);
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
  STOKER_RETURN_IF_ERROR(
      ReadAs(gray16 ? SPNG_FMT_PNG : SPNG_FMT_RGBA8, region.size.width * (gray16 ? 2 : 4), region, interrupt, pixels));
  if (gray16) ClipGray16ToRgb(pixels, region.size.height * region.size.width);
  return absl::OkStatus();
}

absl::Status PngFile::ReadAs(spng_format format, int64_t stride, const Region& region, const Interrupt* interrupt,
                             uint8_t* pixels) {
  if (header_.interlace_method != SPNG_INTERLACE_NONE) {
    STOKER_RETURN_IF_ERROR(ToStatus(spng_decode_image(context_.get(), pixels, region.size.height * stride, format, 0)));
  } else {
    STOKER_RETURN_IF_ERROR(ReadRows(region, interrupt, pixels, format, stride));
  }
  if (region.bottom() < size().height) return absl::OkStatus();
  // The checksum of the last pixels comes after them, and is checked only here.
  return ToStatus(spng_decode_chunks(context_.get()));
}

absl::Status PngFile::CheckIsMap() const {
  if (header_.color_type == SPNG_COLOR_TYPE_GRAYSCALE || header_.color_type == SPNG_COLOR_TYPE_INDEXED)
    return absl::OkStatus();
  return FlawError(Flaw::kNotAnImage,
                   "this PNG has colors or transparency; a map has one channel, gray or numbers of a palette");
}

absl::Status PngFile::ReadMap(const Region& region, const Interrupt* interrupt, uint8_t* pixels) {
  const int bits = header_.bit_depth;
  const int64_t stride = (region.size.width * bits + 7) / 8;
  std::vector<uint8_t> rows(region.size.height * stride);
  STOKER_RETURN_IF_ERROR(ReadAs(SPNG_FMT_PNG, stride, region, interrupt, rows.data()));
  for (int64_t y = 0; y < region.size.height; ++y)
    for (int64_t x = 0; x < region.size.width; ++x, pixels += DecodedImage::kPixelBytes)
      WriteValue(ValueAt(&rows[y * stride], bits, x), pixels);
  return absl::OkStatus();
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

absl::StatusOr<ImageSize> ReadPngMapHeader(std::span<const uint8_t> file, const DecodeOptions& options) {
  PngFile png;
  STOKER_RETURN_IF_ERROR(png.Open(file, options));
  STOKER_RETURN_IF_ERROR(png.CheckIsMap());
  return png.size();
}

absl::Status DecodePngMap(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                          DecodedImage& image) {
  PngFile png;
  STOKER_RETURN_IF_ERROR(png.Open(file, options));
  STOKER_RETURN_IF_ERROR(png.CheckIsMap());
  STOKER_CHECK(WholeOf(png.size()).Contains(target.needed));
  image.Reset(png.RegionFor(target.needed));
  return png.ReadMap(image.region, options.interrupt, image.pixels.data());
}

}  // namespace stoker
