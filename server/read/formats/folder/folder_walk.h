#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_WALK_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_WALK_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "server/read/formats/folder/folder_listing.h"

namespace stoker {

struct WalkOptions {
  int threads = 1;  // At least 1. One thread walks one class folder.
  // If set, told now and then how many samples were found so far: by any thread, one at a time.
  std::function<void(uint64_t files)> progress;
};

// Lists the image folder `root`, as torchvision.datasets.ImageFolder does: every folder in it is a class, hidden ones
// too, and every file at any depth below whose name ends in .jpg, .jpeg, .png or .webp, in any case, is a sample.
// Files that lie in `root` itself are ignored.
//
// Symbolic links to files and folders are followed wherever they lead, for datasets are often made of them; a link
// that leads back to a folder above itself is an error, as is an image that is a dangling link. What is not a
// regular file (a FIFO, a device) is skipped, and an image above kMaxImageFileBytes is an error.
//
// Differs from torchvision below nested folders: files are in the order of their whole path ("a/b.jpg" before
// "z.jpg"), where torchvision has those of the outer folder first.
//
// Errors name what they are about and, for a layout that is wrong, what is expected: NotFound, InvalidArgument, or
// Unavailable where the disk fails. The same one whatever the number of threads, unless files change meanwhile.
absl::StatusOr<FolderListing> WalkImageFolder(const std::string& root, int root_descriptor, const WalkOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_WALK_H_
