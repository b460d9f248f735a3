#ifndef STOKER_COMMON_WIRE_WIRE_READER_H_
#define STOKER_COMMON_WIRE_WIRE_READER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stoker {

// Reads the fields of one protobuf message that lies in slices, of any number and cut anywhere
// (https://protobuf.dev/programming-guides/encoding/). Accepts what protobuf's C++ parser accepts: a tag of up to
// five bytes, a varint of up to ten, superfluous high bits dropped.
//
// Reads nothing outside of the slices and copies nothing; they outlive the reader and what it returns. Single
// owner. Errors are DataLoss and name the offset in the whole message; the reader is of no use after one.
class WireReader {
 public:
  // `offset`: of the first byte in the whole message, for errors.
  explicit WireReader(std::span<const std::string_view> slices, uint64_t offset = 0);

  bool AtEnd() const { return remaining_ == 0; }
  uint64_t offset() const { return offset_; }
  uint64_t remaining() const { return remaining_; }

  // A field's number and wire type, as MakeTag packs them. The number is not 0.
  absl::StatusOr<uint32_t> ReadTag();

  absl::StatusOr<uint64_t> ReadFixed64();

  // The bytes of a length-delimited field, in the pieces that they lie in, none of them empty.
  absl::StatusOr<std::vector<std::string_view>> ReadPieces();

  // Passes over the value of a field that began with `tag`. Groups are refused.
  absl::Status SkipValue(uint32_t tag);

  // What is wrong at the present offset.
  absl::Status Malformed(const std::string& what) const;

 private:
  absl::StatusOr<uint64_t> ReadVarint(int max_bytes);
  absl::StatusOr<uint64_t> ReadLength();
  absl::Status Skip(uint64_t bytes);
  uint8_t NextByte();
  std::string_view NextPiece(uint64_t max_bytes);
  void DropEmptySlices();

  std::span<const std::string_view> rest_;  // Slices not begun.
  std::string_view slice_;                  // What is left of the present one; empty at the end only.
  uint64_t offset_;
  uint64_t remaining_ = 0;  // Bytes in slice_ and rest_.
};

enum class WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

constexpr uint32_t MakeTag(uint32_t field_number, WireType type) {
  return field_number << 3 | static_cast<uint32_t>(type);
}

}  // namespace stoker

#endif  // STOKER_COMMON_WIRE_WIRE_READER_H_
