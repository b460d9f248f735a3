#include "server/read/index/sealed_file.h"

#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"
#include "server/read/stores/local/file.h"
#include "xxhash.h"

namespace stoker {
namespace {

constexpr size_t kMagicBytes = 16;

uint64_t NumberAt(std::string_view bytes, size_t offset) {
  uint64_t number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

}  // namespace

absl::Status DamagedIndex(std::string_view what) {
  return absl::DataLossError(absl::StrCat("it is damaged: ", std::string(what)));
}

BinaryWriter BeginSealed(const SealedKind& kind) {
  STOKER_CHECK(kind.magic.size() == kMagicBytes);
  BinaryWriter writer;
  writer.bytes += kind.magic;
  writer.Put<uint64_t>(0);  // The file's size, which is known at the end.
  return writer;
}

std::string Seal(BinaryWriter writer) {
  const uint64_t size = writer.bytes.size() + sizeof(uint64_t);
  std::memcpy(writer.bytes.data() + kMagicBytes, &size, sizeof size);
  writer.Put<uint64_t>(XXH3_64bits(writer.bytes.data(), writer.bytes.size()));
  return std::move(writer.bytes);
}

absl::Status CheckSealedHeader(const SealedKind& kind, std::string_view header, uint64_t file_bytes) {
  if (header.size() >= kSealedHeaderBytes && header.substr(0, kMagicBytes) == kind.magic &&
      NumberAt(header, kMagicBytes) == file_bytes && file_bytes >= kSealedHeaderBytes + sizeof(uint64_t))
    return absl::OkStatus();
  return DamagedIndex(absl::StrCat("it is no ", std::string(kind.what), ", or was not written to its end"));
}

absl::StatusOr<std::string_view> Unseal(const SealedKind& kind, std::string_view bytes) {
  STOKER_RETURN_IF_ERROR(CheckSealedHeader(kind, bytes, bytes.size()));
  const std::string_view checked = bytes.substr(0, bytes.size() - sizeof(uint64_t));
  if (XXH3_64bits(checked.data(), checked.size()) != NumberAt(bytes, checked.size()))
    return DamagedIndex("its checksum is wrong");
  return checked.substr(kSealedHeaderBytes);
}

absl::StatusOr<std::string> ReadSealed(const std::string& path, const SealedKind& kind) {
  STOKER_ASSIGN_OR_RETURN(const Descriptor file, OpenOwn(path));
  struct stat status;
  if (fstat(file.number(), &status) != 0) return absl::UnavailableError("cannot stat");
  std::string bytes(kSealedHeaderBytes, '\0');
  STOKER_ASSIGN_OR_RETURN(uint64_t got, ReadUpTo(file.number(), bytes.size(), bytes.data()));
  STOKER_RETURN_IF_ERROR(CheckSealedHeader(kind, std::string_view(bytes).substr(0, got), status.st_size));
  bytes.resize(status.st_size);
  STOKER_ASSIGN_OR_RETURN(got, ReadUpTo(file.number(), bytes.size(), bytes.data()));
  bytes.resize(got);
  return bytes;
}

absl::Status WriteSealed(const std::string& path, std::string_view bytes) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  absl::Status written = error ? absl::UnavailableError(error.message()) : absl::OkStatus();
  if (written.ok()) written = WriteFileAtomically(path, bytes);
  if (written.ok()) return written;
  return absl::UnavailableError(absl::StrCat("cannot write ", ShortPrintableName(path), ": ", written.message()));
}

}  // namespace stoker
