#include "server/decode/audio/audio_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/ops/audio.h"
#include "common/status_macros.h"
#include "server/decode/audio/container.h"
#include "server/decode/flaw.h"

namespace stoker {
namespace {

constexpr int64_t kChunkNumbers = 1 << 16;  // that are decoded at a time

// Makes `channels` numbers of each frame of `in`.
void Mix(std::span<const float> in, int64_t in_channels, int64_t channels, float* out) {
  if (channels == in_channels) {
    std::copy(in.begin(), in.end(), out);
    return;
  }
  for (size_t i = 0; i < in.size(); i += in_channels) {
    double sum = 0;
    for (int64_t c = 0; c < in_channels; ++c) sum += in[i + c];
    *out++ = static_cast<float>(sum / static_cast<double>(in_channels));
  }
}

}  // namespace

absl::StatusOr<AudioFile> AudioFile::Open(std::span<const uint8_t> file, const AudioOptions& options) {
  STOKER_ASSIGN_OR_RETURN(const AudioContainer container, ContainerOf(file));
  if (options.warnings != v1::DECODE_WARNINGS_IGNORE) STOKER_RETURN_IF_ERROR(CheckEnding(file, container));
  STOKER_ASSIGN_OR_RETURN(const AudioLibrary library, LoadedAudioLibrary());
  AudioModuleInput input = {.container = container, .file = file.data(), .file_bytes = file.size()};
  if (options.interrupt != nullptr) {
    input.raised = [](const void* interrupt) { return static_cast<const Interrupt*>(interrupt)->raised(); };
    input.interrupt = options.interrupt;
  }
  AudioModuleInfo info;
  AudioModuleReason reason;
  Handle opened(library.open(input, info, reason), library.close);
  if (options.interrupt != nullptr) STOKER_RETURN_IF_ERROR(options.interrupt->status());
  if (opened == nullptr) return absl::DataLossError(reason.text);
  if (info.sample_rate > kMostSampleRate)
    return absl::DataLossError(
        absl::StrCat("its header says ", info.sample_rate, " samples a second, above ", kMostSampleRate));
  return AudioFile(library, std::move(opened), {info.frames, info.channels, static_cast<uint32_t>(info.sample_rate)},
                   options);
}

absl::StatusOr<int64_t> AudioFile::ReadSome(int64_t first, int64_t channels, std::span<float> made) {
  const int64_t count = static_cast<int64_t>(made.size()) / channels;
  AudioModuleReason reason;
  if (!library_.go_to(*file_, first, reason)) return absl::DataLossError(reason.text);
  std::vector<float> chunk(std::clamp<int64_t>(kChunkNumbers / info_.channels, 1, count) * info_.channels);
  for (int64_t done = 0; done < count;) {
    const int64_t wanted = std::min<int64_t>(count - done, static_cast<int64_t>(chunk.size()) / info_.channels);
    const int64_t got = library_.next(*file_, chunk.data(), wanted, reason);
    STOKER_RETURN_IF_ERROR(interrupted());
    if (got < 0 && !forgiving()) return absl::DataLossError(reason.text);
    const int64_t frames = std::clamp<int64_t>(got, 0, wanted);
    Mix(std::span(chunk).first(frames * info_.channels), info_.channels, channels, made.data() + done * channels);
    done += frames;
    if (frames < wanted) return done;
  }
  return count;
}

absl::Status AudioFile::Read(int64_t first, int64_t channels, std::span<float> made) {
  STOKER_CHECK(channels == 1 || channels == info_.channels);
  const int64_t count = static_cast<int64_t>(made.size()) / channels;
  STOKER_CHECK(first >= 0 && first + count <= info_.frames);
  if (count == 0) return absl::OkStatus();
  const absl::StatusOr<int64_t> read = ReadSome(first, channels, made);
  STOKER_RETURN_IF_ERROR(interrupted());
  if (!read.ok() && !forgiving()) return read.status();
  const int64_t done = read.value_or(0);
  if (done < count && !forgiving())
    return FlawError(Flaw::kTruncated, absl::StrCat("the audio ends early: its header says ", info_.frames,
                                                    " samples, and there are ", first + done));
  std::fill(made.begin() + done * channels, made.end(), 0.0F);
  return absl::OkStatus();
}

}  // namespace stoker
