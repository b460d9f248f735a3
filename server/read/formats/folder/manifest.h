#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_MANIFEST_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_MANIFEST_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/formats/folder/folder_listing.h"

namespace stoker {

// A manifest keeps the listing of an image folder in a file, so that a server need not stat a million files when it
// starts. It is a cache and nothing more: whatever is wrong with it, the folder is walked again.

// Where in `cache_dir` the manifest of the folder with the canonical path `root` lies.
std::string ManifestPath(const std::string& cache_dir, std::string_view root);

// Reads a manifest file. NotFound where there is none, Unavailable where it cannot be read, and as ParseManifest.
absl::StatusOr<FolderListing> LoadManifest(const std::string& path, std::string_view root);

// Writes a manifest file, and the folders above it where they lack. Readers and other writers see the old file or
// the new one, whole. Unavailable with the path and the reason.
absl::Status StoreManifest(const std::string& path, std::string_view root, const FolderListing& listing);

// Whether every directory was unchanged for so long when the walk began that any later change shows in its time.
// File systems keep time in steps of up to 2 seconds (FAT): what is added in the same step as the listing would
// never be seen. A listing that is not settled must not be trusted later.
bool IsSettled(const FolderListing& listing);

// Whether every directory of a settled listing still has the time that it had: nothing was added, removed or
// renamed. Files that were overwritten in place do not show here; reading them does.
bool IsUnchanged(const FolderListing& listing, int root_descriptor);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_MANIFEST_H_
