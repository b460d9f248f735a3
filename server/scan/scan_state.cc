#include "server/scan/scan_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/read/binary.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr absl::string_view kMagic{"STOKER SCAN 1\n\0\0", 16};
constexpr size_t kKeyBytes = 32;
constexpr size_t kRecordHeadBytes = 12;

absl::Status Cannot(const std::string& verb, const std::string& path, const std::string& reason) {
  return absl::UnavailableError(
      absl::StrCat("cannot ", verb, " the scan's state ", ShortPrintableName(path), ": ", reason));
}

uint64_t ChecksumOf(absl::string_view body) { return XXH3_64bits_withSeed(body.data(), body.size(), body.size()); }

std::string Record(const ScannedBlock& block) {
  const std::string body = SerializeBlock(block);
  BinaryWriter record;
  record.Put(static_cast<uint32_t>(body.size()));
  record.Put(ChecksumOf(body));
  return record.bytes + body;
}

absl::StatusOr<std::string> ReadAll(int file) {
  struct stat status;
  if (fstat(file, &status) != 0) return absl::UnavailableError(ErrnoText(errno));
  std::string bytes(status.st_size, '\0');
  STOKER_ASSIGN_OR_RETURN(const uint64_t got, ReadUpTo(file, bytes.size(), bytes.data()));
  bytes.resize(got);
  return bytes;
}

}  // namespace

uint64_t BlocksOf(uint64_t samples) { return (samples + kBlockSamples - 1) / kBlockSamples; }

uint64_t SamplesOfBlock(uint64_t number, uint64_t samples) {
  return std::min(kBlockSamples, samples - number * kBlockSamples);
}

std::string SerializeBlock(const ScannedBlock& block) {
  BinaryWriter body;
  body.Put(block.number);
  body.Put<uint64_t>(block.digests.size());
  for (const SampleDigest& digest : block.digests) {
    body.Put(digest[0]);
    body.Put(digest[1]);
  }
  body.Put<uint64_t>(block.findings.size());
  for (const Finding& finding : block.findings) {
    body.Put(finding.id);
    body.Put(static_cast<uint8_t>(finding.kind));
    body.PutBytes(finding.field);
    body.PutBytes(finding.message);
  }
  return std::move(body.bytes);
}

std::optional<ScannedBlock> ParseBlock(absl::string_view body, uint64_t samples) {
  BinaryReader reader({body.data(), body.size()});
  ScannedBlock block{.number = reader.Get<uint64_t>()};
  if (block.number >= BlocksOf(samples) || reader.Get<uint64_t>() != SamplesOfBlock(block.number, samples))
    return std::nullopt;
  block.digests.resize(SamplesOfBlock(block.number, samples));
  for (SampleDigest& digest : block.digests) digest = {reader.Get<uint64_t>(), reader.Get<uint64_t>()};
  const uint64_t findings = reader.GetCount(3 * sizeof(uint64_t) + 1);
  for (uint64_t i = 0; i < findings; ++i) {
    Finding finding{.id = reader.Get<uint64_t>(), .kind = static_cast<FindingKind>(reader.Get<uint8_t>())};
    finding.field = reader.GetBytes();
    finding.message = reader.GetBytes();
    if (finding.id / kBlockSamples != block.number || finding.id >= samples || finding.kind >= FindingKind::kDuplicate)
      return std::nullopt;
    block.findings.push_back(std::move(finding));
  }
  return reader.done() ? std::optional(std::move(block)) : std::nullopt;
}

uint64_t ScanState::Parse(absl::string_view bytes, uint64_t samples, const std::function<void(ScannedBlock)>& known) {
  uint64_t at = kMagic.size() + kKeyBytes;
  while (bytes.size() - at >= kRecordHeadBytes) {
    BinaryReader head({bytes.data() + at, kRecordHeadBytes});
    const uint64_t size = head.Get<uint32_t>(), checksum = head.Get<uint64_t>();
    if (size > bytes.size() - at - kRecordHeadBytes) break;
    const absl::string_view body = bytes.substr(at + kRecordHeadBytes, size);
    if (ChecksumOf(body) != checksum) break;
    auto block = ParseBlock(body, samples);
    if (!block.has_value()) break;
    known(*std::move(block));
    at += kRecordHeadBytes + size;
  }
  return at;
}

absl::StatusOr<ScanState> ScanState::Open(const std::string& path, absl::string_view key, uint64_t samples,
                                          const std::function<void(ScannedBlock)>& known) {
  STOKER_CHECK(key.size() == kKeyBytes);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return Cannot("write", path, error.message());
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (file.number() < 0) return Cannot("write", path, ErrnoText(errno));
  if (flock(file.number(), LOCK_EX | LOCK_NB) != 0)
    return absl::FailedPreconditionError(
        absl::StrCat(ShortPrintableName(path), ": another scan writes this file; wait for it, or name another --out"));
  auto bytes = ReadAll(file.number());
  if (!bytes.ok()) return Cannot("read", path, std::string(bytes.status().message()));
  const std::string head = absl::StrCat(kMagic, key);
  const bool ours = absl::StartsWith(*bytes, head);
  const uint64_t end = ours ? Parse(*bytes, samples, known) : 0;
  if (end < bytes->size() && ftruncate(file.number(), static_cast<off_t>(end)) != 0)
    return Cannot("write", path, ErrnoText(errno));
  if (!ours)
    if (const absl::Status written = WriteAll(file.number(), head); !written.ok())
      return Cannot("write", path, std::string(written.message()));
  return ScanState(path, std::move(file));
}

absl::Status ScanState::Append(const ScannedBlock& block) const {
  const absl::Status written = WriteAll(file_.number(), Record(block));
  return written.ok() ? written : Cannot("write", path_, std::string(written.message()));
}

}  // namespace stoker
