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

// Reads the fields of one protobuf message (https://protobuf.dev/programming-guides/encoding/). The message lies in any
// number of slices, cut anywhere. The reader accepts what protobuf's C++ parser accepts: tags of up to five bytes and
// varints of up to ten, whose superfluous high bits are dropped.
//
// It copies nothing and reads nothing outside of the slices, which must outlive it and all that it returns. Single
// owner. Errors are DataLoss and name the offset in the whole message. After an error the reader must not be used.
class WireReader {
 public:
  // `offset` is where the first slice begins in the whole message, for errors.
  explicit WireReader(std::span<const std::string_view> slices, uint64_t offset = 0);

  bool AtEnd() const { return remaining_ == 0; }
  uint64_t offset() const { return offset_; }        // bytes, in the whole message
  uint64_t remaining() const { return remaining_; }  // bytes

  // Reads a field's number and wire type, packed as by MakeTag. A field number of 0 is an error.
  absl::StatusOr<uint32_t> ReadTag();

  // Reads the eight bytes of a fixed64 value, low byte first.
  absl::StatusOr<uint64_t> ReadFixed64();

  // Reads the length and the bytes of a length-delimited value. The pieces point into the slices; none is empty.
  absl::StatusOr<std::vector<std::string_view>> ReadPieces();

  // Skips the value of a field that began with `tag`. Groups are errors.
  absl::Status SkipValue(uint32_t tag);

  // Makes the error that says `what` is wrong at the present offset.
  absl::Status Malformed(const std::string& what) const;

 private:
  absl::StatusOr<uint64_t> ReadVarint(int max_bytes);
  absl::StatusOr<uint64_t> ReadLength();
  absl::Status Skip(uint64_t bytes);
  uint8_t NextByte();
  std::string_view NextPiece(uint64_t max_bytes);
  void DropEmptySlices();

  std::span<const std::string_view> rest_;  // slices not begun
  std::string_view slice_;                  // the unread part of the present slice; empty only at the end
  uint64_t offset_;
  uint64_t remaining_ = 0;  // bytes in slice_ and rest_
};

enum class WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

// A tag is the field's number in bits 3 and up, and the wire type in bits 0 to 2.
constexpr uint32_t MakeTag(uint32_t field_number, WireType type) {
  return field_number << 3 | static_cast<uint32_t>(type);
}

}  // namespace stoker

#endif  // STOKER_COMMON_WIRE_WIRE_READER_H_
