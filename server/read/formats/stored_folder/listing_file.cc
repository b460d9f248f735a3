#include "server/read/formats/stored_folder/listing_file.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/binary.h"
#include "server/read/formats/folder/manifest_format.h"
#include "server/read/index/sealed_file.h"

namespace stoker {
namespace {

constexpr SealedKind kKind = {"STOKER OBJECTS1\n", "index of files"};
constexpr size_t kFingerprintBytes = 32;

}  // namespace

std::string ListingPath(const std::string& cache_dir, const ListingKey& key) {
  Fingerprint name("stoker.listing_file.v1");
  name.AddBytes(key.store);
  return absl::StrCat(cache_dir, "/objects-", absl::BytesToHexString(name.Finish().substr(0, 16)), ".index");
}

std::string SerializeListing(const ListingKey& key, const ObjectListing& listing) {
  BinaryWriter writer = BeginSealed(kKind);
  writer.bytes.reserve(listing.index.resident_bytes() + listing.versions.resident_bytes() + 4096);
  writer.PutBytes(key.store);
  writer.PutBytes(key.list);
  writer.bytes += listing.fingerprint;
  writer.Put<uint64_t>(listing.index.skipped_files);
  writer.PutBytes(listing.index.skipped_example);
  PutClassesAndFiles(listing.index, writer);
  writer.PutBytes(listing.versions.bytes);
  writer.PutArray(listing.versions.ends);
  return Seal(std::move(writer));
}

absl::StatusOr<KeptListing> ParseListing(std::string_view bytes) {
  STOKER_ASSIGN_OR_RETURN(const std::string_view body, Unseal(kKind, bytes));
  BinaryReader reader(body);
  KeptListing kept;
  kept.key.store = reader.GetBytes();
  kept.key.list = reader.GetBytes();
  ObjectListing& listing = kept.listing;
  listing.fingerprint = reader.Take(kFingerprintBytes);
  listing.index.skipped_files = reader.Get<uint64_t>();
  listing.index.skipped_example = reader.GetBytes();
  GetClassesAndFiles(reader, listing.index);
  listing.versions.bytes = reader.GetBytes();
  listing.versions.ends = reader.GetArray<uint64_t>(listing.index.files.size());
  const bool fits = reader.done() && listing.index.IsWellFormed() && listing.versions.IsWellFormed();
  if (!fits) return DamagedIndex("its parts do not fit each other");
  return kept;
}

absl::StatusOr<ObjectListing> LoadListing(const std::string& path, const ListingKey& key) {
  STOKER_ASSIGN_OR_RETURN(const std::string bytes, ReadSealed(path, kKind));
  STOKER_ASSIGN_OR_RETURN(KeptListing kept, ParseListing(bytes));
  if (!(kept.key == key)) return absl::FailedPreconditionError("it is of another source");
  return std::move(kept.listing);
}

absl::Status StoreListing(const std::string& path, const ListingKey& key, const ObjectListing& listing) {
  return WriteSealed(path, SerializeListing(key, listing));
}

}  // namespace stoker
