#include "common/config/text.h"

#include <cstdint>

#include "absl/strings/escaping.h"

namespace stoker {

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const uint8_t lead = text[i++];
    if (lead < 0x80) continue;
    const size_t more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (lead < 0xc2 || lead > 0xf4 || text.size() - i < more) return false;
    // The second byte has tighter bounds. They exclude overlong forms, surrogates and code points above U+10FFFF.
    uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    for (const size_t end = i + more; i < end; ++i, low = 0x80, high = 0xbf) {
      const uint8_t byte = text[i];
      if (byte < low || byte > high) return false;
    }
  }
  return true;
}

std::string Shown(std::string_view text) {
  constexpr size_t kMaxBytes = 64;
  if (text.size() <= kMaxBytes) return absl::Utf8SafeCHexEscape({text.data(), text.size()});
  size_t end = kMaxBytes;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // Do not cut within a character.
  return absl::Utf8SafeCHexEscape({text.data(), end}) + "...";
}

}  // namespace stoker
