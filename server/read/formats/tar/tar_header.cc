#include "server/read/formats/tar/tar_header.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr uint64_t kMostBytes = (uint64_t{1} << 63) - 1;

// A field of the header: its first byte and their number.
//
//   0 name 100 mode … 124 size 136 mtime 148 checksum 156 type 157 link 257 magic 263 version … 345 prefix 500
struct Place {
  size_t begin, bytes;
};
constexpr Place kName{0, 100}, kSize{124, 12}, kChecksum{148, 8}, kMagic{257, 6}, kPrefix{345, 155};
constexpr size_t kType = 156;

std::string_view At(std::string_view block, Place place) { return block.substr(place.begin, place.bytes); }

// Returns what stands before the first NUL.
std::string_view TextAt(std::string_view block, Place place) {
  const std::string_view field = At(block, place);
  return field.substr(0, field.find('\0'));
}

// Parses a number in octal digits among spaces and NULs or, as GNU tar writes larger ones, in base 256.
absl::StatusOr<uint64_t> NumberAt(std::string_view block, Place place, absl::string_view what) {
  const std::string_view field = At(block, place);
  const auto wrong = [&] { return absl::DataLossError(absl::StrCat("its ", what, " is no number that can be")); };
  const uint8_t first = field[0];
  uint64_t number = 0;
  if (first & 0x80) {
    if (first != 0x80) return wrong();  // It is negative, or has more than 88 bits.
    for (const char byte : field.substr(1)) {
      if (number > kMostBytes >> 8) return wrong();
      number = number << 8 | static_cast<uint8_t>(byte);
    }
    return number;
  }
  size_t i = field.find_first_not_of(' ');
  for (; i < field.size() && field[i] >= '0' && field[i] <= '7'; ++i) {
    if (number > kMostBytes >> 3) return wrong();
    number = number << 3 | static_cast<uint64_t>(field[i] - '0');
  }
  if (i < field.size() && field[i] != ' ' && field[i] != '\0') return wrong();
  return number;
}

// The sum of all bytes, where the checksum itself counts as spaces. Some old archives have the sum of signed bytes.
bool IsChecksum(std::string_view block, uint64_t checksum) {
  int64_t as_unsigned = 0, as_signed = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    const bool inside = i >= kChecksum.begin && i < kChecksum.begin + kChecksum.bytes;
    const char byte = inside ? ' ' : block[i];
    as_unsigned += static_cast<uint8_t>(byte);
    as_signed += static_cast<int8_t>(byte);
  }
  const auto expected = static_cast<int64_t>(checksum);
  return as_unsigned == expected || as_signed == expected;
}

}  // namespace

absl::StatusOr<TarHeader> ParseTarHeader(std::span<const uint8_t, kTarBlock> bytes) {
  const std::string_view block(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  TarHeader header;
  header.is_end = std::all_of(block.begin(), block.end(), [](char byte) { return byte == 0; });
  if (header.is_end) return header;
  STOKER_ASSIGN_OR_RETURN(const uint64_t checksum, NumberAt(block, kChecksum, "checksum"));
  if (!IsChecksum(block, checksum)) return absl::DataLossError("its checksum is wrong");
  header.type = block[kType];
  STOKER_ASSIGN_OR_RETURN(header.size, NumberAt(block, kSize, "size"));
  header.name = TextAt(block, kName);
  // GNU tar has times where POSIX has the prefix.
  const std::string_view prefix = At(block, kMagic) == std::string_view("ustar\0", 6) ? TextAt(block, kPrefix) : "";
  if (!prefix.empty()) header.name = absl::StrCat(std::string(prefix), "/", header.name);
  return header;
}

absl::StatusOr<PaxRecords> ParsePaxRecords(std::string_view data) {
  const auto wrong = [](absl::string_view what) {
    return absl::DataLossError(absl::StrCat("its pax records: ", what));
  };
  PaxRecords records;
  // Each record is "LENGTH KEY=VALUE\n", where the length is that of the whole record.
  while (!data.empty() && data[0] != '\0') {
    const size_t space = data.find(' ');
    uint64_t length = 0;
    if (space > 20 || !absl::SimpleAtoi(absl::string_view(data.data(), space), &length)) return wrong("no length");
    if (length > data.size() || length < space + 3 || data[length - 1] != '\n') return wrong("a wrong length");
    const std::string_view record = data.substr(space + 1, length - space - 2);
    data.remove_prefix(length);
    const size_t equals = record.find('=');
    if (equals == record.npos) return wrong("no '='");
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") {
      if (value.find('\0') != value.npos) return wrong("a path with a zero byte");
      records.path = value;
    } else if (key == "size") {
      uint64_t size = 0;
      if (!absl::SimpleAtoi(absl::string_view(value.data(), value.size()), &size) || size > kMostBytes)
        return wrong("a size that is no number that can be");
      records.size = size;
    } else if (key.starts_with("GNU.sparse.")) {
      records.is_sparse = true;
    }
  }
  return records;
}

}  // namespace stoker
