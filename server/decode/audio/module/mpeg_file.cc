#include <mpg123.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "server/decode/audio/module/audio_module_file.h"
#include "server/decode/audio/module/memory_file.h"

namespace stoker {
namespace {

struct DeleteMpeg {
  void operator()(mpg123_handle* handle) const { mpg123_delete(handle); }  // It closes the file first.
};

class MpegFile final : public AudioModuleFile {
 public:
  explicit MpegFile(const AudioModuleInput& input) : memory_(input) {}

  // The whole file is walked through, header by header, since only that tells how long it is.
  bool Begin() {
    int error = MPG123_OK;
    handle_.reset(mpg123_new("generic", &error));
    if (handle_ == nullptr) return Fail(mpg123_plain_strerror(error));
    mpg123_handle* const mp3 = handle_.get();
    mpg123_param(mp3, MPG123_REMOVE_FLAGS, MPG123_AUTO_RESAMPLE, 0);
    mpg123_param(mp3, MPG123_ADD_FLAGS, MPG123_FORCE_FLOAT | MPG123_GAPLESS | MPG123_NO_FRANKENSTEIN | MPG123_QUIET, 0);
    mpg123_replace_reader_handle(mp3, ReadSome, Seek, nullptr);
    long rate = 0;  // NOLINT(google-runtime-int): libmpg123's
    int channels = 0, encoding = 0;
    if (mpg123_open_handle(mp3, &memory_) != MPG123_OK ||
        mpg123_getformat(mp3, &rate, &channels, &encoding) != MPG123_OK || mpg123_scan(mp3) != MPG123_OK)
      return FailAs();
    const off_t frames = mpg123_length(mp3);
    if (encoding != MPG123_ENC_FLOAT_32 || frames < 0 || channels < 1 || rate < 1) return FailAs();
    info_ = {frames, channels, rate};
    return true;
  }

  // What a frame decodes to depends on those before, further back than libmpg123 looks when it seeks.
  bool GoTo(int64_t frame) override {
    constexpr int64_t kAtOnce = 4096;
    std::vector<float> skipped(kAtOnce * info_.channels);
    while (frame > 0) {
      const int64_t wanted = std::min(frame, kAtOnce), got = Next(skipped.data(), wanted);
      if (got < wanted) return got >= 0;
      frame -= got;
    }
    return true;
  }

  int64_t Next(float* frames, int64_t count) override {
    auto* const bytes = reinterpret_cast<unsigned char*>(frames);
    const size_t wanted = static_cast<size_t>(count * info_.channels) * sizeof(float);
    size_t done = 0;
    while (done < wanted) {
      size_t got = 0;
      const int status = mpg123_read(handle_.get(), bytes + done, wanted - done, &got);
      done += got;
      if (status == MPG123_DONE || (status == MPG123_OK && got == 0)) break;
      if (status == MPG123_NEW_FORMAT)
        return Fail("the audio changes its sample rate or channels midway; convert it") ? 0 : -1;
      if (status != MPG123_OK) return FailAs() ? 0 : -1;
    }
    return static_cast<int64_t>(done / sizeof(float)) / info_.channels;
  }

 private:
  static ssize_t ReadSome(void* memory, void* to, size_t count) {
    return static_cast<MemoryFile*>(memory)->Read(to, static_cast<int64_t>(count));
  }
  static off_t Seek(void* memory, off_t offset, int whence) {
    return static_cast<MemoryFile*>(memory)->Seek(offset, whence);
  }

  bool FailAs() { return Fail(std::string("the audio cannot be decoded: ") + mpg123_strerror(handle_.get())); }

  MemoryFile memory_;
  std::unique_ptr<mpg123_handle, DeleteMpeg> handle_;
};

}  // namespace

std::unique_ptr<AudioModuleFile> OpenMpegFile(const AudioModuleInput& input, std::string& reason) {
  auto file = std::make_unique<MpegFile>(input);
  if (file->Begin()) return file;
  reason = file->reason();
  return nullptr;
}

}  // namespace stoker
