#ifndef STOKER_SERVER_READ_FORMATS_STORED_FOLDER_OBJECT_LISTING_H_
#define STOKER_SERVER_READ_FORMATS_STORED_FOLDER_OBJECT_LISTING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/formats/folder/folder_index.h"
#include "server/read/formats/stored_folder/packed_versions.h"
#include "server/read/stores/store.h"

namespace stoker {

// The class folders of a store, as a listing found them. This is what their index keeps. A value type.
struct ObjectListing {
  // Describes the object of sample `id`.
  ObjectInfo Object(uint64_t id) const { return {index.Path(id), index.files.sizes[id], versions.At(id)}; }

  FolderIndex index;
  std::string fingerprint;  // FolderFingerprint(index)
  PackedVersions versions;  // of each sample's object
};

struct ObjectListingOptions {
  int threads = 1;  // each of which lists one class at a time
  // If set, it is called now and then with the number of samples found so far, by any thread, but by one at a time.
  std::function<void(uint64_t files)> progress;
};

// Lists the class folders of a store by the rules of WalkImageFolder: the first component of an object's name is its
// class, and objects without a folder are ignored. Where the store can tell its folders (Store::Folders), classes are
// listed beside each other. An object whose name could be no file's is skipped as one that is no image. Errors are the
// store's, and InvalidArgument where the layout is wrong.
absl::StatusOr<ObjectListing> ListClasses(Store& store, const ObjectListingOptions& options);

// The same for the objects that `text` names, one a line, relative to the store's root: for stores that cannot list.
// Lines may end in CR LF, empty ones and those that begin with '#' are ignored. InvalidArgument for a path that is
// absolute, has a component "." or "..", or stands there twice.
absl::StatusOr<ObjectListing> DescribeClasses(Store& store, std::string_view text, const ObjectListingOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_STORED_FOLDER_OBJECT_LISTING_H_
