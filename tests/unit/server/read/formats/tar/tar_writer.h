#ifndef STOKER_TESTS_UNIT_SERVER_READ_FORMATS_TAR_TAR_WRITER_H_
#define STOKER_TESTS_UNIT_SERVER_READ_FORMATS_TAR_TAR_WRITER_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace stoker {

// Returns a header block of POSIX. `size` is the text of its field: octal digits.
inline std::string TarHeaderBlock(const std::string& name, const std::string& size, char type = '0',
                                  const std::string& prefix = "") {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  block.replace(124, size.size(), size);
  block.replace(148, 8, "        ");
  block[156] = type;
  block.replace(257, 8, std::string("ustar\0", 6) + "00");
  block.replace(345, prefix.size(), prefix);
  unsigned sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  return block.replace(148, 7, absl::StrFormat("%06o", sum) + std::string(1, '\0'));
}

// Returns a member: its header and its data in whole blocks.
inline std::string TarFile(const std::string& name, const std::string& data, char type = '0') {
  return TarHeaderBlock(name, absl::StrFormat("%011o", data.size()), type) + data +
         std::string((512 - data.size() % 512) % 512, '\0');
}

inline std::string TarEnd() { return std::string(1024, '\0'); }

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_READ_FORMATS_TAR_TAR_WRITER_H_
