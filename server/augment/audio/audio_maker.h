#ifndef STOKER_SERVER_AUGMENT_AUDIO_AUDIO_MAKER_H_
#define STOKER_SERVER_AUGMENT_AUDIO_AUDIO_MAKER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/pipeline/server_pipeline.h"
#include "server/augment/audio/resampler.h"
#include "server/decode/audio/audio_file.h"

namespace stoker {

// Makes of audio files what is sent: decodes what is needed of each, mixes channels, resamples, takes a stretch, and
// rounds once, to int16 or float16. −1 to 1 are −32768 to 32768 there, and what is above is the nearest number; a
// number that a file of floats has and that is not finite is 0. Where a stretch is longer than the audio, zeros follow.
//
// For each sample Open, Decode and Make. One thread at a time; weights and scratch stay warm from sample to sample.
class AudioMaker {
 public:
  // A file whose needed part takes more than `most_bytes` of memory is ResourceExhausted.
  explicit AudioMaker(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Returns where the stretch begins that is taken of so many samples.
  using DrawStart = std::function<int64_t(int64_t all)>;

  // Reads the header of `file`, which must outlive Decode. `draw` is asked where `audio` takes a stretch. DataLoss
  // where it is no audio, or has not the channels, rate and size that `audio` says.
  absl::Status Open(std::span<const uint8_t> file, const ServerPipeline::Output::Audio& audio, const DrawStart& draw,
                    const AudioOptions& options);

  // Rows that the sample will have.
  int64_t rows() const { return rows_; }

  // What decoding and making it takes: numbers that are decoded, and multiplications.
  Cost cost() const;

  absl::Status Decode();

  // Makes the rows, of two bytes for each channel. Requires a span of that size.
  void Make(std::span<uint8_t> rows);

 private:
  // Returns the resampler for two rates, made or kept.
  absl::StatusOr<const Resampler*> ResamplerOf(uint32_t from, uint32_t to);

  const uint64_t most_bytes_;
  std::vector<std::unique_ptr<const Resampler>> resamplers_;  // of at most Resampler::kMostWeights together

  // The sample in hand.
  SourceField::Audio stored_;
  std::optional<AudioFile> file_;
  const Resampler* resampler_ = nullptr;
  int64_t rows_ = 0;
  Resampler::Stretch needed_, made_;  // of the file's frames, and of the audio after resampling
  std::vector<float> decoded_;
};

// OK where `file` can be decoded from end to end to what `field` says; DataLoss otherwise. ResourceExhausted where it
// takes more than `most_bytes`.
absl::Status CheckAudio(const SourceField& field, std::span<const uint8_t> file, const AudioOptions& options,
                        uint64_t most_bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_AUDIO_AUDIO_MAKER_H_
