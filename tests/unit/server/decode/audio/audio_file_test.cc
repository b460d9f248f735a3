#include "server/decode/audio/audio_file.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/decode/flaw.h"
#include "tests/unit/server/decode/audio/clips.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr AudioOptions kForgiving = {.warnings = v1::DECODE_WARNINGS_IGNORE};

struct Decoded {
  absl::Status status;
  AudioInfo info;
  std::vector<float> numbers;
};

// Decodes `count` frames from `first` on; −1: all.
Decoded Decode(const std::vector<uint8_t>& file, const AudioOptions& options = {}, int64_t first = 0,
               int64_t count = -1) {
  Decoded decoded;
  auto opened = AudioFile::Open(file, options);
  decoded.status = opened.status();
  if (!opened.ok()) return decoded;
  decoded.info = opened->info();
  if (count < 0) count = decoded.info.frames;
  decoded.numbers.resize(count * decoded.info.channels);
  decoded.status = opened->Read(first, decoded.info.channels, decoded.numbers);
  return decoded;
}

Decoded Decode(const std::string& name, const AudioOptions& options = {}) { return Decode(Clip(name), options); }

// What make_audio_corpus.py wrote.
float Tone(int64_t i, int channel) {
  const double t = static_cast<double>(i) / 8000;
  const double tone = 0.6 * std::sin(2 * M_PI * 300 * (channel + 1) * t) * std::exp(-5 * t);
  return static_cast<float>(std::nearbyint(tone * 32768) / 32768);
}

// The most that a number of the clip differs from what was written.
float Difference(const Decoded& decoded) {
  float most = 0;
  for (size_t i = 0; i < decoded.numbers.size(); ++i) {
    const auto frame = static_cast<int64_t>(i) / decoded.info.channels;
    const int channel = static_cast<int>(static_cast<int64_t>(i) % decoded.info.channels);
    most = std::max(most, std::abs(decoded.numbers[i] - Tone(frame, channel)));
  }
  return most;
}

TEST(AudioFileTest, LosslessFilesGiveTheNumbersThatWereWritten) {
  for (const char* name : {"mono.wav", "stereo.wav", "bits24.wav", "float.wav", "extensible.wav", "long.wav",
                           "piped.wav", "mono.flac", "stereo.flac", "bits24.flac"}) {
    const Decoded decoded = Decode(name);
    ASSERT_TRUE(decoded.status.ok()) << name << decoded.status;
    EXPECT_GE(decoded.info.frames, 300) << name;
    EXPECT_EQ(decoded.info.sample_rate, 8000) << name;
    EXPECT_EQ(decoded.info.channels, std::string(name).starts_with("stereo") ? 2 : 1) << name;
    EXPECT_EQ(Difference(decoded), 0) << name;
  }
}

TEST(AudioFileTest, LossyFilesSoundLikeWhatWasWritten) {
  EXPECT_LT(Difference(Decode("bits8.wav")), 1 / 100.0F);
  EXPECT_LT(Difference(Decode("ulaw.wav")), 1 / 50.0F);
  for (const char* name : {"mono.ogg", "stereo.ogg", "mono.mp3"}) {
    const Decoded decoded = Decode(name);
    ASSERT_TRUE(decoded.status.ok()) << name << decoded.status;
    EXPECT_EQ(decoded.info.frames, 2400) << name << ": neither codec's padding is left";
    EXPECT_LT(Difference(decoded), 0.15F) << name;
  }
}

#ifdef __x86_64__
// These were decoded without FMA (GLIBC_TUNABLES) and with AVX-512; see decision 81.
TEST(AudioFileTest, LossyFilesGiveTheSameBitsOnEveryX86) {
  const auto hash = [](const std::string& name) {
    const Decoded decoded = Decode(name);
    return XXH3_64bits(decoded.numbers.data(), decoded.numbers.size() * sizeof(float));
  };
  EXPECT_EQ(hash("mono.ogg"), 617296045471442557u);
  EXPECT_EQ(hash("stereo.ogg"), 11234341201335925363u);
  EXPECT_EQ(hash("mono.mp3"), 14650378279983227450u);
  EXPECT_EQ(hash("stereo.mp3"), 6917647724122420853u);
}
#endif

TEST(AudioFileTest, AStretchHasTheNumbersOfTheWhole) {
  for (const char* name :
       {"mono.wav", "stereo.wav", "mono.flac", "stereo.flac", "mono.ogg", "stereo.ogg", "mono.mp3", "stereo.mp3"}) {
    const std::vector<uint8_t> file = Clip(name);
    const Decoded whole = Decode(file);
    const int64_t channels = whole.info.channels, frames = whole.info.frames;
    for (const int64_t first : {int64_t{1}, frames / 3, frames - 250, frames - 1, frames}) {
      const int64_t count = std::min<int64_t>(200, frames - first);
      const Decoded part = Decode(file, {}, first, count);
      ASSERT_TRUE(part.status.ok()) << name << part.status;
      EXPECT_TRUE(std::equal(part.numbers.begin(), part.numbers.end(), whole.numbers.begin() + first * channels))
          << name << " from " << first;
    }
  }
}

TEST(AudioFileTest, OneChannelIsTheMeanOfAll) {
  const std::vector<uint8_t> bytes = Clip("stereo.wav");
  auto file = AudioFile::Open(bytes, {});
  std::vector<float> mixed(300);
  ASSERT_TRUE(file->Read(100, 1, mixed).ok());
  for (int64_t i = 0; i < 300; ++i) EXPECT_EQ(mixed[i], (Tone(100 + i, 0) + Tone(100 + i, 1)) / 2);
}

TEST(AudioFileTest, AFileThatEndsEarlyIsTruncated) {
  EXPECT_TRUE(absl::IsDataLoss(Decode("cut_mono.flac").status)) << "libFLAC does not tell this from other damage";
  for (const char* name : {"cut_mono.wav", "cut_mono.ogg", "cut_mono.mp3"}) {
    const absl::Status status = Decode(name).status;
    EXPECT_TRUE(absl::IsDataLoss(status)) << name;
    EXPECT_EQ(FlawOf(status), Flaw::kTruncated) << name << status;
    EXPECT_THAT(status.message(), HasSubstr("ends early")) << name;
  }
}

TEST(AudioFileTest, WhereItIsIgnoredThatAFileEndsEarlyItHasWhatThereIs) {
  for (const char* name : {"mono.wav", "mono.flac", "mono.mp3"}) {
    const Decoded whole = Decode(name), cut = Decode(std::string("cut_") + name, kForgiving);
    ASSERT_TRUE(cut.status.ok()) << name << cut.status;
    EXPECT_LE(cut.info.frames, whole.info.frames) << name;
    if (std::string(name) == "mono.wav") {
      EXPECT_TRUE(std::equal(cut.numbers.begin(), cut.numbers.end(), whole.numbers.begin()));
    } else if (std::string(name) == "mono.flac") {
      EXPECT_THAT(cut.numbers, testing::Each(0)) << "it is one frame, which is not whole";
    }
  }
}

TEST(AudioFileTest, DamageIsDataLoss) {
  EXPECT_TRUE(absl::IsDataLoss(Decode("damaged.flac").status));
  EXPECT_TRUE(absl::IsDataLoss(Decode("no_rate.wav").status));
  EXPECT_TRUE(absl::IsDataLoss(Decode("damaged.ogg").status));
  EXPECT_THAT(Decode("unknown_length.flac").status.message(), HasSubstr("does not say how long it is"));
}

TEST(AudioFileTest, WhatIsNotKnownIsRefusedByName) {
  EXPECT_THAT(Decode("opus.ogg").status.message(), HasSubstr("another codec than Vorbis"));
  EXPECT_THAT(Decode("adpcm.wav").status.message(), HasSubstr("another coding than PCM"));
  EXPECT_THAT(Decode("other.aiff").status.message(), HasSubstr("is no WAV, FLAC, OGG Vorbis or MP3"));
  EXPECT_THAT(Decode(std::vector<uint8_t>()).status.message(), HasSubstr("is empty"));
}

TEST(AudioFileTest, AnInterruptEndsDecodingWithItsStatus) {
  for (const char* name : {"mono.wav", "mono.flac", "mono.ogg", "mono.mp3"})
    for (int questions = 0; questions < 4; ++questions) {
      int asked = 0;
      const Interrupt interrupt(
          [&] { return asked++ < questions ? absl::OkStatus() : absl::DeadlineExceededError("too late"); });
      const Decoded decoded = Decode(name, {.interrupt = &interrupt});
      if (!interrupt.raised()) continue;
      EXPECT_TRUE(decoded.status.ok() || absl::IsDeadlineExceeded(decoded.status)) << name << decoded.status;
    }
}

}  // namespace
}  // namespace stoker
