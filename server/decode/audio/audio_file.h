#ifndef STOKER_SERVER_DECODE_AUDIO_AUDIO_FILE_H_
#define STOKER_SERVER_DECODE_AUDIO_AUDIO_FILE_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/decode/audio/audio_library.h"
#include "server/decode/interrupt.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// What an audio file's decoder needs to know of the pipeline.
struct AudioOptions {
  // fail and fail_truncated refuse a file that ends early, and one whose decoder reports damage; ignore takes what
  // there is, with zeros for the rest.
  v1::DecodeWarnings warnings = v1::DECODE_WARNINGS_FAIL_TRUNCATED;

  // Ends decoding early, with its status, where it is given. It must outlive the file.
  const Interrupt* interrupt = nullptr;
};

// What a file's header says. A frame is one number for each channel.
struct AudioInfo {
  int64_t frames = 0;
  int64_t channels = 0;
  uint32_t sample_rate = 0;  // frames a second, 1 to kMostSampleRate
};

// An audio file that is decoded from memory: WAV of PCM, float, A-law or µ-law; FLAC; OGG Vorbis; MP3. The first three
// by libsndfile, MP3 by libmpg123. One thread at a time.
//
// WAV and FLAC are decoded by integers, so that the numbers are the same on every machine. MP3 takes libmpg123's
// portable decoder, whichever CPU there is, and libvorbis has no other. These two compute in floating point: their
// numbers are the same on all x86-64, and may differ in the last bits from those of 64-bit ARM. See decision 81.
//
// It takes memory for the tables of its codec and a chunk of frames, however long the file says that it is.
class AudioFile {
 public:
  // Reads the header of `file`, which must outlive what is returned. DataLoss where it is no such file, or where it
  // ends early and `options` do not allow that. Unavailable where the module for audio cannot be loaded.
  static absl::StatusOr<AudioFile> Open(std::span<const uint8_t> file, const AudioOptions& options);

  const AudioInfo& info() const { return info_; }

  // Decodes frames from `first` on. `made` has `channels` numbers for each of them, −1 to 1 or, where a file has
  // floats, any: one number is the mean of a file's channels, and otherwise there must be as many as it has. DataLoss
  // where the file is damaged within. Call it once. Requires that the file has these frames.
  absl::Status Read(int64_t first, int64_t channels, std::span<float> made);

 private:
  using Handle = std::unique_ptr<AudioModuleFile, AudioModuleClose*>;

  AudioFile(const AudioLibrary& library, Handle file, const AudioInfo& info, const AudioOptions& options)
      : library_(library), file_(std::move(file)), info_(info), options_(options) {}

  bool forgiving() const { return options_.warnings == v1::DECODE_WARNINGS_IGNORE; }
  absl::Status interrupted() const {
    return options_.interrupt == nullptr ? absl::OkStatus() : options_.interrupt->status();
  }

  // Decodes as many frames into `made` as there are. Returns how many.
  absl::StatusOr<int64_t> ReadSome(int64_t first, int64_t channels, std::span<float> made);

  AudioLibrary library_;
  Handle file_;
  AudioInfo info_;
  AudioOptions options_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_AUDIO_AUDIO_FILE_H_
