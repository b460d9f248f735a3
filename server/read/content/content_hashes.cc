#include "server/read/content/content_hashes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"
#include "server/read/stores/local/file.h"

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "STOKER CONTENT 1";
constexpr size_t kFingerprintBytes = 32;
constexpr uint64_t kHeaderBytes = kMagic.size() + kFingerprintBytes + sizeof(uint64_t);
constexpr uint64_t kSampleBytes = sizeof(SampleHashes::quick) + sizeof(SampleHashes::digest);

template <typename Value>
void Append(std::string& bytes, const Value& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string Header(std::string_view fingerprint, uint64_t samples) {
  std::string header{kMagic};
  header += fingerprint;
  Append(header, samples);
  return header;
}

uint64_t ChecksumOf(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace

std::array<uint64_t, 2> QuickHashOf(const SampleBytes& sample) {
  std::array<uint64_t, 2> hash = {};
  for (const auto& field : sample.fields) {
    // Each field's hash is keyed by those before it, and XXH3 hashes its length.
    const auto digest = XXH3_128bits_withSeed(field.data(), field.size(), hash[0] ^ std::rotl(hash[1], 32));
    hash = {digest.low64, digest.high64};
  }
  return hash;
}

SampleHashes HashesOf(const SampleBytes& sample) {
  SampleHashes hashes{.quick = QuickHashOf(sample)};
  Fingerprint sha("");
  for (const auto& field : sample.fields) {
    sha.AddNumber(field.size());
    sha.AddBytes({reinterpret_cast<const char*>(field.data()), field.size()});
  }
  const std::string digest = sha.Finish();
  std::copy(digest.begin(), digest.end(), hashes.digest.begin());
  return hashes;
}

std::string ContentOf(const std::vector<SampleHashes>& hashes) {
  Fingerprint content("stoker.content.v1");
  content.AddNumber(hashes.size());
  for (const SampleHashes& one : hashes)
    content.AddBytes({reinterpret_cast<const char*>(one.digest.data()), one.digest.size()});
  return content.Finish();
}

absl::StatusOr<std::vector<SampleHashes>> LoadHashes(const std::string& path, std::string_view fingerprint,
                                                     uint64_t samples) {
  STOKER_ASSIGN_OR_RETURN(const Descriptor file, OpenOwn(path));
  struct stat status;
  if (fstat(file.number(), &status) != 0) return absl::UnavailableError("cannot stat");
  const uint64_t expected = kHeaderBytes + samples * kSampleBytes + sizeof(uint64_t);
  if (static_cast<uint64_t>(status.st_size) != expected)
    return absl::DataLossError("it has another size than it should");
  std::string bytes(expected, '\0');
  STOKER_ASSIGN_OR_RETURN(const uint64_t got, ReadUpTo(file.number(), expected, bytes.data()));
  uint64_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + expected - sizeof(checksum), sizeof(checksum));
  if (got != expected || checksum != ChecksumOf(std::string_view(bytes).substr(0, expected - sizeof(checksum))))
    return absl::DataLossError("it is damaged");
  if (bytes.substr(0, kHeaderBytes) != Header(fingerprint, samples))
    return absl::FailedPreconditionError("it is another dataset's");
  std::vector<SampleHashes> hashes(samples);
  const char* at = bytes.data() + kHeaderBytes;
  for (SampleHashes& one : hashes) at = (std::memcpy(&one.quick, at, sizeof(one.quick)), at + sizeof(one.quick));
  for (SampleHashes& one : hashes) at = (std::memcpy(&one.digest, at, sizeof(one.digest)), at + sizeof(one.digest));
  return hashes;
}

absl::Status StoreHashes(const std::string& path, std::string_view fingerprint,
                         const std::vector<SampleHashes>& hashes) {
  std::string bytes = Header(fingerprint, hashes.size());
  bytes.reserve(kHeaderBytes + hashes.size() * kSampleBytes + sizeof(uint64_t));
  for (const SampleHashes& one : hashes) Append(bytes, one.quick);
  for (const SampleHashes& one : hashes) Append(bytes, one.digest);
  Append(bytes, ChecksumOf(bytes));
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const absl::Status written = error ? absl::UnavailableError(error.message()) : WriteFileAtomically(path, bytes);
  if (written.ok()) return written;
  return absl::UnavailableError(absl::StrCat("cannot write ", ShortPrintableName(path), ": ", written.message()));
}

}  // namespace stoker
