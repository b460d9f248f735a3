#include "server/read/formats/folder/manifest_format.h"

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "xxhash.h"

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little);  // Numbers are copied as they are in memory.

constexpr std::string_view kMagic = "STOKER MANIFEST\n";
constexpr uint32_t kVersion = 2;
constexpr size_t kChecksumBytes = 8;
constexpr size_t kFingerprintBytes = 32;

uint64_t Checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

// Appends values to `bytes`.
class Writer {
 public:
  template <typename Number>
  void Put(Number number) {
    static_assert(std::is_integral_v<Number>);
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }

  void PutBytes(std::string_view value) {
    Put<uint64_t>(value.size());
    bytes += value;
  }

  template <typename Number>
  void PutArray(const std::vector<Number>& values) {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number));
  }

  std::string bytes;
};

// Takes values from the front of some bytes. A value beyond the end is read as zero, and done() is false from then on.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number>
  Number Get() {
    Number number = 0;
    const std::string_view bytes = Take(sizeof(number));
    std::memcpy(&number, bytes.data(), bytes.size());
    return number;
  }

  std::string_view Take(uint64_t bytes) {
    if (bytes > rest_.size()) {
      ok_ = false;
      bytes = 0;
    }
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view GetBytes() { return Take(Get<uint64_t>()); }

  // Reads how many items follow, each of at least `item_bytes`. It never returns more than there are bytes for.
  uint64_t GetCount(uint64_t item_bytes) {
    const uint64_t count = Get<uint64_t>();
    if (count <= rest_.size() / item_bytes) return count;
    ok_ = false;
    return 0;
  }

  template <typename Number>
  std::vector<Number> GetArray(uint64_t count) {
    if (count > rest_.size() / sizeof(Number)) {
      ok_ = false;
      return {};
    }
    std::vector<Number> values(count);
    const std::string_view bytes = Take(count * sizeof(Number));
    if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  bool done() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

void PutHeader(Writer& writer) {
  writer.bytes += kMagic;
  writer.Put<uint32_t>(kVersion);
  writer.Put<uint32_t>(0);
  writer.Put<uint64_t>(0);  // PutTrailer replaces this by the file's size.
}

void PutTrailer(Writer& writer) {
  const uint64_t file_bytes = writer.bytes.size() + kChecksumBytes;
  std::memcpy(writer.bytes.data() + kManifestHeaderBytes - sizeof(file_bytes), &file_bytes, sizeof(file_bytes));
  writer.Put<uint64_t>(Checksum(writer.bytes));
}

std::vector<FolderListing::Directory> GetDirectories(Reader& reader) {
  std::vector<FolderListing::Directory> directories(reader.GetCount(24));
  for (auto& directory : directories) {
    directory.modified.seconds = reader.Get<int64_t>();
    directory.modified.nanoseconds = reader.Get<int64_t>();
    directory.path = reader.GetBytes();
  }
  return directories;
}

std::vector<FolderIndex::ClassFolder> GetClasses(Reader& reader) {
  std::vector<FolderIndex::ClassFolder> classes(reader.GetCount(16));
  for (auto& folder : classes) {
    folder.end = reader.Get<uint64_t>();
    folder.name = reader.GetBytes();
  }
  return classes;
}

FileList GetFiles(Reader& reader) {
  FileList files;
  const uint64_t count = reader.Get<uint64_t>();
  const uint64_t path_bytes = reader.Get<uint64_t>();
  files.path_ends = reader.GetArray<uint64_t>(count);
  files.sizes = reader.GetArray<uint32_t>(count);
  files.modified = reader.GetArray<uint32_t>(count);
  files.paths = reader.Take(path_bytes);
  return files;
}

}  // namespace

bool IsManifestHeader(std::string_view header, uint64_t file_bytes) {
  if (header.size() < kManifestHeaderBytes || file_bytes < kManifestHeaderBytes + kChecksumBytes) return false;
  Reader reader(header);
  return reader.Take(kMagic.size()) == kMagic && reader.Get<uint32_t>() == kVersion && reader.Get<uint32_t>() == 0 &&
         reader.Get<uint64_t>() == file_bytes;
}

std::string SerializeManifest(std::string_view root, const FolderListing& listing) {
  const FolderIndex& index = listing.index;
  Writer writer;
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
  PutTrailer(writer);
  return std::move(writer.bytes);
}

absl::StatusOr<FolderListing> ParseManifest(std::string_view bytes, std::string_view root) {
  if (!IsManifestHeader(bytes, bytes.size()))
    return absl::DataLossError("not a manifest of this version, or cut short");
  const std::string_view covered = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (Reader(bytes.substr(covered.size())).Get<uint64_t>() != Checksum(covered))
    return absl::DataLossError("its checksum is wrong");
  Reader reader(covered.substr(kManifestHeaderBytes));
  if (reader.GetBytes() != root) return absl::FailedPreconditionError("it belongs to another folder");
  FolderListing listing;
  listing.began_seconds = reader.Get<int64_t>();
  listing.fingerprint = reader.Take(kFingerprintBytes);
  listing.index.skipped_files = reader.Get<uint64_t>();
  listing.index.skipped_example = reader.GetBytes();
  listing.directories = GetDirectories(reader);
  listing.index.classes = GetClasses(reader);
  listing.index.files = GetFiles(reader);
  const bool fits = reader.done() && listing.began_seconds > 0 && !listing.directories.empty();
  if (!fits || !listing.index.IsWellFormed()) return absl::DataLossError("its parts do not fit together");
  return listing;
}

}  // namespace stoker
