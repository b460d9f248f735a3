#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_INDEX_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_INDEX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/read/formats/files/file_list.h"

namespace stoker {

// The samples of an image folder in index order. Class folders are in bytewise order of their names, and the files of
// each are in bytewise order of their paths below it. A sample's id is its place in this order. A value type.
struct FolderIndex {
  struct ClassFolder {
    std::string name;
    uint64_t end = 0;  // one past the id of its last sample; its first sample is where the folder before it ends
  };

  // Returns the label of sample `id`: the position of its class folder in `classes`.
  int64_t Label(uint64_t id) const;

  // Returns the path of sample `id`, such as "class/sub/file.jpg".
  std::string Path(uint64_t id) const;

  // Checks an index that comes from a file. Returns whether all holds that the other functions rely on: ranges nest,
  // names are in order, and no path is absolute or has a component "." or "..".
  bool IsWellFormed() const;

  // Returns a note such as "skipped 3 files that are not JPEG, PNG, WebP, BMP, PNM or TIFF, such as 'class/notes.txt'",
  // or nothing if no file was skipped.
  std::string SkippedNote() const;

  // Returns the bytes of memory that the index holds beside itself.
  uint64_t resident_bytes() const;

  std::vector<ClassFolder> classes;  // the class folders, none of which is empty
  FileList files;                    // the samples, with their paths below their class folders

  uint64_t skipped_files = 0;   // how many files below class folders are no samples
  std::string skipped_example;  // one of the skipped files, such as "class/notes.txt"
};

// What image folders look like, for messages.
inline constexpr char kClassLayout[] = "expected PATH/CLASS/IMAGE.jpg with at least one image in each class folder";

// Returns InvalidArgument, which names `root`, where there is no sample or a class without any.
absl::Status CheckClasses(const std::string& root, const FolderIndex& index);

// Returns what identifies the samples, wherever they are and whenever they were written. It is the SHA-256 of
//   "stoker.image_folder.v1"
//   number of samples
//   for each sample, in index order:
//     length of its path, its path ("class/sub/file.jpg"), its size in bytes, its label
// where numbers are 8 bytes, little-endian.
std::string FolderFingerprint(const FolderIndex& index);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_INDEX_H_
