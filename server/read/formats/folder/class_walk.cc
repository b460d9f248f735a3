#include "server/read/formats/folder/class_walk.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

// The walk of one class folder. Paths are relative to the root.
class ClassWalk {
 public:
  ClassWalk(const WalkRoot& root, WalkProgress& progress) : root_(root), above_({root.id}), progress_(progress) {}

  absl::StatusOr<ClassListing> Run(const std::string& class_name) {
    below_class_ = class_name.size() + 1;
    STOKER_RETURN_IF_ERROR(Visit(class_name));
    listing_.files = listing_.files.Sorted();
    progress_.Add(listing_.files.size() % kProgressStep);
    return std::move(listing_);
  }

 private:
  static constexpr uint64_t kProgressStep = 1024;  // samples from one report to the next

  // Lists a folder and all below it. The recursion ends, because a loop is an error, and so is a path above PATH_MAX.
  absl::Status Visit(const std::string& path) {
    std::vector<std::string> folders;
    STOKER_ASSIGN_OR_RETURN(const FolderId id, List(path, folders));
    above_.push_back(id);
    for (const std::string& name : folders) STOKER_RETURN_IF_ERROR(Visit(absl::StrCat(path, "/", name)));
    above_.pop_back();
    return absl::OkStatus();
  }

  // Adds the files of one folder and names the folders in it. The folder is closed before any of those is opened, so
  // that few descriptors are open at once.
  absl::StatusOr<FolderId> List(const std::string& path, std::vector<std::string>& folders) {
    auto folder = OpenFolder::At(root_.descriptor, path);
    if (!folder.ok()) return Error(path, folder.status());
    if (std::find(above_.begin(), above_.end(), folder->id()) != above_.end())
      return Error(path, absl::InvalidArgumentError("a symbolic link that leads back to a folder above itself"));
    listing_.directories.push_back({path, folder->modified()});
    while (true) {
      const auto entry = folder->Next();
      if (!entry.ok()) return Error(path, entry.status());
      if (*entry == nullptr) return folder->id();
      const std::string entry_path = absl::StrCat(path, "/", (*entry)->d_name);
      const absl::Status added = AddEntry(*folder, **entry, entry_path, folders);
      if (!added.ok()) return Error(entry_path, added);
    }
  }

  // Adds one entry of a folder. It calls stat only where the entry's type does not tell enough.
  absl::Status AddEntry(const OpenFolder& folder, const dirent& entry, const std::string& path,
                        std::vector<std::string>& folders) {
    const bool image = IsImageFileName(entry.d_name);
    if (entry.d_type == DT_REG && !image) return Skip(path);
    std::optional<struct stat> status;
    if (entry.d_type != DT_DIR) {
      STOKER_ASSIGN_OR_RETURN(status, folder.Stat(entry.d_name));
      if (!status.has_value() && image) return absl::NotFoundError("a symbolic link that leads nowhere");
      if (!status.has_value()) return Skip(path);
    }
    if (entry.d_type == DT_DIR || S_ISDIR(status->st_mode)) {
      folders.push_back(entry.d_name);
      return absl::OkStatus();
    }
    return image && S_ISREG(status->st_mode) ? AddSample(path, *status) : Skip(path);
  }

  absl::Status AddSample(std::string_view path, const struct stat& status) {
    const uint64_t bytes = status.st_size;
    STOKER_RETURN_IF_ERROR(CheckImageFileSize(bytes));
    listing_.files.Add(path.substr(below_class_), bytes, static_cast<ModifiedSecond>(status.st_mtim.tv_sec));
    if (listing_.files.size() % kProgressStep == 0) progress_.Add(kProgressStep);
    return absl::OkStatus();
  }

  absl::Status Skip(const std::string& path) {
    if (listing_.skipped_files++ == 0 || path < listing_.skipped_example) listing_.skipped_example = path;
    return absl::OkStatus();
  }

  absl::Status Error(const std::string& path, const absl::Status& status) const {
    return NamedError(absl::StrCat(root_.path, "/", path), status);
  }

  const WalkRoot& root_;
  std::vector<FolderId> above_;  // the folders that contain the one being listed, outermost first
  WalkProgress& progress_;
  size_t below_class_ = 0;  // bytes of "class/", which listed paths do not begin with
  ClassListing listing_;
};

}  // namespace

void WalkProgress::Add(uint64_t files) {
  if (!report_ || files == 0) return;
  absl::MutexLock lock(&mutex_);
  files_ += files;
  report_(files_);
}

absl::StatusOr<ClassListing> WalkClass(const WalkRoot& root, const std::string& name, WalkProgress& progress) {
  return ClassWalk(root, progress).Run(name);
}

}  // namespace stoker
