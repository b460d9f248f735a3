#include "server/decode/other_header.h"

#include <cctype>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

// Reads an unsigned number of `bytes` ≤ 4 bytes at `at`. Returns nothing where it does not lie within the file.
std::optional<uint32_t> Number(std::span<const uint8_t> file, size_t at, int bytes, bool big_endian) {
  if (at > file.size() || file.size() - at < static_cast<size_t>(bytes)) return std::nullopt;
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | file[at + (big_endian ? i : bytes - 1 - i)];
  return value;
}

std::optional<ImageSize> SizeOf(std::optional<uint32_t> height, std::optional<uint32_t> width) {
  if (height.value_or(0) == 0 || width.value_or(0) == 0) return std::nullopt;
  return ImageSize{*height, *width};
}

}  // namespace

std::optional<ImageSize> BmpSize(std::span<const uint8_t> file) {
  const auto header_bytes = Number(file, 14, 4, false);
  if (!header_bytes.has_value()) return std::nullopt;
  if (*header_bytes == 12) return SizeOf(Number(file, 20, 2, false), Number(file, 18, 2, false));
  const auto width = Number(file, 18, 4, false), height = Number(file, 22, 4, false);
  if (*header_bytes < 40 || width.value_or(0) > INT32_MAX || !height.has_value()) return std::nullopt;
  // A negative height says that rows are stored from the top on.
  return SizeOf(*height > INT32_MAX ? uint32_t{0} - *height : *height, width);
}

namespace {

struct PnmHeader {
  char kind = 0;  // '1' to '6'
  ImageSize size;
  uint32_t most = 1;  // the value of white
  size_t pixels = 0;  // where the pixels begin, in bytes
};

// Reads the number after the spaces and comments at `at`, and moves `at` to its end. A comment ends at a line feed or a
// carriage return.
std::optional<uint32_t> PnmNumber(std::span<const uint8_t> file, size_t& at) {
  const auto is_line_end = [&] { return file[at] == '\n' || file[at] == '\r'; };
  for (; at < file.size() && (std::isspace(file[at]) != 0 || file[at] == '#'); ++at)
    if (file[at] == '#')
      while (at + 1 < file.size() && !is_line_end()) ++at;
  const size_t first = at;
  uint32_t number = 0;
  for (; at < file.size() && std::isdigit(file[at]) != 0 && at < first + 9; ++at)
    number = number * 10 + (file[at] - '0');
  if (at == first || at >= file.size() || std::isspace(file[at]) == 0) return std::nullopt;
  return number;
}

std::optional<PnmHeader> ReadPnmHeader(std::span<const uint8_t> file) {
  PnmHeader header = {.kind = static_cast<char>(file[1])};
  size_t at = 2;
  const auto width = PnmNumber(file, at);
  const auto height = width.has_value() ? PnmNumber(file, at) : std::nullopt;
  const auto size = SizeOf(height, width);
  if (!size.has_value()) return std::nullopt;
  header.size = *size;
  if (header.kind != '1' && header.kind != '4') {
    const auto most = PnmNumber(file, at);
    if (!most.has_value()) return std::nullopt;
    header.most = *most;
  }
  header.pixels = at + 1;
  return header;
}

}  // namespace

std::optional<ImageSize> PnmSize(std::span<const uint8_t> file) {
  const auto header = ReadPnmHeader(file);
  return header.has_value() ? std::optional(header->size) : std::nullopt;
}

std::vector<uint8_t> PlainPnm(std::span<const uint8_t> file) {
  const PnmHeader header = *ReadPnmHeader(file);
  std::string text =
      absl::StrCat("P", std::string(1, header.kind), "\n", header.size.width, " ", header.size.height, "\n");
  if (header.kind != '1' && header.kind != '4') absl::StrAppend(&text, header.most, "\n");
  std::vector<uint8_t> plain(text.begin(), text.end());
  plain.insert(plain.end(), file.begin() + static_cast<ptrdiff_t>(header.pixels), file.end());
  return plain;
}

namespace {

// The entries of the first directory that say how much memory an image takes.
struct TiffDirectory {
  std::optional<uint32_t> width, height, bits, samples, strip_rows, tile_width, tile_height, extra_samples;
};

std::optional<TiffDirectory> ReadTiffDirectory(std::span<const uint8_t> file) {
  constexpr uint32_t kShort = 3, kLong = 4;
  const bool big_endian = !file.empty() && file[0] == 'M';
  const auto start = Number(file, 4, 4, big_endian);
  if (!start.has_value()) return std::nullopt;
  const auto entries = Number(file, *start, 2, big_endian);
  TiffDirectory directory;
  const std::map<uint32_t, std::optional<uint32_t>*> wanted = {
      {256, &directory.width},       {257, &directory.height},       {258, &directory.bits},
      {277, &directory.samples},     {278, &directory.strip_rows},   {322, &directory.tile_width},
      {323, &directory.tile_height}, {338, &directory.extra_samples}};
  for (uint32_t i = 0; i < entries.value_or(0); ++i) {
    const size_t at = size_t{*start} + 2 + size_t{12} * i;
    const auto tag = Number(file, at, 2, big_endian), type = Number(file, at + 2, 2, big_endian);
    if (!tag.has_value()) return std::nullopt;
    const auto found = wanted.find(*tag);
    if (found == wanted.end()) continue;
    std::optional<uint32_t>& value = *found->second;
    const auto count = Number(file, at + 4, 4, big_endian);
    if (value.has_value() || (type != kShort && type != kLong) || count.value_or(0) == 0) return std::nullopt;
    const int bytes = type == kShort ? 2 : 4;
    size_t from = at + 8;
    // Values that do not fit into 4 bytes are stored elsewhere. Only the bits, one value for each sample, may be.
    if (*count > 4 / static_cast<uint32_t>(bytes)) {
      const auto elsewhere = Number(file, at + 8, 4, big_endian);
      if (*tag != 258 || !elsewhere.has_value()) return std::nullopt;
      from = *elsewhere;
    }
    value = Number(file, from, bytes, big_endian);
    if (!value.has_value()) return std::nullopt;
  }
  return directory;
}

}  // namespace

std::optional<ImageSize> TiffSize(std::span<const uint8_t> file) {
  constexpr uint64_t kSmall = 1 << 20;  // pixels that tiles may always have beyond the image
  const auto directory = ReadTiffDirectory(file);
  if (!directory.has_value()) return std::nullopt;
  const auto size = SizeOf(directory->height, directory->width);
  if (!size.has_value()) return std::nullopt;
  const auto width = static_cast<uint64_t>(size->width), height = static_cast<uint64_t>(size->height);
  const bool tiled = directory->tile_width.has_value() || directory->tile_height.has_value();
  const uint64_t tile_width = tiled ? directory->tile_width.value_or(0) : width;
  uint64_t tile_height = tiled ? directory->tile_height.value_or(0) : directory->strip_rows.value_or(UINT32_MAX);
  if (!tiled && tile_height == UINT32_MAX) tile_height = height;  // The image is one strip.
  if (tile_width == 0 || tile_height == 0 || tile_width > UINT16_MAX * uint64_t{16}) return std::nullopt;
  const uint64_t across = (width + tile_width - 1) / tile_width, down = (height + tile_height - 1) / tile_height;
  const uint64_t pixel_bits = uint64_t{directory->bits.value_or(1)} * directory->samples.value_or(1);
  if (directory->extra_samples.has_value()) return std::nullopt;  // OpenCV multiplies by alpha where Pillow drops it.
  const bool much = across * tile_width > (width * height * 2 + kSmall) / (down * tile_height);
  return much || pixel_bits == 0 || pixel_bits > 64 ? std::nullopt : size;
}

}  // namespace stoker
