#ifndef STOKER_SERVER_DECODE_AUDIO_CONTAINER_H_
#define STOKER_SERVER_DECODE_AUDIO_CONTAINER_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/decode/audio/module/module.h"

namespace stoker {

// What a file of audio tells by itself, before a library sees it. The functions are pure and take any bytes.

// Returns what holds the audio, by how the file begins. DataLoss where it begins as none of these, or as OGG of another
// codec than Vorbis, or whose headers are damaged: what is not known here never reaches a library.
absl::StatusOr<AudioContainer> ContainerOf(std::span<const uint8_t> file);

// DataLoss where the file ends before its own headers say: a chunk of a WAV, a page of OGG, the bytes in an MP3's Xing
// header. Libraries take such a file for a shorter one. Of FLAC, whose header says the samples, decoding tells it, and
// of an MP3 without such a header nothing does.
absl::Status CheckEnding(std::span<const uint8_t> file, AudioContainer container);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_AUDIO_CONTAINER_H_
