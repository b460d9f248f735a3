#ifndef STOKER_SERVER_READ_FORMATS_LMDB_VALUE_H_
#define STOKER_SERVER_READ_FORMATS_LMDB_VALUE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"

namespace stoker {

// What the value of an entry holds of a sample. It refers to the value's bytes.
struct LmdbValue {
  std::span<const uint8_t> image;  // an image file, or pixels
  // Height, width and channels of pixels, which lie channel by channel.
  std::optional<std::array<int64_t, 3>> pixels;
  std::optional<int64_t> label;
};

// Functions that take values apart. All are pure, copy nothing and never run what a value says. Any bytes are safe;
// errors are DataLoss and say what is wrong with the value.

// Parses Caffe's Datum in protobuf's wire format:
//
//   1: channels, 2: height, 3: width, 4: bytes, 5: label, 7: whether the bytes are an image file
//
// A label that is left out is 0.
absl::StatusOr<LmdbValue> ParseDatum(std::span<const uint8_t> value);

// Parses what Python's pickle makes of a tuple or list of bytes and a whole number, by protocols 3 to 5, or of bytes
// alone. Only the opcodes of these are known, hence no object is ever made.
absl::StatusOr<LmdbValue> ParsePickle(std::span<const uint8_t> value);

// Parses a MessagePack array of bytes and a whole number, or of bytes alone. Bytes may be a uint8 array with one
// dimension, and the number a NumPy scalar, both as msgpack-numpy encodes them: a map with nd, type, shape and data.
absl::StatusOr<LmdbValue> ParseMsgpack(std::span<const uint8_t> value);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_LMDB_VALUE_H_
