#include "client/cli/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

absl::Status CannotWrite(const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

}  // namespace

absl::Status CheckWritable(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  if (std::filesystem::is_directory(path)) {
    errno = EISDIR;
    return CannotWrite(path);
  }
  if (access(path.c_str(), W_OK) == 0) return absl::OkStatus();
  if (errno != ENOENT) return CannotWrite(path);
  const std::string folder = std::filesystem::path(path).parent_path();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) return CannotWrite(path);
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, std::string_view bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return CannotWrite(path);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !written) return CannotWrite(path);
  return absl::OkStatus();
}

}  // namespace stoker
