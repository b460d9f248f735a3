#include "server/read/formats/stored_folder/object_listing.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "common/status_macros.h"
#include "server/read/formats/files/image_files.h"
#include "server/read/formats/folder/class_walk.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

// So many objects are described until progress is told.
constexpr size_t kDescribedAtOnce = 4096;

// One class, whose files are in the bytewise order of their paths.
struct ClassObjects {
  FileList files;
  PackedVersions versions;
  uint64_t skipped_files = 0;
  std::string skipped_example;
};

// Classes by their names. What is empty has objects, but no image.
using Classes = std::map<std::string, ClassObjects>;

absl::Status NoClasses(const Store& store) {
  return NamedError(store.description(),
                    absl::InvalidArgumentError(absl::StrCat("no class folders in it; ", kClassLayout)));
}

// Adds an object to its class, which must come after the objects of this that are there.
absl::Status Add(const Store& store, const ObjectInfo& object, Classes& classes) {
  const size_t slash = object.name.find('/');
  if (slash == 0 || slash == object.name.npos) return absl::OkStatus();
  const std::string_view name = object.name, path = name.substr(slash + 1);
  ClassObjects& objects = classes[object.name.substr(0, slash)];
  if (!IsImageFileName(name) || !StaysBelow(name) || name.find('\0') != name.npos) {
    if (objects.skipped_files++ == 0) objects.skipped_example = object.name;
    return absl::OkStatus();
  }
  const absl::Status sized = CheckImageFileSize(object.size);
  if (!sized.ok()) return NamedError(absl::StrCat(store.description(), "/", object.name), sized);
  objects.files.Add(path, static_cast<uint32_t>(object.size));
  objects.versions.Add(object.version);
  return absl::OkStatus();
}

// Joins the classes, and takes them away meanwhile so that nothing is held twice for long.
absl::StatusOr<ObjectListing> Merge(const Store& store, Classes classes) {
  if (classes.empty()) return NoClasses(store);
  ObjectListing listing;
  FolderIndex& index = listing.index;
  uint64_t samples = 0, path_bytes = 0, version_bytes = 0;
  for (const auto& [name, objects] : classes) {
    samples += objects.files.size();
    path_bytes += objects.files.paths.size();
    version_bytes += objects.versions.bytes.size();
  }
  index.files.paths.reserve(path_bytes);
  index.files.path_ends.reserve(samples);
  index.files.sizes.reserve(samples);
  index.files.modified.reserve(samples);
  listing.versions.bytes.reserve(version_bytes);
  listing.versions.ends.reserve(samples);
  index.classes.reserve(classes.size());
  for (auto& [name, part] : classes) {
    const ClassObjects objects = std::move(part);
    index.files.Append(objects.files);
    for (const uint64_t end : objects.versions.ends)
      listing.versions.ends.push_back(listing.versions.bytes.size() + end);
    listing.versions.bytes += objects.versions.bytes;
    index.classes.push_back({name, index.files.size()});
    if (index.skipped_files == 0) index.skipped_example = objects.skipped_example;
    index.skipped_files += objects.skipped_files;
  }
  STOKER_RETURN_IF_ERROR(CheckClasses(store.description(), index));
  listing.fingerprint = FolderFingerprint(index);
  return listing;
}

// Lists the folders `names`, `threads` at a time, until one fails.
absl::StatusOr<Classes> ListFolders(Store& store, const std::vector<std::string>& names,
                                    const ObjectListingOptions& options) {
  struct Found {
    absl::Mutex mutex;
    Classes classes ABSL_GUARDED_BY(mutex);
    absl::Status status ABSL_GUARDED_BY(mutex);
  } found;
  WalkProgress progress(options.progress);
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto list = [&](const std::string& name) -> absl::Status {
    STOKER_ASSIGN_OR_RETURN(const auto objects, store.List({.prefix = name + "/"}));
    Classes one;
    for (const ObjectInfo& object : objects) STOKER_RETURN_IF_ERROR(Add(store, object, one));
    uint64_t samples = 0;
    for (const auto& [its_name, its_objects] : one) samples += its_objects.files.size();
    progress.Add(samples);
    absl::MutexLock lock(&found.mutex);
    found.classes.merge(one);
    return absl::OkStatus();
  };
  const auto work = [&] {
    for (size_t i; !failed && (i = next++) < names.size();) {
      const absl::Status listed = list(names[i]);
      if (listed.ok()) continue;
      absl::MutexLock lock(&found.mutex);
      found.status.Update(listed);
      failed = true;
    }
  };
  std::vector<std::jthread> workers;
  for (size_t i = 1; i < std::min<size_t>(options.threads, names.size()); ++i) workers.emplace_back(work);
  work();
  workers.clear();
  absl::MutexLock lock(&found.mutex);
  STOKER_RETURN_IF_ERROR(found.status);
  return std::move(found.classes);
}

}  // namespace

absl::StatusOr<ObjectListing> ListClasses(Store& store, const ObjectListingOptions& options) {
  const auto folders = store.Folders();
  if (folders.ok()) {
    STOKER_ASSIGN_OR_RETURN(Classes classes, ListFolders(store, *folders, options));
    return Merge(store, std::move(classes));
  }
  if (!absl::IsUnimplemented(folders.status())) return folders.status();
  STOKER_ASSIGN_OR_RETURN(const auto objects, store.List({.progress = options.progress}));
  Classes classes;
  for (const ObjectInfo& object : objects) STOKER_RETURN_IF_ERROR(Add(store, object, classes));
  return Merge(store, std::move(classes));
}

absl::StatusOr<ObjectListing> DescribeClasses(Store& store, std::string_view text,
                                              const ObjectListingOptions& options) {
  std::vector<std::string> names;
  Classes classes;
  for (absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    absl::ConsumeSuffix(&line, "\r");
    if (line.empty() || line[0] == '#') continue;
    const std::string name(line);
    if (!StaysBelow(name) || name.find('\0') != name.npos)
      return absl::InvalidArgumentError(absl::StrCat("the list has '", ShortPrintableName(name),
                                                     "', which is no path below its folder, such as cat/1.jpg"));
    // What is no image need not be there.
    if (IsImageFileName(name) && absl::StrContains(line, '/')) {
      names.push_back(name);
    } else {
      STOKER_RETURN_IF_ERROR(Add(store, {name, 0, ""}, classes));
    }
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    return absl::InvalidArgumentError(absl::StrCat("the list has '", ShortPrintableName(*twice), "' twice"));
  for (size_t begin = 0; begin < names.size(); begin += kDescribedAtOnce) {
    const auto first = names.begin() + static_cast<ptrdiff_t>(begin);
    const auto last = first + static_cast<ptrdiff_t>(std::min(kDescribedAtOnce, names.size() - begin));
    STOKER_ASSIGN_OR_RETURN(const auto objects, store.Describe({first, last}));
    for (const ObjectInfo& object : objects) STOKER_RETURN_IF_ERROR(Add(store, object, classes));
    if (options.progress) options.progress(begin + objects.size());
  }
  return Merge(store, std::move(classes));
}

}  // namespace stoker
