#ifndef STOKER_SERVER_READ_FORMATS_TFRECORD_EXAMPLE_H_
#define STOKER_SERVER_READ_FORMATS_TFRECORD_EXAMPLE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stoker {

// Reads tf.train.Example messages in protobuf's wire format. Only what is asked for is read, and nothing is copied
// before. A SequenceExample reads as the Example of its context. All functions are pure; any bytes are safe; errors are
// DataLoss.
//
//   Example   {1: Features}
//   Features  {1: a map's entry {1: name, 2: Feature}, repeated}
//   Feature   one of {1: BytesList, 2: FloatList, 3: Int64List}
//   lists     {1: value, repeated}; numbers may be packed

struct Feature {
  enum class Kind { kNone, kBytes, kFloats, kInts };
  std::string_view name;
  Kind kind = Kind::kNone;          // of a feature without values there may be none
  std::span<const uint8_t> values;  // the list's message
};

// Calls `visit` for each feature, in their order there. An error of `visit` ends it.
absl::Status VisitFeatures(std::span<const uint8_t> example, const std::function<absl::Status(const Feature&)>& visit);

// Return the values of a feature of their kind.
absl::StatusOr<std::vector<std::span<const uint8_t>>> BytesValues(const Feature& feature);

// Replace `elements` by the values, eight bytes an integer and four a float, little-endian. An error where there are
// other than `count`.
absl::Status IntValues(const Feature& feature, uint64_t count, std::vector<uint8_t>& elements);
absl::Status FloatValues(const Feature& feature, uint64_t count, std::vector<uint8_t>& elements);

// Returns the number of values.
absl::StatusOr<uint64_t> CountValues(const Feature& feature);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TFRECORD_EXAMPLE_H_
