// Any file gives audio or DataLoss, under each policy, and a stretch of it has the numbers of the whole. Input: the
// file.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "common/check.h"
#include "server/augment/audio/audio_maker.h"

namespace stoker {
namespace {

constexpr v1::DecodeWarnings kPolicies[] = {v1::DECODE_WARNINGS_FAIL_TRUNCATED, v1::DECODE_WARNINGS_FAIL,
                                            v1::DECODE_WARNINGS_IGNORE};
constexpr uint64_t kMaxBytes = 1 << 18;

using Audio = ServerPipeline::Output::Audio;

// Makes of `file` what is sent. Returns whether it could.
bool MakeRows(AudioMaker& maker, std::span<const uint8_t> file, const Audio& audio, v1::DecodeWarnings warnings,
              int64_t start, std::vector<uint8_t>& rows) {
  absl::Status status =
      maker.Open(file, audio, [&](int64_t all) { return std::max<int64_t>(std::min(start, all - audio.samples), 0); },
                 {.warnings = warnings});
  if (status.ok()) status = maker.Decode();
  STOKER_CHECK(status.ok() || absl::IsDataLoss(status) || absl::IsResourceExhausted(status));
  if (!status.ok()) return false;
  rows.assign(maker.rows() * 2, 1);
  maker.Make(rows);
  return true;
}

void Check(std::span<const uint8_t> file, v1::DecodeWarnings warnings) {
  static AudioMaker maker(8 * kMaxBytes);  // Reused: no file may spoil it for the next.
  std::vector<uint8_t> whole, part;
  if (!MakeRows(maker, file, {.max_bytes = kMaxBytes}, warnings, 0, whole)) return;
  STOKER_CHECK(whole.size() <= kMaxBytes);
  const auto samples = static_cast<int64_t>(whole.size()) / 2, start = samples / 3;
  const Audio stretch = {.max_bytes = kMaxBytes, .samples = samples / 4 + 1, .crop_op = 0};
  // What is damaged may lie outside of the stretch, and a decoder that seeks to it may find less before it.
  if (warnings != v1::DECODE_WARNINGS_IGNORE && MakeRows(maker, file, stretch, warnings, start, part) && samples > 0)
    STOKER_CHECK(std::equal(part.begin(), part.begin() + std::min(part.size(), whole.size() - 2 * start),
                            whole.begin() + 2 * start));
  MakeRows(maker, file, {.max_bytes = kMaxBytes, .rate = 11025}, warnings, 0, part);
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (stoker::v1::DecodeWarnings policy : stoker::kPolicies) stoker::Check({data, size}, policy);
  return 0;
}
