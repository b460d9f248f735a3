#ifndef STOKER_TESTS_BENCH_ENGINE_PHOTOS_H_
#define STOKER_TESTS_BENCH_ENGINE_PHOTOS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/dataset.h"

namespace stoker {

// JPEG files in memory, each of which decodes.
struct Photos {
  std::vector<std::string> paths;    // None where they were never files.
  std::vector<SampleBytes> samples;  // One field each: the file.
  double mean_bytes = 0, mean_pixels = 0;
};

// At most `limit` of the files below `folder` that end in .jpg, .jpeg or .JPEG, evenly spaced in the order of their
// paths. Leaves out those that do not decode, and says so on stderr. NotFound if none is left.
absl::StatusOr<Photos> LoadPhotos(const std::string& folder, size_t limit);

// A folder of painted landscapes below this program's build folder, made if it lacks.
absl::StatusOr<std::string> PaintedPhotos();

// The same images with the longer side at 500 pixels, as baseline JPEGs of quality 90 with 4:2:0: ImageNet's usual
// size. By OpenCV.
Photos Reencode(const Photos& photos);

}  // namespace stoker

#endif  // STOKER_TESTS_BENCH_ENGINE_PHOTOS_H_
