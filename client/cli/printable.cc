#include "client/cli/printable.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/config/text.h"

namespace stoker {
namespace {

void AppendEscaped(std::string& printable, std::string_view bytes) {
  for (const char byte : bytes)
    absl::StrAppend(&printable, "\\x", absl::Hex(static_cast<uint8_t>(byte), absl::kZeroPad2));
}

// Returns how many bytes the control character has (C0, DEL or C1) with which `text` begins, or 0 if it begins with
// another. Requires that `text` is not empty.
size_t ControlBytes(std::string_view text) {
  const uint8_t lead = text[0];
  if (lead < 0x20 || lead == 0x7f) return 1;
  return lead == 0xc2 && text.size() > 1 && static_cast<uint8_t>(text[1]) < 0xa0 ? 2 : 0;
}

}  // namespace

std::string Printable(std::string_view text) {
  const bool utf8 = IsUtf8(text);
  std::string printable;
  while (!text.empty()) {
    size_t bytes = ControlBytes(text);
    if (bytes == 0 && !utf8 && static_cast<uint8_t>(text[0]) >= 0x80) bytes = 1;
    if (bytes > 0) {
      AppendEscaped(printable, text.substr(0, bytes));
    } else {
      printable += text[0];
      bytes = 1;
    }
    text.remove_prefix(bytes);
  }
  return printable;
}

}  // namespace stoker
