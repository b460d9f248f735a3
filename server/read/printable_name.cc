#include "server/read/printable_name.h"

#include <bit>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

bool IsPrintable(uint32_t character) {
  if (character < 0x20 || (character >= 0x7f && character <= 0x9f)) return false;  // control characters C0, DEL, C1
  if (character >= 0x2028 && character <= 0x202e) return false;  // separators and bidirectional embeddings
  return character < 0x2066 || character > 0x2069;               // bidirectional isolates
}

// Returns how many bytes the printable character has that `text` begins with, or 0 where it begins with none. Requires
// that `text` is not empty. UTF-8 is that of RFC 3629: the shortest form, no surrogates, nothing above U+10FFFF.
size_t PrintableBytes(std::string_view text) {
  const uint8_t lead = text[0];
  if (lead < 0x80) return IsPrintable(lead) ? 1 : 0;
  const size_t bytes = std::countl_one(lead);
  if (bytes < 2 || bytes > 4 || bytes > text.size()) return 0;
  uint32_t character = lead & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const uint8_t next = text[i];
    if ((next & 0xc0) != 0x80) return 0;
    character = character << 6 | (next & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (character < kSmallest[bytes] || character > 0x10ffff) return 0;
  if (character >= 0xd800 && character <= 0xdfff) return 0;
  return IsPrintable(character) ? bytes : 0;
}

}  // namespace

std::string PrintableName(std::string_view name) {
  std::string printable;
  printable.reserve(name.size());
  while (!name.empty()) {
    size_t bytes = PrintableBytes(name);
    if (bytes == 0) {
      bytes = 1;
      absl::StrAppend(&printable, "\\x", absl::Hex(static_cast<uint8_t>(name[0]), absl::kZeroPad2));
    } else {
      if (name[0] == '\\') printable += '\\';
      printable.append(name.substr(0, bytes));
    }
    name.remove_prefix(bytes);
  }
  return printable;
}

std::string ShortPrintableName(std::string_view name) {
  constexpr size_t kMaxBytes = 256, kEndBytes = 127;
  if (name.size() <= kMaxBytes) return PrintableName(name);
  return absl::StrCat(PrintableName(name.substr(0, kEndBytes)), "…",
                      PrintableName(name.substr(name.size() - kEndBytes)));
}

absl::Status NamedError(std::string_view name, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(ShortPrintableName(name), ": ", status.message()));
}

}  // namespace stoker
