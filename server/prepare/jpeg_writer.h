#ifndef STOKER_SERVER_PREPARE_JPEG_WRITER_H_
#define STOKER_SERVER_PREPARE_JPEG_WRITER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/fields/schema.h"

namespace stoker {

// These functions write JPEGs that are cheap to read in part: one baseline scan, Huffman tables made for the image, and
// a restart marker every few MCUs, at which a reader can begin. They use libjpeg, are pure and thread-safe.

struct JpegLayout {
  int restart_interval = 8;  // MCUs between restart markers, about: see RestartInterval. 1 to 65535.
  bool strip = false;        // Drops all markers but those that say what the colors are (JFIF, Adobe).
};

// Returns the restart interval to use for rows of `mcus_per_row` MCUs. It is the number nearest to `wanted`, between
// 3/4 and 3/2 of it, that divides mcus_per_row, so that an interval begins at each row; or `wanted` if there is none.
int RestartInterval(int wanted, int mcus_per_row);

// Writes the same image in this layout. It works on the coefficients, so no pixel changes. Every APPn and COM segment
// is kept unless stripped; bytes after the image's end are dropped. DataLoss if libjpeg gives even a warning,
// InvalidArgument if it cannot write what it read, ResourceExhausted if it lacks memory.
absl::StatusOr<std::vector<uint8_t>> TranscodeJpeg(std::span<const uint8_t> jpeg, const JpegLayout& layout);

// Encodes `size.height` × `size.width` × 3 bytes of RGB without padding: as 4:2:0, or as a single component if every
// pixel is gray. If `original` is a JPEG, its APPn and COM segments are kept unless stripped, but not JFIF's and
// Adobe's. Requires sides of at most 65500 pixels and 1 ≤ quality ≤ 100. Errors are those of TranscodeJpeg.
absl::StatusOr<std::vector<uint8_t>> CompressJpeg(std::span<const uint8_t> rgb, ImageSize size, int quality,
                                                  const JpegLayout& layout, std::span<const uint8_t> original);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_JPEG_WRITER_H_
