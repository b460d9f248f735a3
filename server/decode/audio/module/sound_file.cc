#include <sndfile.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "server/decode/audio/module/audio_module_file.h"
#include "server/decode/audio/module/memory_file.h"

namespace stoker {
namespace {

struct CloseSound {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

MemoryFile& MemoryOf(void* user) { return *static_cast<MemoryFile*>(user); }

SF_VIRTUAL_IO Callbacks() {
  SF_VIRTUAL_IO callbacks = {};
  callbacks.get_filelen = [](void* user) -> sf_count_t { return MemoryOf(user).size(); };
  callbacks.seek = [](sf_count_t offset, int whence, void* user) -> sf_count_t {
    return MemoryOf(user).Seek(offset, whence);
  };
  callbacks.read = [](void* to, sf_count_t count, void* user) -> sf_count_t { return MemoryOf(user).Read(to, count); };
  callbacks.write = [](const void*, sf_count_t, void*) -> sf_count_t { return 0; };
  callbacks.tell = [](void* user) -> sf_count_t { return MemoryOf(user).place(); };
  return callbacks;
}

// Whether libsndfile decodes it by code that has no further libraries behind it than those that are known here.
bool IsTaken(int format) {
  const int container = format & SF_FORMAT_TYPEMASK, coding = format & SF_FORMAT_SUBMASK;
  if (container == SF_FORMAT_OGG) return coding == SF_FORMAT_VORBIS;
  if (container == SF_FORMAT_FLAC) return true;
  const bool is_wav = container == SF_FORMAT_WAV || container == SF_FORMAT_WAVEX || container == SF_FORMAT_RF64;
  constexpr int kCodings[] = {SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_PCM_32,
                              SF_FORMAT_FLOAT,  SF_FORMAT_DOUBLE, SF_FORMAT_ULAW,   SF_FORMAT_ALAW};
  return is_wav && std::find(std::begin(kCodings), std::end(kCodings), coding) != std::end(kCodings);
}

class SoundFile final : public AudioModuleFile {
 public:
  explicit SoundFile(const AudioModuleInput& input) : memory_(input) {}

  bool Begin() {
    SF_INFO info = {};
    SF_VIRTUAL_IO callbacks = Callbacks();
    memory_.HoldInterrupts(true);  // libsndfile 1.2.0 loses memory where an OGG ends in its headers.
    file_.reset(sf_open_virtual(&callbacks, SFM_READ, &info, &memory_));
    memory_.HoldInterrupts(false);
    if (file_ == nullptr) return FailAs(nullptr);
    if (!IsTaken(info.format)) return Fail("is a WAV of another coding than PCM, float, A-law or µ-law; convert it");
    if (info.frames < 0 || info.frames == SF_COUNT_MAX)
      return Fail("its header does not say how long it is, as of what is written to a pipe; convert it");
    if (info.channels < 1 || info.samplerate < 1) return Fail("its header has no channels or no sample rate");
    info_ = {info.frames, info.channels, info.samplerate};
    return true;
  }

  bool GoTo(int64_t frame) override {
    return frame == 0 || sf_seek(file_.get(), frame, SEEK_SET) == frame || FailAs(file_.get());
  }

  int64_t Next(float* frames, int64_t count) override {
    const sf_count_t got = sf_readf_float(file_.get(), frames, count);
    if (sf_error(file_.get()) != SF_ERR_NO_ERROR) return FailAs(file_.get()) ? 0 : -1;
    return std::clamp<sf_count_t>(got, 0, count);
  }

 private:
  bool FailAs(SNDFILE* file) { return Fail(std::string("the audio cannot be decoded: ") + sf_strerror(file)); }

  MemoryFile memory_;
  std::unique_ptr<SNDFILE, CloseSound> file_;
};

}  // namespace

std::unique_ptr<AudioModuleFile> OpenSoundFile(const AudioModuleInput& input, std::string& reason) {
  auto file = std::make_unique<SoundFile>(input);
  if (file->Begin()) return file;
  reason = file->reason();
  return nullptr;
}

}  // namespace stoker
