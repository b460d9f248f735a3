#ifndef STOKER_SERVER_PREPARE_JPEG_WRITER_H_
#define STOKER_SERVER_PREPARE_JPEG_WRITER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/fields/schema.h"

namespace stoker {

// Writes JPEGs that are cheap to read in part: one baseline scan, Huffman tables made for the image, and a restart
// marker every few MCUs, at which a reader can begin. By libjpeg. Pure functions, thread-safe.

struct JpegLayout {
  int restart_interval = 8;  // In MCUs: see RestartInterval. 1 to 65535.
  bool strip = false;        // Of all markers but those that say what the colors are (JFIF, Adobe).
};

// The interval for rows of `mcus_per_row`: the number nearest to `wanted`, between 3/4 and 3/2 of it, that divides
// them, so that each row begins one; `wanted` where there is none.
int RestartInterval(int wanted, int mcus_per_row);

// The same image in this layout, from the coefficients: no pixel changes. Every APPn and COM segment is kept, unless
// stripped; what follows the image's end is not. DataLoss if libjpeg so much as warns; InvalidArgument where it
// cannot write what it read; ResourceExhausted where it lacks memory.
absl::StatusOr<std::vector<uint8_t>> TranscodeJpeg(std::span<const uint8_t> jpeg, const JpegLayout& layout);

// Encodes H×W×3 packed RGB: 4:2:0, or a single component if all of it is gray. If `original` is a JPEG its APPn and
// COM segments are kept, but for JFIF's and Adobe's, unless stripped. Requires that no side is above 65500 and
// 1 ≤ quality ≤ 100. Errors as above.
absl::StatusOr<std::vector<uint8_t>> CompressJpeg(std::span<const uint8_t> rgb, ImageSize size, int quality,
                                                  const JpegLayout& layout, std::span<const uint8_t> original);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_JPEG_WRITER_H_
