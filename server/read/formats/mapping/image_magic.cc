#include "server/read/formats/mapping/image_magic.h"

#include <string_view>

namespace stoker {
namespace {

bool HasAt(std::string_view bytes, size_t place, std::string_view magic) {
  return bytes.size() >= place + magic.size() && bytes.substr(place, magic.size()) == magic;
}

// "BM" alone may begin any text. A BMP has four reserved bytes, which are 0, and an information header of a known size.
bool IsBmp(std::string_view bytes) {
  return HasAt(bytes, 0, "BM") && HasAt(bytes, 6, {"\0\0\0\0", 4}) && bytes.size() >= 26 &&
         HasAt(bytes, 15, {"\0\0\0", 3});
}

}  // namespace

bool BeginsAsImage(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return HasAt(text, 0, "\xff\xd8\xff") || HasAt(text, 0, "\x89PNG\r\n\x1a\n") ||
         (HasAt(text, 0, "RIFF") && HasAt(text, 8, "WEBP")) || HasAt(text, 0, "GIF87a") || HasAt(text, 0, "GIF89a") ||
         HasAt(text, 0, "\x93STOKER\n") || HasAt(text, 0, {"II*\0", 4}) || HasAt(text, 0, {"MM\0*", 4}) || IsBmp(text);
}

}  // namespace stoker
