#ifndef STOKER_TESTS_SUPPORT_PHOTO_FOLDER_H_
#define STOKER_TESTS_SUPPORT_PHOTO_FOLDER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "common/fields/schema.h"

namespace stoker {

struct PhotoFolderOptions {
  int classes = 10;
  int images = 60;              // In each class.
  ImageSize size = {375, 500};  // ImageNet's most common.
  int quality = 90;             // Of the JPEGs, 1 to 100.
  // If set, told after each image how many are written.
  std::function<void(int written)> progress;
};

// Writes an ImageFolder of painted landscapes (see PaintPhotograph), one ground color a class: class-03/image-0042.jpg.
// Equal options give equal bytes. Makes folders that lack and replaces files of these names; others stay.
// InvalidArgument, or Unavailable with the path and reason.
absl::Status WritePhotoFolder(const std::string& folder, const PhotoFolderOptions& options);

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_PHOTO_FOLDER_H_
