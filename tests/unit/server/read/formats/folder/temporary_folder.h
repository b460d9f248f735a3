#ifndef STOKER_TESTS_UNIT_SERVER_READ_FORMATS_FOLDER_TEMPORARY_FOLDER_H_
#define STOKER_TESTS_UNIT_SERVER_READ_FORMATS_FOLDER_TEMPORARY_FOLDER_H_

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "common/check.h"

namespace stoker {

// Makes an empty folder and removes it at its end, with all that is in it. Paths are relative to the folder.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::temp_directory_path() / "stoker-read-XXXXXX") {
    STOKER_CHECK(mkdtemp(path_.data()) != nullptr);
    path_ = std::filesystem::canonical(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string path(std::string_view below) const { return path_ + "/" + std::string(below); }

  // Writes a file and the folders above it.
  void Write(std::string_view file, std::string_view content) const {
    std::filesystem::create_directories(std::filesystem::path(path(file)).parent_path());
    std::ofstream stream(path(file), std::ios::binary);
    stream << content;
    stream.close();
    STOKER_CHECK(stream);
  }

  std::string Read(std::string_view file) const {
    std::ifstream stream(path(file), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  void MakeFolder(std::string_view folder) const { std::filesystem::create_directories(path(folder)); }

  void Link(std::string_view target, std::string_view link) const {
    std::filesystem::create_symlink(std::string(target), path(link));
  }

  // Makes `folder` look as if it had last changed at `seconds` since 1970.
  void SetTime(std::string_view folder, time_t seconds) const {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    STOKER_CHECK(utimensat(AT_FDCWD, path(folder).c_str(), times, 0) == 0);
  }

  // Calls SetTime for every folder, so that a walk that begins now is settled.
  void Age(time_t seconds = 1'000'000'000) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
      if (entry.is_directory() && !entry.is_symlink())
        SetTime(entry.path().lexically_relative(path_).string(), seconds);
    SetTime(".", seconds);
  }

 private:
  std::string path_;
};

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_READ_FORMATS_FOLDER_TEMPORARY_FOLDER_H_
