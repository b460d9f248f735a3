#include "server/decode/packed.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/decode/flaw.h"
#include "server/decode/limits.h"

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little);  // Numbers are copied as they are in memory.

constexpr absl::string_view kMagic = "\x93STOKER\n";
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = 28;
constexpr size_t kMaxReasonBytes = 4096;

struct Header {
  uint32_t version = kVersion, height = 0, width = 0;
  uint64_t checksum = 0;
};

uint64_t Checksum(const Header& header, const uint8_t* content, size_t bytes) {
  return XXH3_64bits_withSeed(content, bytes, uint64_t{header.height} << 32 | header.width);
}

std::vector<uint8_t> Pack(Header header, const void* content, size_t bytes) {
  header.checksum = Checksum(header, static_cast<const uint8_t*>(content), bytes);
  std::vector<uint8_t> file(kHeaderBytes + bytes);
  uint8_t* out = file.data();
  const auto put = [&out](const void* from, size_t count) {
    std::memcpy(out, from, count);
    out += count;
  };
  put(kMagic.data(), kMagic.size());
  put(&header.version, 4);
  put(&header.height, 4);
  put(&header.width, 4);
  put(&header.checksum, 8);
  if (bytes > 0) put(content, bytes);
  return file;
}

absl::StatusOr<Header> ReadHeader(std::span<const uint8_t> file) {
  if (file.size() < kHeaderBytes) return FlawError(Flaw::kTruncated, "a packed image that ends in its header");
  Header header;
  std::memcpy(&header.version, &file[8], 4);
  std::memcpy(&header.height, &file[12], 4);
  std::memcpy(&header.width, &file[16], 4);
  std::memcpy(&header.checksum, &file[20], 8);
  if (header.version == kVersion) return header;
  return absl::DataLossError(absl::StrCat("a packed image of version ", header.version, ", where this build knows ",
                                          kVersion, ": prepare it again, by stokerd prepare --overwrite"));
}

absl::Status CheckContent(const Header& header, std::span<const uint8_t> content) {
  if (Checksum(header, content.data(), content.size()) == header.checksum) return absl::OkStatus();
  return absl::DataLossError("a packed image whose checksum fails: prepare it again, by stokerd prepare --overwrite");
}

absl::Status Reason(const Header& header, std::span<const uint8_t> content) {
  if (header.height != header.width || content.empty() || content.size() > kMaxReasonBytes)
    return absl::DataLossError("a packed image without pixels: prepare it again, by stokerd prepare --overwrite");
  STOKER_RETURN_IF_ERROR(CheckContent(header, content));
  std::string reason(content.begin(), content.end());
  for (char& c : reason)
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';  // The reason goes to logs and over the wire.
  return absl::DataLossError(reason);
}

void WidenRow(const uint8_t* rgb, int64_t width, uint8_t* rgbx) {
  for (int64_t x = 0; x < width; ++x, rgb += 3, rgbx += 4) {
    rgbx[0] = rgb[0];
    rgbx[1] = rgb[1];
    rgbx[2] = rgb[2];
    rgbx[3] = 255;
  }
}

}  // namespace

bool IsPacked(absl::string_view file) { return absl::StartsWith(file, kMagic); }

absl::StatusOr<ImageSize> ReadPackedHeader(std::span<const uint8_t> file, const DecodeOptions& options) {
  STOKER_ASSIGN_OR_RETURN(const Header header, ReadHeader(file));
  const ImageSize size = {header.height, header.width};
  if (size.height == 0 || size.width == 0) return Reason(header, file.subspan(kHeaderBytes));
  STOKER_RETURN_IF_ERROR(CheckSize(size, options));
  const uint64_t expected = kHeaderBytes + static_cast<uint64_t>(size.height * size.width * 3);
  if (file.size() == expected) return size;
  return absl::DataLossError(absl::StrCat("a packed image of ", size.width, "x", size.height, " pixels that has ",
                                          file.size(), " bytes in place of ", expected,
                                          ": prepare it again, by stokerd prepare --overwrite"));
}

absl::Status DecodePacked(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                          DecodedImage& image) {
  STOKER_ASSIGN_OR_RETURN(const ImageSize size, ReadPackedHeader(file, options));
  STOKER_CHECK(WholeOf(size).Contains(target.needed));
  STOKER_ASSIGN_OR_RETURN(const Header header, ReadHeader(file));
  const std::span<const uint8_t> pixels = file.subspan(kHeaderBytes);
  STOKER_RETURN_IF_ERROR(CheckContent(header, pixels));
  image.Reset(target.needed);
  const auto [height, width] = target.needed.size;
  for (int64_t y = 0; y < height; ++y) {
    const int64_t first = (target.needed.top + y) * size.width + target.needed.left;
    WidenRow(&pixels[first * 3], width, &image.pixels[y * width * DecodedImage::kPixelBytes]);
  }
  return absl::OkStatus();
}

std::vector<uint8_t> PackImage(ImageSize size, std::span<const uint8_t> rgb) {
  STOKER_CHECK(size.height > 0 && size.width > 0 && std::max(size.height, size.width) <= UINT32_MAX);
  STOKER_CHECK(rgb.size() == static_cast<uint64_t>(size.height * size.width * 3));
  const Header header = {.height = static_cast<uint32_t>(size.height), .width = static_cast<uint32_t>(size.width)};
  return Pack(header, rgb.data(), rgb.size());
}

std::vector<uint8_t> PackReason(absl::string_view reason) {
  if (reason.empty()) reason = "its source cannot be decoded";
  return Pack({}, reason.data(), std::min(reason.size(), kMaxReasonBytes));
}

}  // namespace stoker
