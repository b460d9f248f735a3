#include "server/read/formats/folder/manifest_format.h"

#include <cstring>
#include <utility>
#include <vector>

#include "xxhash.h"

namespace stoker {
namespace {

constexpr std::string_view kMagic = "STOKER MANIFEST\n";
constexpr uint32_t kVersion = 2;
constexpr size_t kChecksumBytes = 8;
constexpr size_t kFingerprintBytes = 32;

uint64_t Checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

void PutHeader(BinaryWriter& writer) {
  writer.bytes += kMagic;
  writer.Put<uint32_t>(kVersion);
  writer.Put<uint32_t>(0);
  writer.Put<uint64_t>(0);  // PutTrailer replaces this by the file's size.
}

void PutTrailer(BinaryWriter& writer) {
  const uint64_t file_bytes = writer.bytes.size() + kChecksumBytes;
  std::memcpy(writer.bytes.data() + kManifestHeaderBytes - sizeof(file_bytes), &file_bytes, sizeof(file_bytes));
  writer.Put<uint64_t>(Checksum(writer.bytes));
}

std::vector<FolderListing::Directory> GetDirectories(BinaryReader& reader) {
  std::vector<FolderListing::Directory> directories(reader.GetCount(24));
  for (auto& directory : directories) {
    directory.modified.seconds = reader.Get<int64_t>();
    directory.modified.nanoseconds = reader.Get<int64_t>();
    directory.path = reader.GetBytes();
  }
  return directories;
}

}  // namespace

void PutClassesAndFiles(const FolderIndex& index, BinaryWriter& writer) {
  writer.Put<uint64_t>(index.classes.size());
  for (const FolderIndex::ClassFolder& folder : index.classes) {
    writer.Put<uint64_t>(folder.end);
    writer.PutBytes(folder.name);
  }
  writer.Put<uint64_t>(index.files.size());
  writer.Put<uint64_t>(index.files.paths.size());
  writer.PutArray(index.files.path_ends);
  writer.PutArray(index.files.sizes);
  writer.PutArray(index.files.modified);
  writer.bytes += index.files.paths;
}

void GetClassesAndFiles(BinaryReader& reader, FolderIndex& index) {
  index.classes.resize(reader.GetCount(16));
  for (FolderIndex::ClassFolder& folder : index.classes) {
    folder.end = reader.Get<uint64_t>();
    folder.name = reader.GetBytes();
  }
  FileList& files = index.files;
  const uint64_t count = reader.Get<uint64_t>();
  const uint64_t path_bytes = reader.Get<uint64_t>();
  files.path_ends = reader.GetArray<uint64_t>(count);
  files.sizes = reader.GetArray<uint32_t>(count);
  files.modified = reader.GetArray<uint32_t>(count);
  files.paths = reader.Take(path_bytes);
}

bool IsManifestHeader(std::string_view header, uint64_t file_bytes) {
  if (header.size() < kManifestHeaderBytes || file_bytes < kManifestHeaderBytes + kChecksumBytes) return false;
  BinaryReader reader(header);
  return reader.Take(kMagic.size()) == kMagic && reader.Get<uint32_t>() == kVersion && reader.Get<uint32_t>() == 0 &&
         reader.Get<uint64_t>() == file_bytes;
}

std::string SerializeManifest(std::string_view root, const FolderListing& listing) {
  const FolderIndex& index = listing.index;
  BinaryWriter writer;
  writer.bytes.reserve(index.resident_bytes() + listing.directories.size() * 64 + 4096);
  PutHeader(writer);
  writer.PutBytes(root);
  writer.Put<int64_t>(listing.began_seconds);
  writer.bytes += listing.fingerprint;
  writer.Put<uint64_t>(index.skipped_files);
  writer.PutBytes(index.skipped_example);
  writer.Put<uint64_t>(listing.directories.size());
  for (const FolderListing::Directory& directory : listing.directories) {
    writer.Put<int64_t>(directory.modified.seconds);
    writer.Put<int64_t>(directory.modified.nanoseconds);
    writer.PutBytes(directory.path);
  }
  PutClassesAndFiles(index, writer);
  PutTrailer(writer);
  return std::move(writer.bytes);
}

absl::StatusOr<FolderListing> ParseManifest(std::string_view bytes, std::string_view root) {
  if (!IsManifestHeader(bytes, bytes.size()))
    return absl::DataLossError("not a manifest of this version, or cut short");
  const std::string_view covered = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (BinaryReader(bytes.substr(covered.size())).Get<uint64_t>() != Checksum(covered))
    return absl::DataLossError("its checksum is wrong");
  BinaryReader reader(covered.substr(kManifestHeaderBytes));
  if (reader.GetBytes() != root) return absl::FailedPreconditionError("it belongs to another folder");
  FolderListing listing;
  listing.began_seconds = reader.Get<int64_t>();
  listing.fingerprint = reader.Take(kFingerprintBytes);
  listing.index.skipped_files = reader.Get<uint64_t>();
  listing.index.skipped_example = reader.GetBytes();
  listing.directories = GetDirectories(reader);
  GetClassesAndFiles(reader, listing.index);
  const bool fits = reader.done() && listing.began_seconds > 0 && !listing.directories.empty();
  if (!fits || !listing.index.IsWellFormed()) return absl::DataLossError("its parts do not fit together");
  return listing;
}

}  // namespace stoker
