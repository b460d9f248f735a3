#ifndef STOKER_SERVER_DECODE_AUDIO_AUDIO_LIBRARY_H_
#define STOKER_SERVER_DECODE_AUDIO_AUDIO_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"
#include "server/decode/audio/module/module.h"

namespace stoker {

// The functions of stoker-audio.so. The libraries of audio are linked by this module of its own,
// lib/stoker/stoker-audio.so beside the folder of the program, so that servers without audio, and the bundle, need none
// of them.
struct AudioLibrary {
  AudioModuleOpen* open = nullptr;
  AudioModuleGoTo* go_to = nullptr;
  AudioModuleNext* next = nullptr;
  AudioModuleClose* close = nullptr;
};

// Returns the module, which the first call loads. Unavailable, which says why, where it cannot be. Thread-safe.
absl::StatusOr<AudioLibrary> LoadedAudioLibrary();

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_AUDIO_AUDIO_LIBRARY_H_
