#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_MANIFEST_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_MANIFEST_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/formats/folder/folder_listing.h"

namespace stoker {

// A manifest keeps the listing of an image folder in a file, so that a server need not stat a million files when it
// starts. It is a cache and nothing more: whatever is wrong with it, the folder is walked again. All functions are
// thread-safe.

// Returns the path in `cache_dir` of the manifest of the folder whose canonical path is `root`.
std::string ManifestPath(const std::string& cache_dir, std::string_view root);

// Reads a manifest file. Errors are NotFound where there is none, Unavailable where it cannot be read,
// PermissionDenied where it may not be trusted (see OpenOwn), and those of ParseManifest.
absl::StatusOr<FolderListing> LoadManifest(const std::string& path, std::string_view root);

// Writes a manifest file, and makes the folders above it where they are missing. Readers and other writers see the old
// file or the new one, as a whole. An error is Unavailable and names the path and the reason.
absl::Status StoreManifest(const std::string& path, std::string_view root, const FolderListing& listing);

// Returns whether, when the walk began, every directory had been unchanged for so long that any later change shows in
// its time. File systems keep time in steps of up to 2 seconds (FAT), so a file that is added in the same step as the
// listing would never be seen. A listing that is not settled must not be trusted later.
bool IsSettled(const FolderListing& listing);

// Returns whether every directory of a settled listing still has the time that it had, so that nothing was added,
// removed or renamed. A file that was overwritten in place does not show here, but does when it is read.
bool IsUnchanged(const FolderListing& listing, int root_descriptor);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_MANIFEST_H_
