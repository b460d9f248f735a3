#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_INDEX_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_INDEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Relative paths of files with their sizes, held compactly: 12 bytes a file beside its path.
struct FileList {
  void Add(std::string_view path, uint32_t bytes);
  void Append(const FileList& other);

  uint64_t size() const { return sizes.size(); }
  std::string_view path(uint64_t i) const;

  // The same files with their paths in bytewise order.
  FileList Sorted() const;

  std::string paths;                // One after another.
  std::vector<uint64_t> path_ends;  // Where each ends in `paths`.
  std::vector<uint32_t> sizes;      // Bytes of each file.
};

// The samples of an image folder, in index order: class folders bytewise by name, the files of each bytewise by
// their path below it. Value type.
struct FolderIndex {
  struct ClassFolder {
    std::string name;
    uint64_t end = 0;  // One past its last sample; its first is where the folder before it ends.
  };

  // Position in `classes` of the one that sample `id` belongs to.
  int64_t Label(uint64_t id) const;

  // "class/sub/file.jpg".
  std::string Path(uint64_t id) const;

  // Whether all that the other functions rely on holds, for an index that comes from a file: ranges nest, names are
  // in order, and no path is absolute or holds a component "." or "..".
  bool IsWellFormed() const;

  // "skipped 3 files that are not JPEG, PNG, WebP, BMP, PNM or TIFF, such as 'class/notes.txt'"; empty if none were.
  std::string SkippedNote() const;

  uint64_t resident_bytes() const;

  std::vector<ClassFolder> classes;  // None is empty.
  FileList files;                    // Paths below their class folder.

  uint64_t skipped_files = 0;   // Files below class folders that are no samples,
  std::string skipped_example;  // and one of them: "class/notes.txt".
};

// What identifies the samples, independent of where they lie and when they were written: SHA-256 of
//   "stoker.image_folder.v1"
//   number of samples
//   of each sample, in index order:
//     length of its path, its path ("class/sub/file.jpg"), its size in bytes, its label
// where numbers are 8 bytes, little-endian.
std::string FolderFingerprint(const FolderIndex& index);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_INDEX_H_
