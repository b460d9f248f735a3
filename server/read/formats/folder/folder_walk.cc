#include "server/read/formats/folder/folder_walk.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/formats/folder/class_walk.h"
#include "server/read/formats/folder/open_folder.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

// Returns the names of the folders in `folder`, in bytewise order.
absl::StatusOr<std::vector<std::string>> ClassNames(OpenFolder& folder) {
  std::vector<std::string> names;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const dirent* entry, folder.Next());
    if (entry == nullptr) break;
    bool is_folder = entry->d_type == DT_DIR;
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
      const std::string name = entry->d_name;
      const auto status = folder.Stat(name.c_str());
      if (!status.ok()) return NamedError(name, status.status());
      is_folder = status->has_value() && S_ISDIR((*status)->st_mode);
    }
    if (is_folder) names.push_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Walks the classes, `threads` at a time, until one fails. Classes are begun in order and none is left half walked, so
// that the first error in the order of classes is the same in every run.
std::vector<absl::StatusOr<ClassListing>> WalkClasses(const WalkRoot& root, const std::vector<std::string>& names,
                                                      const WalkOptions& options) {
  WalkProgress progress(options.progress);
  std::vector<absl::StatusOr<ClassListing>> listings(names.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto walk = [&] {
    for (size_t i; !failed && (i = next++) < names.size();) {
      listings[i] = WalkClass(root, names[i], progress);
      if (!listings[i].ok()) failed = true;
    }
  };
  std::vector<std::jthread> walkers;
  for (size_t i = 1; i < std::min<size_t>(options.threads, names.size()); ++i) walkers.emplace_back(walk);
  walk();
  walkers.clear();
  return listings;
}

// Moves what was found in the classes to `listing`, which has the root's directory only.
void Merge(const std::vector<std::string>& names, std::vector<absl::StatusOr<ClassListing>> classes,
           FolderListing& listing) {
  FolderIndex& index = listing.index;
  uint64_t samples = 0, path_bytes = 0;
  for (const auto& each : classes) samples += each->files.size(), path_bytes += each->files.paths.size();
  index.files.paths.reserve(path_bytes);
  index.files.path_ends.reserve(samples);
  index.files.sizes.reserve(samples);
  index.classes.reserve(names.size());
  for (size_t label = 0; label < names.size(); ++label) {
    const ClassListing each = *std::move(classes[label]);  // It is freed here, so that nothing is held twice for long.
    index.files.Append(each.files);
    index.classes.push_back({names[label], index.files.size()});
    if (index.skipped_files == 0) index.skipped_example = each.skipped_example;
    index.skipped_files += each.skipped_files;
    listing.directories.insert(listing.directories.end(), each.directories.begin(), each.directories.end());
  }
}

}  // namespace

absl::StatusOr<FolderListing> WalkImageFolder(const std::string& root, int root_descriptor,
                                              const WalkOptions& options) {
  FolderListing listing;
  listing.began_seconds = std::time(nullptr);
  auto folder = OpenFolder::At(root_descriptor, ".");
  if (!folder.ok()) return NamedError(root, folder.status());
  listing.directories.push_back({".", folder->modified()});
  const auto names = ClassNames(*folder);
  if (!names.ok()) return NamedError(root, names.status());
  if (names->empty())
    return NamedError(root, absl::InvalidArgumentError(absl::StrCat("no class folders in it; ", kClassLayout)));
  auto classes = WalkClasses({root, root_descriptor, folder->id()}, *names, options);
  for (const auto& each : classes) STOKER_RETURN_IF_ERROR(each.status());
  Merge(*names, std::move(classes), listing);
  STOKER_RETURN_IF_ERROR(CheckClasses(root, listing.index));
  listing.fingerprint = FolderFingerprint(listing.index);
  return listing;
}

}  // namespace stoker
