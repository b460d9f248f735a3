#ifndef STOKER_SERVER_READ_FORMATS_STORED_FOLDER_PACKED_VERSIONS_H_
#define STOKER_SERVER_READ_FORMATS_STORED_FOLDER_PACKED_VERSIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// The versions of many objects (ObjectInfo::version), held compactly. An ETag of S3 mostly is an MD5 in hexadecimal
// between quotes; such a version takes 17 bytes beside its end, others one byte more than their text. A value type.
struct PackedVersions {
  void Add(std::string_view version);

  uint64_t size() const { return ends.size(); }

  // Returns the version of object `i`. Requires i < size().
  std::string At(uint64_t i) const;

  // Checks what comes from a file: whether ends nest and each version can be told.
  bool IsWellFormed() const;

  uint64_t resident_bytes() const { return bytes.capacity() + ends.capacity() * sizeof(ends[0]); }

  std::string bytes;           // of each a byte that says its form, then 16 bytes or the text
  std::vector<uint64_t> ends;  // where each ends in `bytes`
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_STORED_FOLDER_PACKED_VERSIONS_H_
