#include "server/decode/audio/module/module.h"

#include <algorithm>
#include <exception>
#include <string>

#include "server/decode/audio/module/audio_module_file.h"

namespace stoker {
namespace {

void Tell(const std::string& why, AudioModuleReason& reason) {
  const size_t size = std::min(why.size(), sizeof reason.text - 1);
  std::copy_n(why.begin(), size, reason.text);
  reason.text[size] = 0;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) AudioModuleFile* stoker_audio_open(const AudioModuleInput& input,
                                                                          AudioModuleInfo& info,
                                                                          AudioModuleReason& reason) try {
  std::string why;
  auto file = input.container == AudioContainer::kMp3 ? OpenMpegFile(input, why) : OpenSoundFile(input, why);
  if (file != nullptr) info = file->info();
  Tell(why, reason);
  return file.release();
} catch (const std::exception& error) {
  Tell(error.what(), reason);
  return nullptr;
}

__attribute__((visibility("default"))) bool stoker_audio_go_to(AudioModuleFile& file, int64_t frame,
                                                               AudioModuleReason& reason) try {
  if (file.GoTo(frame)) return true;
  Tell(file.reason(), reason);
  return false;
} catch (const std::exception& error) {
  Tell(error.what(), reason);
  return false;
}

__attribute__((visibility("default"))) int64_t stoker_audio_next(AudioModuleFile& file, float* frames, int64_t count,
                                                                 AudioModuleReason& reason) try {
  const int64_t got = file.Next(frames, count);
  if (got < 0) Tell(file.reason(), reason);
  return got;
} catch (const std::exception& error) {
  Tell(error.what(), reason);
  return -1;
}

__attribute__((visibility("default"))) void stoker_audio_close(AudioModuleFile* file) { delete file; }

}  // extern "C"

}  // namespace stoker
