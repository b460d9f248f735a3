#ifndef STOKER_SERVER_AUGMENT_MAP_H_
#define STOKER_SERVER_AUGMENT_MAP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "common/ops/parameters.h"
#include "server/decode/image.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Label maps and binary maps take the way of images. Each value becomes a pixel, so that the passes that move an image
// move its maps too, to the same places:
//
//   red    the value's lower 8 bits
//   green  its upper 8 bits, of int16
//   blue   1 where a file's value is above 32767, which no map can hold
//
// All functions are pure.

// Returns what `ops`, drawn for an image, do to a map that lies on it. It is moved by the nearest pixel, and what comes
// from outside is map_fill. What changes an image's values alone is left out.
std::vector<OpParameters> MapOps(std::span<const OpParameters> ops);

// Writes the pixels, of 3 bytes each, of `values`, which are uint8 or int16.
void WriteMapPixels(std::span<const uint8_t> values, v1::Dtype dtype, uint8_t* rgb);

// OK if the pixels' values are those that a map may have: WriteMapValues would take them. DataLoss otherwise.
absl::Status CheckMapValues(const ImageView& pixels, v1::FieldKind kind, v1::Dtype dtype);

// Writes the values of pixels of 3 bytes each as a span carries them. LABEL_MAP: as `dtype`, which is uint8 or int16.
// BINARY_MAP: as one bit each, which is set where the value is not 0; the first is the highest of its byte, and bits
// that fill up the last byte are 0. DataLoss where a value does not fit.
absl::Status WriteMapValues(std::span<const uint8_t> rgb, v1::FieldKind kind, v1::Dtype dtype, std::span<uint8_t> out);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_MAP_H_
