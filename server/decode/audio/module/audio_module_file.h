#ifndef STOKER_SERVER_DECODE_AUDIO_MODULE_AUDIO_MODULE_FILE_H_
#define STOKER_SERVER_DECODE_AUDIO_MODULE_AUDIO_MODULE_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "server/decode/audio/module/module.h"

namespace stoker {

// A file that a library decodes. One thread at a time. Its functions are the module's.
class AudioModuleFile {
 public:
  virtual ~AudioModuleFile() = default;

  virtual bool GoTo(int64_t frame) = 0;
  virtual int64_t Next(float* frames, int64_t count) = 0;

  const AudioModuleInfo& info() const { return info_; }

  // Says why the last call failed.
  const std::string& reason() const { return reason_; }

 protected:
  bool Fail(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  AudioModuleInfo info_;

 private:
  std::string reason_;
};

// Opens a WAV, FLAC or OGG Vorbis by libsndfile, which reads the bytes where they are. Where it cannot be decoded, the
// reason is set.
std::unique_ptr<AudioModuleFile> OpenSoundFile(const AudioModuleInput& input, std::string& reason);

// Opens an MP3 by libmpg123, with its decoder `generic`: the others, one of which it takes by the CPU, have other last
// bits. libsndfile, which takes libmpg123 too, cannot say so.
std::unique_ptr<AudioModuleFile> OpenMpegFile(const AudioModuleInput& input, std::string& reason);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_AUDIO_MODULE_AUDIO_MODULE_FILE_H_
