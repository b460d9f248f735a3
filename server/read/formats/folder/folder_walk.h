#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_WALK_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_WALK_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "server/read/formats/folder/folder_listing.h"

namespace stoker {

struct WalkOptions {
  int threads = 1;  // threads that walk, at least 1; each takes one class folder at a time
  // If set, it is called now and then with the number of samples found so far, by any thread, but by one at a time.
  std::function<void(uint64_t files)> progress;
};

// Lists the image folder at the path `root`, which `root_descriptor` has open, as torchvision.datasets.ImageFolder
// does. Every folder in it is a class, hidden ones too. Every file at any depth below a class folder is a sample if its
// name ends in .jpg, .jpeg, .png, .webp, .bmp, .pbm, .pgm, .ppm, .tif or .tiff, in any case. Files in `root` itself are
// ignored.
//
// Symbolic links to files and folders are followed wherever they lead, because datasets are often made of them. A link
// that leads back to a folder above itself is an error, and so is an image that is a dangling link. What is not a
// regular file (a FIFO, a device) is skipped. An image above kMaxImageFileBytes is an error.
//
// The order differs from torchvision's where folders are nested: files are in the order of their whole paths ("a/b.jpg"
// before "z.jpg"), where torchvision has the files of the outer folder first.
//
// Errors are NotFound, InvalidArgument, or Unavailable where the disk fails. They name what they are about and, where
// the layout is wrong, what is expected. The error does not depend on the number of threads, unless files change
// meanwhile.
absl::StatusOr<FolderListing> WalkImageFolder(const std::string& root, int root_descriptor, const WalkOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_WALK_H_
