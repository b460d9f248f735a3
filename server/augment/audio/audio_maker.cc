#include "server/augment/audio/audio_maker.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/fields/half_precision.h"
#include "common/status_macros.h"
#include "server/decode/flaw.h"

namespace stoker {
namespace {

constexpr int64_t kNumberBytes = 2;
constexpr size_t kKeptNumbers = size_t{1} << 20;  // A worker's room is needed for the next sample.

int16_t ToInt16(double x) {
  if (std::isnan(x)) return 0;
  return static_cast<int16_t>(std::clamp(std::nearbyint(x * 32768), -32768.0, 32767.0));
}

uint16_t ToHalf(double x) {
  constexpr double kMost = 65504;  // float16's
  if (std::isnan(x)) return 0;
  return ToFloat16(static_cast<float>(std::clamp(x, -kMost, kMost)));
}

template <typename Number>
void Round(std::span<const Number> in, v1::Dtype dtype, uint8_t* out) {
  for (const Number x : in) {
    const uint16_t bits = dtype == v1::DTYPE_INT16 ? static_cast<uint16_t>(ToInt16(x)) : ToHalf(x);
    std::memcpy(out, &bits, sizeof bits);
    out += sizeof bits;
  }
}

absl::Status CheckForm(const AudioInfo& info, const SourceField::Audio& stored, uint64_t max_bytes) {
  if (stored.channels != 1 && info.channels != stored.channels)
    return absl::DataLossError(absl::StrCat("has ", info.channels, " channels, and its dataset's configuration says ",
                                            "channels: ", stored.channels, "; channels: 1 mixes any number"));
  if (stored.sample_rate != 0 && info.sample_rate != stored.sample_rate)
    return absl::DataLossError(absl::StrCat("has ", info.sample_rate, " samples a second, and its dataset's ",
                                            "configuration says sample_rate: ", stored.sample_rate,
                                            "; without it the op Resample takes any"));
  const auto most = static_cast<int64_t>(max_bytes) / (stored.channels * kNumberBytes);
  if (info.frames > most)
    return FlawError(Flaw::kOverLimits,
                     absl::StrCat("has ", info.frames, " samples, more than the ", most, " of its max_bytes of ",
                                  max_bytes, "; raise it where the dataset is configured, on every server"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<const Resampler*> AudioMaker::ResamplerOf(uint32_t from, uint32_t to) {
  int64_t weights = 0;
  for (const auto& resampler : resamplers_) {
    if (resampler->IsOf(from, to)) return resampler.get();
    weights += resampler->weights();
  }
  STOKER_ASSIGN_OR_RETURN(Resampler made, Resampler::Create(from, to));
  if (weights + made.weights() > Resampler::kMostWeights) resamplers_.clear();
  return resamplers_.emplace_back(std::make_unique<const Resampler>(std::move(made))).get();
}

absl::Status AudioMaker::Open(std::span<const uint8_t> file, const ServerPipeline::Output::Audio& audio,
                              const DrawStart& draw, const AudioOptions& options) {
  stored_ = audio.stored;
  STOKER_ASSIGN_OR_RETURN(file_, AudioFile::Open(file, options));
  const AudioInfo& info = file_->info();
  STOKER_RETURN_IF_ERROR(CheckForm(info, stored_, audio.max_bytes));
  resampler_ = nullptr;
  if (audio.rate != 0 && audio.rate != info.sample_rate) {
    STOKER_ASSIGN_OR_RETURN(resampler_, ResamplerOf(info.sample_rate, audio.rate));
  }
  const int64_t all = resampler_ == nullptr ? info.frames : resampler_->Outputs(info.frames);
  rows_ = audio.samples == 0 ? all : audio.samples;
  made_ = {audio.samples == 0 ? 0 : draw(all), std::min(all, rows_)};
  needed_ = resampler_ == nullptr ? made_ : resampler_->Needed(made_, info.frames);
  const uint64_t numbers = static_cast<uint64_t>(needed_.count + (resampler_ == nullptr ? 0 : 2 * made_.count)) *
                           static_cast<uint64_t>(stored_.channels);
  if (numbers <= most_bytes_ / sizeof(float)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("its audio takes ", numbers * sizeof(float),
                                                   " bytes to make, and this server's max_pixels allows ",
                                                   most_bytes_));
}

Cost AudioMaker::cost() const {
  constexpr double kDecoding = 40, kRounding = 8;  // of a number, about
  const auto decoded = static_cast<double>(needed_.count * file_->info().channels);
  const auto made = static_cast<double>(rows_ * stored_.channels);
  const double taps = resampler_ == nullptr ? 0 : static_cast<double>(resampler_->taps());
  return {.arithmetic = kDecoding * decoded + (kRounding + 2 * taps) * made, .bytes = 4 * decoded + 2 * made};
}

absl::Status AudioMaker::Decode() {
  if (decoded_.capacity() > kKeptNumbers) std::vector<float>().swap(decoded_);
  decoded_.resize(needed_.count * stored_.channels);
  STOKER_RETURN_IF_ERROR(file_->Read(needed_.first, stored_.channels, decoded_));
  for (float& x : decoded_)
    if (!std::isfinite(x)) x = 0;
  file_.reset();
  return absl::OkStatus();
}

void AudioMaker::Make(std::span<uint8_t> rows) {
  STOKER_CHECK(rows.size() == static_cast<size_t>(rows_ * stored_.channels * kNumberBytes));
  const size_t made_bytes = made_.count * stored_.channels * kNumberBytes;
  if (resampler_ == nullptr) {
    Round(std::span<const float>(decoded_), stored_.dtype, rows.data());
  } else {
    std::vector<double> made(made_.count * stored_.channels);
    resampler_->Run(decoded_, needed_, stored_.channels, made_, made);
    Round(std::span<const double>(made), stored_.dtype, rows.data());
  }
  std::fill(rows.begin() + static_cast<ptrdiff_t>(made_bytes), rows.end(), uint8_t{0});
}

absl::Status CheckAudio(const SourceField& field, std::span<const uint8_t> file, const AudioOptions& options,
                        uint64_t most_bytes) {
  AudioMaker maker(most_bytes);
  STOKER_RETURN_IF_ERROR(maker.Open(file, {.stored = field.audio, .max_bytes = field.max_bytes}, nullptr, options));
  return maker.Decode();
}

}  // namespace stoker
