#ifndef STOKER_SERVER_READ_SYNTHETIC_SYNTHETIC_ROWS_H_
#define STOKER_SERVER_READ_SYNTHETIC_SYNTHETIC_ROWS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/fields/image_size.h"
#include "common/fields/schema.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Values of fields whose samples differ in size, made from a key alone, on every CPU the same. All functions are pure.

// Returns the bits of an 8-byte word that random values of `dtype` may use: floats are finite and below 2.
uint64_t ValueMask(v1::Dtype dtype);

// Fills `bytes` with a stream of SplitMix64 of the seed `key`, as 8-byte words, little-endian, the last one cut.
void Fill(uint64_t key, uint64_t mask, std::span<uint8_t> bytes);

// Returns the rows that a configuration's field is, without a name. InvalidArgument, such as "max_bytes: …", names the
// key that is wrong.
absl::StatusOr<SourceField> SyntheticRows(const v1::SyntheticField& config);

// Returns the values of a sparse field that has some, likewise.
absl::StatusOr<SourceField> SyntheticValues(const v1::SyntheticField& config);

// Returns the rows of a sample. Their number is drawn evenly from as wide a range as has typical_bytes in its middle
// and lies between none and max_bytes. Texts are printable ASCII, numbers as Fill has them. Places of a sparse
// field ascend, evenly over its array. Boxes have a width and a height, and lie with keypoints in an image of that
// size, on quarters of a pixel; without one between 0 and 1.
std::vector<uint8_t> MakeRows(uint64_t key, const SourceField& field, const std::optional<ImageSize>& image);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_SYNTHETIC_SYNTHETIC_ROWS_H_
