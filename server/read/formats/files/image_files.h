#ifndef STOKER_SERVER_READ_FORMATS_FILES_IMAGE_FILES_H_
#define STOKER_SERVER_READ_FORMATS_FILES_IMAGE_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/fields/schema.h"
#include "server/read/dataset.h"
#include "server/read/stores/local/file.h"

namespace stoker {

// What datasets share whose samples are image files with a label each.

// The largest encoded image that is accepted, in bytes. Each worker must be able to hold one in memory.
inline constexpr uint64_t kMaxImageFileBytes = uint64_t{256} << 20;

// Whether a file of this name is an image: it ends in .jpg, .jpeg, .png, .webp, .bmp, .pbm, .pgm, .ppm, .tif or .tiff,
// in any case. Pure.
bool IsImageFileName(std::string_view name);

// InvalidArgument for an image above kMaxImageFileBytes. The message does not name it.
absl::Status CheckImageFileSize(uint64_t bytes);

// Returns the fields image (encoded) and label (int64, a scalar).
SourceSchema ImageAndLabel();
inline constexpr size_t kImage = 0, kLabel = 1;  // their places

// A folder that is held open, so that a link or mount that takes its path later does not mix two datasets.
struct Root {
  std::string path;  // canonical
  Descriptor folder;
};

// Opens the folder at `path`. Errors are InvalidArgument, NotFound or Unavailable. They begin with `key`, the key of
// the configuration that has the path, and end with what is `expected` there.
absl::StatusOr<Root> OpenRoot(const std::string& key, const std::string& path, const std::string& expected);

// Replaces `sample` by the fields of ImageAndLabel: the bytes of the file at `path` below `folder`, which is not looked
// at where the image is not wanted, and `label`.
// Returns FailedPrecondition where the file has not `bytes` bytes, or was written to at another time than `modified`;
// else NotFound or Unavailable. The messages do not name the file. Thread-safe.
absl::Status ReadImageAndLabel(const Descriptor& folder, const std::string& path, uint64_t bytes,
                               ModifiedSecond modified, int64_t label, SampleBytes& sample);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FILES_IMAGE_FILES_H_
