#include "server/read/stores/local/local_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"
#include "server/read/stores/traffic.h"

namespace stoker {
namespace {

// How many objects are found until progress is told again.
constexpr uint64_t kProgressStep = 1024;

// The time of a file's last modification: "1700000000.000000001".
std::string VersionOf(const struct stat& status) {
  return absl::StrCat(status.st_mtim.tv_sec, ".", absl::Dec(status.st_mtim.tv_nsec, absl::kZeroPad9));
}

// Whether a file that had the version `then` may be the same one now. Some file systems forget a time's fraction when
// a file is not in use.
bool AreSame(absl::string_view then, absl::string_view now) {
  constexpr absl::string_view kForgotten = ".000000000";
  return then == now || (absl::ConsumeSuffix(&now, kForgotten) && absl::StartsWith(then, absl::StrCat(now, ".")));
}

absl::Status Changed(const std::string& what) {
  return absl::FailedPreconditionError(absl::StrCat("changed since it was indexed: ", what));
}

absl::Status ReadAll(int file, uint64_t offset, std::span<uint8_t> into) {
  while (!into.empty()) {
    const ssize_t bytes = pread(file, into.data(), into.size(), static_cast<off_t>(offset));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return absl::UnavailableError(absl::StrCat("cannot read: ", ErrnoText(errno)));
    if (bytes == 0) return Changed("it ends early");
    Traffic::OfProcess().Read(Backend::kLocal, bytes);
    into = into.subspan(bytes);
    offset += bytes;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalStore>> LocalStore::Open(const std::string& path) {
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::canonical(path, error);
  if (error == std::errc::no_such_file_or_directory) return absl::NotFoundError("there is no such folder");
  if (error) return absl::UnavailableError(error.message());
  STOKER_ASSIGN_OR_RETURN(Descriptor folder, OpenAt(AT_FDCWD, canonical.string(), O_DIRECTORY));
  return std::unique_ptr<LocalStore>(new LocalStore(canonical.string(), std::move(folder)));
}

std::string LocalStore::description() const { return ShortPrintableName(path_); }

absl::StatusOr<std::vector<ObjectInfo>> LocalStore::List(const Listing& listing) {
  std::vector<ObjectInfo> objects;
  std::error_code error;
  // Only the folder that the prefix lies in is walked.
  const std::filesystem::path root(path_), below = root / std::filesystem::path(listing.prefix).parent_path();
  if (!std::filesystem::is_directory(below, error)) return objects;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk walk(below, error); !error && walk != Walk() && objects.size() < listing.most; walk.increment(error)) {
    if (!walk->is_regular_file(error)) continue;
    const std::string name = walk->path().lexically_relative(root).string();
    if (!absl::StartsWith(name, listing.prefix)) continue;
    auto object = DescribeOne(name);
    if (absl::IsNotFound(object.status())) continue;  // It went between the listing and now.
    STOKER_RETURN_IF_ERROR(object.status());
    objects.push_back(*std::move(object));
    if (listing.progress && objects.size() % kProgressStep == 0) listing.progress(objects.size());
  }
  if (error) return absl::UnavailableError(absl::StrCat(ShortPrintableName(below.string()), ": ", error.message()));
  std::sort(objects.begin(), objects.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return objects;
}

absl::StatusOr<std::vector<ObjectInfo>> LocalStore::Describe(const std::vector<std::string>& names) {
  std::vector<ObjectInfo> objects;
  objects.reserve(names.size());
  for (const std::string& name : names) {
    STOKER_ASSIGN_OR_RETURN(auto object, DescribeOne(name));
    objects.push_back(std::move(object));
  }
  return objects;
}

absl::StatusOr<ObjectInfo> LocalStore::DescribeOne(const std::string& name) const {
  struct stat status;
  if (fstatat(folder_.number(), name.c_str(), &status, 0) != 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return NamedError(
        name, absl::Status(missing ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable, ErrnoText(errno)));
  }
  if (!S_ISREG(status.st_mode)) return NamedError(name, absl::FailedPreconditionError("is not a regular file"));
  return ObjectInfo{name, static_cast<uint64_t>(status.st_size), VersionOf(status)};
}

absl::StatusOr<std::shared_ptr<const Descriptor>> LocalStore::FileOf(const std::string& name) {
  const size_t place = std::hash<std::string>()(name) % kOpenFiles;
  {
    absl::MutexLock lock(&mutex_);
    if (open_[place].name == name && open_[place].file != nullptr) return open_[place].file;
  }
  STOKER_ASSIGN_OR_RETURN(Descriptor opened, OpenAt(folder_.number(), name));
  auto file = std::make_shared<const Descriptor>(std::move(opened));
  OpenFile before{name, file};
  absl::MutexLock lock(&mutex_);
  std::swap(open_[place], before);
  return file;
}

void LocalStore::Read(const Range& range, Done done) {
  const absl::Status read = ReadRange(range);
  done(read.ok() ? read : NamedError(range.object->name, read));
}

absl::Status LocalStore::ReadRange(const Range& range) {
  STOKER_ASSIGN_OR_RETURN(const auto file, FileOf(range.object->name));
  struct stat status;
  if (fstat(file->number(), &status) != 0)
    return absl::UnavailableError(absl::StrCat("cannot stat: ", ErrnoText(errno)));
  if (!S_ISREG(status.st_mode)) return Changed("it is not a regular file");
  if (static_cast<uint64_t>(status.st_size) != range.object->size)
    return Changed(absl::StrCat(range.object->size, " bytes then, ", status.st_size, " now"));
  if (!range.object->version.empty() && !AreSame(range.object->version, VersionOf(status)))
    return Changed("it was written to, as its time tells");
  return ReadAll(file->number(), range.offset, range.into);
}

}  // namespace stoker
