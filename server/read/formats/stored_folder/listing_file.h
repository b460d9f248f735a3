#ifndef STOKER_SERVER_READ_FORMATS_STORED_FOLDER_LISTING_FILE_H_
#define STOKER_SERVER_READ_FORMATS_STORED_FOLDER_LISTING_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/formats/stored_folder/object_listing.h"

namespace stoker {

// Files that keep an ObjectListing.
//
// In the layout u64 is little-endian. "bytes" stands for their number (u64), followed by the bytes themselves.
//
//   magic              16 bytes, "STOKER OBJECTS1\n"
//   file size          u64, with the magic and the checksum
//   store, list        bytes: ListingKey
//   fingerprint        32 bytes
//   skipped files      u64
//   skipped example    bytes
//   classes to paths   as in a manifest (manifest_format.h); times are 0
//   versions           bytes: PackedVersions
//   version ends       N × u64
//   checksum           u64, XXH3-64 of all the bytes before
//
// The checksum finds damage, not malice.

// What a listing is of.
struct ListingKey {
  std::string store;  // Store::description
  std::string list;   // the name, size and version of the object that lists the files; empty where the store lists them
  friend bool operator==(const ListingKey&, const ListingKey&) = default;
};

struct KeptListing {
  ListingKey key;
  ObjectListing listing;
};

// Returns where the listing is kept: a name by a hash of the store.
std::string ListingPath(const std::string& cache_dir, const ListingKey& key);

std::string SerializeListing(const ListingKey& key, const ObjectListing& listing);

// Returns the listing that `bytes` hold; its fingerprint is what they say. DataLoss where they are damaged, or no
// listing. Any bytes are safe to parse, and parsing allocates no more than a small multiple of their number. No path of
// the result is absolute or has a component "." or "..".
absl::StatusOr<KeptListing> ParseListing(std::string_view bytes);

// Reads the file at `path`, which only this server and its administrator may write. NotFound where there is none,
// PermissionDenied where others may write it, FailedPrecondition for one of another key.
absl::StatusOr<ObjectListing> LoadListing(const std::string& path, const ListingKey& key);

// Writes the file at `path` in one step. Errors name it.
absl::Status StoreListing(const std::string& path, const ListingKey& key, const ObjectListing& listing);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_STORED_FOLDER_LISTING_FILE_H_
