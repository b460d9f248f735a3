#include "server/decode/other_header.h"

#include <cctype>

namespace stoker {
namespace {

// An unsigned number of `bytes` ≤ 4 bytes at `at`; nothing beyond the end.
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
  // A negative height stores rows from the top on.
  return SizeOf(*height > INT32_MAX ? uint32_t{0} - *height : *height, width);
}

std::optional<ImageSize> PnmSize(std::span<const uint8_t> file) {
  size_t at = 2;
  uint64_t sides[2] = {};
  for (uint64_t& side : sides) {
    while (at < file.size() && (std::isspace(file[at]) != 0 || file[at] == '#')) {
      if (file[at] == '#')
        while (at < file.size() && file[at] != '\n') ++at;
      if (at < file.size()) ++at;
    }
    const size_t first = at;
    for (; at < file.size() && std::isdigit(file[at]) != 0 && at < first + 9; ++at) side = side * 10 + (file[at] - '0');
    if (at >= file.size() || std::isspace(file[at]) == 0) return std::nullopt;
  }
  return SizeOf(static_cast<uint32_t>(sides[1]), static_cast<uint32_t>(sides[0]));
}

std::optional<ImageSize> TiffSize(std::span<const uint8_t> file) {
  constexpr uint32_t kWidth = 256, kHeight = 257, kShort = 3, kLong = 4;
  const bool big_endian = !file.empty() && file[0] == 'M';
  const auto directory = Number(file, 4, 4, big_endian);
  if (!directory.has_value()) return std::nullopt;
  const auto entries = Number(file, *directory, 2, big_endian);
  std::optional<uint32_t> width, height;
  for (uint32_t i = 0; i < entries.value_or(0); ++i) {
    const size_t at = size_t{*directory} + 2 + size_t{12} * i;
    const auto tag = Number(file, at, 2, big_endian), type = Number(file, at + 2, 2, big_endian);
    if (!tag.has_value()) return std::nullopt;
    if (*tag != kWidth && *tag != kHeight) continue;
    std::optional<uint32_t>& side = *tag == kWidth ? width : height;
    if (side.has_value() || (type != kShort && type != kLong) || Number(file, at + 4, 4, big_endian) != 1u)
      return std::nullopt;
    side = Number(file, at + 8, type == kShort ? 2 : 4, big_endian);
  }
  return SizeOf(height, width);
}

}  // namespace stoker
