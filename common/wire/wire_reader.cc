#include "common/wire/wire_reader.h"

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"

namespace stoker {

WireReader::WireReader(std::span<const std::string_view> slices, uint64_t offset) : rest_(slices), offset_(offset) {
  for (std::string_view slice : slices) remaining_ += slice.size();
  DropEmptySlices();
}

absl::StatusOr<uint32_t> WireReader::ReadTag() {
  STOKER_ASSIGN_OR_RETURN(const uint64_t varint, ReadVarint(5));
  const uint32_t tag = static_cast<uint32_t>(varint);
  if (tag >> 3 == 0) return Malformed("field number 0");
  return tag;
}

absl::StatusOr<uint64_t> WireReader::ReadFixed64() {
  if (remaining_ < 8) return Malformed("the message ends within a fixed64");
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 8) value |= uint64_t{NextByte()} << shift;
  return value;
}

absl::StatusOr<std::vector<std::string_view>> WireReader::ReadPieces() {
  STOKER_ASSIGN_OR_RETURN(uint64_t bytes, ReadLength());
  std::vector<std::string_view> pieces;
  while (bytes > 0) {
    pieces.push_back(NextPiece(bytes));
    bytes -= pieces.back().size();
  }
  return pieces;
}

absl::Status WireReader::SkipValue(uint32_t tag) {
  switch (static_cast<WireType>(tag & 7)) {
    case WireType::kVarint: return ReadVarint(10).status();
    case WireType::kFixed64: return Skip(8);
    case WireType::kFixed32: return Skip(4);
    case WireType::kLengthDelimited: {
      STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, ReadLength());
      return Skip(bytes);
    }
  }
  return Malformed(absl::StrCat("field ", tag >> 3, " has wire type ", tag & 7));
}

absl::Status WireReader::Malformed(const std::string& what) const {
  return absl::DataLossError(absl::StrCat("malformed message at byte ", offset_, ": ", what));
}

absl::StatusOr<uint64_t> WireReader::ReadVarint(int max_bytes) {
  uint64_t value = 0;
  for (int i = 0; i < max_bytes; ++i) {
    if (AtEnd()) return Malformed("the message ends within a varint");
    const uint8_t byte = NextByte();
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) return value;
  }
  return Malformed("a varint without an end");
}

absl::StatusOr<uint64_t> WireReader::ReadLength() {
  STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, ReadVarint(5));
  if (bytes > remaining_) return Malformed(absl::StrCat(bytes, " bytes announced, ", remaining_, " left"));
  return bytes;
}

absl::Status WireReader::Skip(uint64_t bytes) {
  if (bytes > remaining_) return Malformed("the message ends within a field");
  while (bytes > 0) bytes -= NextPiece(bytes).size();
  return absl::OkStatus();
}

uint8_t WireReader::NextByte() { return static_cast<uint8_t>(NextPiece(1).front()); }

std::string_view WireReader::NextPiece(uint64_t max_bytes) {
  STOKER_CHECK(!slice_.empty());
  const std::string_view piece = slice_.substr(0, max_bytes);
  slice_.remove_prefix(piece.size());
  offset_ += piece.size();
  remaining_ -= piece.size();
  DropEmptySlices();
  return piece;
}

void WireReader::DropEmptySlices() {
  while (slice_.empty() && !rest_.empty()) {
    slice_ = rest_.front();
    rest_ = rest_.subspan(1);
  }
}

}  // namespace stoker
