#ifndef STOKER_SERVER_AUGMENT_AUDIO_AUDIO_CHECK_H_
#define STOKER_SERVER_AUGMENT_AUDIO_AUDIO_CHECK_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace stoker {

// Does for audio what PixelCheck does: returns XXH3-64 over what this build makes of embedded clips, a WAV, a FLAC, an
// OGG Vorbis and an MP3, as they are and resampled. It is part of what jobs with audio compare, and of no others'.
// Returns 0 where the module for audio cannot be loaded. It takes a few milliseconds. Thread-safe.
absl::StatusOr<uint64_t> AudioCheck();

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_AUDIO_AUDIO_CHECK_H_
