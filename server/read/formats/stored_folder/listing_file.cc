#include "server/read/formats/stored_folder/listing_file.h"

#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/binary.h"
#include "server/read/formats/folder/manifest_format.h"
#include "server/read/printable_name.h"
#include "server/read/stores/local/file.h"
#include "xxhash.h"

namespace stoker {
namespace {

constexpr std::string_view kMagic = "STOKER OBJECTS1\n";
constexpr size_t kHeaderBytes = 24;  // the magic and the file's size
constexpr size_t kFingerprintBytes = 32;

absl::Status Damaged(absl::string_view what) { return absl::DataLossError(absl::StrCat("it is damaged: ", what)); }

uint64_t NumberAt(std::string_view bytes, size_t offset) {
  uint64_t number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

// Whether a file of `file_bytes` bytes that begins with `header` can be a listing.
bool IsHeader(std::string_view header, uint64_t file_bytes) {
  return header.size() >= kHeaderBytes && header.substr(0, kMagic.size()) == kMagic &&
         NumberAt(header, kMagic.size()) == file_bytes;
}

}  // namespace

std::string ListingPath(const std::string& cache_dir, const ListingKey& key) {
  Fingerprint name("stoker.listing_file.v1");
  name.AddBytes(key.store);
  return absl::StrCat(cache_dir, "/objects-", absl::BytesToHexString(name.Finish().substr(0, 16)), ".index");
}

std::string SerializeListing(const ListingKey& key, const ObjectListing& listing) {
  BinaryWriter writer;
  writer.bytes.reserve(listing.index.resident_bytes() + listing.versions.resident_bytes() + 4096);
  writer.bytes += kMagic;
  writer.Put<uint64_t>(0);  // The file's size, which is known at the end.
  writer.PutBytes(key.store);
  writer.PutBytes(key.list);
  writer.bytes += listing.fingerprint;
  writer.Put<uint64_t>(listing.index.skipped_files);
  writer.PutBytes(listing.index.skipped_example);
  PutClassesAndFiles(listing.index, writer);
  writer.PutBytes(listing.versions.bytes);
  writer.PutArray(listing.versions.ends);
  const uint64_t size = writer.bytes.size() + sizeof(uint64_t);
  std::memcpy(writer.bytes.data() + kMagic.size(), &size, sizeof size);
  writer.Put<uint64_t>(XXH3_64bits(writer.bytes.data(), writer.bytes.size()));
  return std::move(writer.bytes);
}

absl::StatusOr<KeptListing> ParseListing(std::string_view bytes) {
  if (!IsHeader(bytes.substr(0, kHeaderBytes), bytes.size()) || bytes.size() < kHeaderBytes + sizeof(uint64_t))
    return Damaged("it is no index of files, or was not written to its end");
  const std::string_view checked = bytes.substr(0, bytes.size() - sizeof(uint64_t));
  if (XXH3_64bits(checked.data(), checked.size()) != NumberAt(bytes, checked.size()))
    return Damaged("its checksum is wrong");
  BinaryReader reader(checked.substr(kHeaderBytes));
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
  if (!fits) return Damaged("its parts do not fit each other");
  return kept;
}

absl::StatusOr<ObjectListing> LoadListing(const std::string& path, const ListingKey& key) {
  STOKER_ASSIGN_OR_RETURN(const Descriptor file, OpenOwn(path));
  struct stat status;
  if (fstat(file.number(), &status) != 0) return absl::UnavailableError("cannot stat");
  // The header is read first, so that a huge file that is no listing is not read into memory.
  std::string bytes(kHeaderBytes, '\0');
  STOKER_ASSIGN_OR_RETURN(uint64_t got, ReadUpTo(file.number(), bytes.size(), bytes.data()));
  if (!IsHeader(std::string_view(bytes).substr(0, got), status.st_size)) return Damaged("it is no index of files");
  bytes.resize(status.st_size);
  STOKER_ASSIGN_OR_RETURN(got, ReadUpTo(file.number(), bytes.size(), bytes.data()));
  STOKER_ASSIGN_OR_RETURN(KeptListing kept, ParseListing(std::string_view(bytes).substr(0, got)));
  if (!(kept.key == key)) return absl::FailedPreconditionError("it is of another source");
  return std::move(kept.listing);
}

absl::Status StoreListing(const std::string& path, const ListingKey& key, const ObjectListing& listing) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  absl::Status written = error ? absl::UnavailableError(error.message()) : absl::OkStatus();
  if (written.ok()) written = WriteFileAtomically(path, SerializeListing(key, listing));
  if (written.ok()) return written;
  return absl::UnavailableError(absl::StrCat("cannot write ", ShortPrintableName(path), ": ", written.message()));
}

}  // namespace stoker
