#ifndef STOKER_SERVER_READ_FORMATS_FILES_FILE_LIST_H_
#define STOKER_SERVER_READ_FORMATS_FILES_FILE_LIST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Relative paths of files with their sizes and times, held compactly: a file takes 16 bytes beside its path. A value
// type.
struct FileList {
  // `modified` is a ModifiedSecond of server/read/stores/local.
  void Add(std::string_view path, uint32_t bytes, uint32_t modified = 0);
  void Append(const FileList& other);

  uint64_t size() const { return sizes.size(); }

  // Returns the path of file `i`, which must be below size(). It is valid until the list changes.
  std::string_view path(uint64_t i) const;

  // Returns the same files with their paths in bytewise order.
  FileList Sorted() const;

  // Returns whether the members fit each other, as they do unless a file has made them.
  bool RangesNest() const;

  // Returns the bytes of memory that the list holds beside itself.
  uint64_t resident_bytes() const;

  std::string paths;                // all paths, one after another
  std::vector<uint64_t> path_ends;  // where each path ends in `paths`
  std::vector<uint32_t> sizes;      // the bytes of each file
  std::vector<uint32_t> modified;   // when each was written to; no fingerprint covers it
};

// Returns whether openat(2) follows the path to below the folder that it starts from. Symbolic links may still lead
// elsewhere.
bool StaysBelow(std::string_view path);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FILES_FILE_LIST_H_
