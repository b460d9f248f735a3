#ifndef STOKER_CLIENT_CLI_OUTPUT_FILE_H_
#define STOKER_CLIENT_CLI_OUTPUT_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace stoker {

// OK if a file at `path` can be made or written over. Call it before a long run, so that the run does not end in vain.
// An empty path is OK.
absl::Status CheckWritable(const std::string& path);

// OK if ReplaceFile could put a file at `path`: its folder can be written to, and what is there now, if anything, is a
// file.
absl::Status CheckReplaceable(const std::string& path);

// Writes a whole file beside `path` and renames it. Whoever reads `path`, even after a crash, finds either what was
// there before or all of `bytes`. Follows links. The status names the path and what errno says.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes);

// Writes a whole file. The status names the path and what errno says.
absl::Status WriteFile(const std::string& path, std::string_view bytes);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_OUTPUT_FILE_H_
