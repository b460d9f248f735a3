#include "server/augment/audio/audio_check.h"

#include <xxhash.h>

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/augment/audio/audio_check_clips.h"
#include "server/augment/audio/audio_maker.h"

namespace stoker {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 20;

// Appends what is made of the clip at this rate: of float16, so that less is rounded away.
absl::Status AppendClip(const std::string& file, uint32_t rate, std::vector<uint8_t>& made) {
  const std::span bytes(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  AudioMaker maker(kMostBytes);
  STOKER_RETURN_IF_ERROR(
      maker.Open(bytes, {.stored = {.dtype = v1::DTYPE_FLOAT16}, .max_bytes = kMostBytes, .rate = rate}, nullptr, {}));
  STOKER_RETURN_IF_ERROR(maker.Decode());
  std::vector<uint8_t> rows(maker.rows() * 2);
  maker.Make(rows);
  made.insert(made.end(), rows.begin(), rows.end());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<uint64_t> AudioCheck() {
  constexpr uint32_t kAsStored = 0, kOther = 11025;
  std::vector<uint8_t> made;
  for (const AudioCheckClip& clip : kAudioCheckClips)
    for (const uint32_t rate : {kAsStored, kOther}) {
      const absl::Status status = AppendClip(absl::HexStringToBytes(clip.file), rate, made);
      if (absl::IsUnavailable(status)) return 0;
      if (!status.ok())
        return absl::InternalError(
            absl::StrCat("this build cannot decode the ", clip.name, " of its audio check: ", status.message()));
    }
  return XXH3_64bits(made.data(), made.size());
}

}  // namespace stoker
