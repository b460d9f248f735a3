#include "server/scan/scan_state.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/read/binary.h"

namespace stoker {
namespace {

constexpr absl::string_view kMagic{"STOKER SCAN 1\n\0\0", 16};
constexpr size_t kKeyBytes = 32;

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

absl::StatusOr<ScanState> ScanState::Open(const std::string& path, absl::string_view key, uint64_t samples,
                                          const std::function<void(ScannedBlock)>& known) {
  STOKER_CHECK(key.size() == kKeyBytes);
  STOKER_ASSIGN_OR_RETURN(RecordFile file,
                          RecordFile::Open(path, absl::StrCat(kMagic, key), [&](std::string_view body) {
                            auto block = ParseBlock({body.data(), body.size()}, samples);
                            if (!block.has_value()) return false;
                            known(*std::move(block));
                            return true;
                          }));
  return ScanState(std::move(file));
}

}  // namespace stoker
