#ifndef STOKER_SERVER_DECODE_AUDIO_MODULE_MODULE_H_
#define STOKER_SERVER_DECODE_AUDIO_MODULE_MODULE_H_

#include <cstddef>
#include <cstdint>

namespace stoker {

// The functions of stoker-audio.so, which have C linkage, so that nothing of ours need be linked alike on both sides.
// They are thread-safe for different files and throw nothing.

enum class AudioContainer { kWav, kFlac, kOgg, kMp3 };

// A file to open. What it points to must outlive what is opened.
struct AudioModuleInput {
  AudioContainer container = AudioContainer::kWav;
  const uint8_t* file = nullptr;
  size_t file_bytes = 0;
  bool (*raised)(const void* interrupt) = nullptr;  // The file seems to end once this is true.
  const void* interrupt = nullptr;
};

struct AudioModuleInfo {
  int64_t frames = 0, channels = 0, sample_rate = 0;  // channels and sample_rate are at least 1, and below 2^31
};

// An open file.
class AudioModuleFile;

// Why a call failed, ended by a zero.
struct AudioModuleReason {
  char text[256] = {};
};

// Returns null where the file cannot be decoded.
using AudioModuleOpen = AudioModuleFile*(const AudioModuleInput& input, AudioModuleInfo& info,
                                         AudioModuleReason& reason);

// Goes to a frame, before the first Next. Returns whether it could.
using AudioModuleGoTo = bool(AudioModuleFile& file, int64_t frame, AudioModuleReason& reason);

// Decodes up to `count` frames of all channels. Returns how many: fewer than asked for only at the end; −1 where the
// file is damaged.
using AudioModuleNext = int64_t(AudioModuleFile& file, float* frames, int64_t count, AudioModuleReason& reason);

using AudioModuleClose = void(AudioModuleFile* file);

inline constexpr char kAudioModuleOpen[] = "stoker_audio_open";
inline constexpr char kAudioModuleGoTo[] = "stoker_audio_go_to";
inline constexpr char kAudioModuleNext[] = "stoker_audio_next";
inline constexpr char kAudioModuleClose[] = "stoker_audio_close";

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_AUDIO_MODULE_MODULE_H_
