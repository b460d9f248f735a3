#include "server/read/formats/folder/manifest.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/formats/folder/manifest_format.h"
#include "server/read/printable_name.h"
#include "server/read/stores/local/file.h"
#include "xxhash.h"

namespace stoker {
namespace {

absl::StatusOr<std::string> ReadFirst(int file, uint64_t count) {
  std::string bytes(count, '\0');
  STOKER_ASSIGN_OR_RETURN(const uint64_t got, ReadUpTo(file, count, bytes.data()));
  bytes.resize(got);
  return bytes;
}

absl::Status CannotWrite(const std::string& path, const std::string& reason) {
  return absl::UnavailableError(absl::StrCat("cannot write ", ShortPrintableName(path), ": ", reason));
}

}  // namespace

std::string ManifestPath(const std::string& cache_dir, std::string_view root) {
  const uint64_t hash = XXH3_64bits(root.data(), root.size());
  return absl::StrCat(cache_dir, "/image-folder-", absl::Hex(hash, absl::kZeroPad16), ".manifest");
}

absl::StatusOr<FolderListing> LoadManifest(const std::string& path, std::string_view root) {
  STOKER_ASSIGN_OR_RETURN(const Descriptor file, OpenOwn(path));
  struct stat status;
  if (fstat(file.number(), &status) != 0) return absl::UnavailableError("cannot stat");
  // The header is read first, so that a huge file that is no manifest is not read into memory.
  STOKER_ASSIGN_OR_RETURN(const std::string header, ReadFirst(file.number(), kManifestHeaderBytes));
  if (!IsManifestHeader(header, status.st_size)) return ParseManifest(header, root);  // This returns the error.
  STOKER_ASSIGN_OR_RETURN(const std::string bytes, ReadFirst(file.number(), status.st_size));
  return ParseManifest(bytes, root);
}

absl::Status StoreManifest(const std::string& path, std::string_view root, const FolderListing& listing) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return CannotWrite(path, error.message());
  const absl::Status written = WriteFileAtomically(path, SerializeManifest(root, listing));
  return written.ok() ? written : CannotWrite(path, std::string(written.message()));
}

bool IsSettled(const FolderListing& listing) {
  constexpr int64_t kLongestStepSeconds = 2;
  return std::all_of(listing.directories.begin(), listing.directories.end(), [&](const auto& directory) {
    return directory.modified.seconds < listing.began_seconds - kLongestStepSeconds;
  });
}

bool IsUnchanged(const FolderListing& listing, int root_descriptor) {
  return std::all_of(listing.directories.begin(), listing.directories.end(), [&](const auto& directory) {
    struct stat status;
    return fstatat(root_descriptor, directory.path.c_str(), &status, 0) == 0 && S_ISDIR(status.st_mode) &&
           FileTime{status.st_mtim.tv_sec, status.st_mtim.tv_nsec} == directory.modified;
  });
}

}  // namespace stoker
