#include "server/augment/audio/audio_maker.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "common/fields/half_precision.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/decode/flaw.h"
#include "tests/unit/server/decode/audio/clips.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Audio = ServerPipeline::Output::Audio;

constexpr uint64_t kMostBytes = 1 << 20;

// Returns the rows of `file` as numbers of 16 bits, or the error.
absl::StatusOr<std::vector<uint16_t>> Make(const std::vector<uint8_t>& file, Audio audio, int64_t start = 0,
                                           uint64_t most_bytes = kMostBytes) {
  AudioMaker maker(most_bytes);
  if (audio.max_bytes == 0) audio.max_bytes = kMostBytes;
  absl::Status status = maker.Open(file, audio, [start](int64_t) { return start; }, {});
  if (status.ok()) status = maker.Decode();
  if (!status.ok()) return status;
  std::vector<uint16_t> rows(maker.rows() * audio.stored.channels, 0xabcd);
  maker.Make({reinterpret_cast<uint8_t*>(rows.data()), rows.size() * 2});
  return rows;
}

absl::StatusOr<std::vector<uint16_t>> Make(const std::string& name, const Audio& audio, int64_t start = 0) {
  return Make(Clip(name), audio, start);
}

// A WAV of floats.
std::vector<uint8_t> FloatWav(const std::vector<float>& samples) {
  std::vector<uint8_t> file;
  const auto put = [&](const auto& value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    file.insert(file.end(), bytes, bytes + sizeof value);
  };
  const auto text = [&](const char* word) { file.insert(file.end(), word, word + 4); };
  const auto bytes = static_cast<uint32_t>(samples.size() * 4);
  text("RIFF"), put(36 + bytes), text("WAVE"), text("fmt "), put(uint32_t{16}), put(uint16_t{3}), put(uint16_t{1});
  put(uint32_t{8000}), put(uint32_t{32000}), put(uint16_t{4}), put(uint16_t{32}), text("data"), put(bytes);
  for (const float x : samples) put(x);
  return file;
}

TEST(AudioMakerTest, Int16IsAsItIsStored) {
  const std::vector<uint8_t> file = Clip("mono.wav");
  const auto rows = Make(file, {});
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 1200u);
  EXPECT_EQ(std::memcmp(rows->data(), file.data() + 44, 2400), 0);
  const auto flac = Make("mono.flac", {});
  ASSERT_TRUE(flac.ok());
  EXPECT_TRUE(std::equal(rows->begin(), rows->end(), flac->begin()));
}

TEST(AudioMakerTest, Float16IsTheNearestToTheNumber) {
  const auto whole = Make("mono.wav", {}), half = Make("mono.wav", {.stored = {.dtype = v1::DTYPE_FLOAT16}});
  ASSERT_TRUE(half.ok());
  for (size_t i = 0; i < whole->size(); ++i)
    EXPECT_EQ((*half)[i], ToFloat16(static_cast<float>(static_cast<int16_t>((*whole)[i])) / 32768));
}

TEST(AudioMakerTest, WhatIsBeyondTheRangeIsTheNearestNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<uint8_t> file =
      FloatWav({1, -1, 2, -1e30F, kInfinity, std::nanf(""), 0.5F / 32768, 1.5F / 32768, -0.75F / 32768});
  EXPECT_THAT(*Make(file, {}), ElementsAre(32767, 0x8000, 32767, 0x8000, 0, 0, 0, 2, 0xffff));
  const auto halves = Make(file, {.stored = {.dtype = v1::DTYPE_FLOAT16}});
  EXPECT_EQ((*halves)[2], ToFloat16(2));
  EXPECT_EQ((*halves)[3], ToFloat16(-65504));
  EXPECT_EQ((*halves)[4], 0);
  EXPECT_EQ((*halves)[5], 0);
}

TEST(AudioMakerTest, ChannelsAreMixedToOneOrAsManyAsAsked) {
  const auto both = Make("stereo.wav", {.stored = {.channels = 2}}), one = Make("stereo.wav", {});
  ASSERT_TRUE(both.ok());
  ASSERT_EQ(both->size(), 1600u);
  ASSERT_EQ(one->size(), 800u);
  for (size_t i = 0; i < one->size(); ++i) {
    const double sum = static_cast<int16_t>((*both)[2 * i]) + static_cast<int16_t>((*both)[2 * i + 1]);
    EXPECT_EQ(static_cast<int16_t>((*one)[i]), std::nearbyint(sum / 2));
  }
  EXPECT_THAT(Make("mono.wav", {.stored = {.channels = 2}}).status().message(),
              HasSubstr("has 1 channels, and its dataset's configuration says channels: 2"));
}

TEST(AudioMakerTest, AStretchIsFilledUpWithZeros) {
  const auto whole = Make("mono.flac", {});
  const auto inside = Make("mono.flac", {.samples = 100, .crop_op = 0}, 777);
  ASSERT_TRUE(inside.ok()) << inside.status();
  EXPECT_TRUE(std::equal(inside->begin(), inside->end(), whole->begin() + 777));
  const auto longer = Make("mono.flac", {.samples = 3000, .crop_op = 0});
  ASSERT_EQ(longer->size(), 3000u);
  EXPECT_TRUE(std::equal(whole->begin(), whole->end(), longer->begin()));
  EXPECT_EQ(std::count(longer->begin() + 2400, longer->end(), 0), 600);
}

TEST(AudioMakerTest, AStretchOfResampledAudioHasTheNumbersOfTheWhole) {
  for (const char* name : {"mono.flac", "mono.ogg", "mono.mp3"}) {
    const auto whole = Make(name, {.rate = 11025});
    ASSERT_TRUE(whole.ok()) << whole.status();
    ASSERT_EQ(whole->size(), 3308u) << "⌈2400 · 441 / 320⌉";
    const auto part = Make(name, {.rate = 11025, .samples = 500, .crop_op = 0}, 1234);
    EXPECT_TRUE(std::equal(part->begin(), part->end(), whole->begin() + 1234)) << name;
  }
}

TEST(AudioMakerTest, ARateThatIsNotTheDatasetsIsDataLoss) {
  EXPECT_TRUE(Make("mono.wav", {.stored = {.sample_rate = 8000}}).ok());
  EXPECT_THAT(Make("mono.wav", {.stored = {.sample_rate = 16000}}).status().message(),
              HasSubstr("has 8000 samples a second, and its dataset's configuration says sample_rate: 16000"));
}

TEST(AudioMakerTest, WhatIsAboveMaxBytesIsRefusedByItsHeader) {
  EXPECT_TRUE(Make("mono.wav", {.max_bytes = 2400}).ok());
  const absl::Status status = Make("mono.wav", {.max_bytes = 2399}).status();
  EXPECT_EQ(FlawOf(status), Flaw::kOverLimits);
  EXPECT_THAT(status.message(), HasSubstr("has 1200 samples, more than the 1199 of its max_bytes of 2399"));
  EXPECT_EQ(FlawOf(Make("endless.flac", {}).status()), Flaw::kOverLimits) << "2^36 − 1 samples";
  EXPECT_EQ(FlawOf(Make("endless.flac", {.samples = 9, .crop_op = 0}).status()), Flaw::kOverLimits);
}

TEST(AudioMakerTest, WhatTakesMoreThanTheServersMemoryIsTheServersFault) {
  EXPECT_TRUE(absl::IsResourceExhausted(Make(Clip("mono.wav"), {}, 0, 4799).status()));
  EXPECT_TRUE(Make(Clip("mono.wav"), {}, 0, 4800).ok());
  EXPECT_TRUE(Make(Clip("mono.wav"), {.samples = 100, .crop_op = 0}, 7, 400).ok()) << "only this stretch is kept";
}

TEST(AudioMakerTest, OneMakerMakesWhatNewOnesMake) {
  AudioMaker maker(kMostBytes);
  for (const char* name : {"stereo.flac", "cut_mono.flac", "mono.mp3", "opus.ogg", "mono.ogg", "mono.wav"})
    for (const uint32_t rate : {0, 16000, 11025}) {
      const std::vector<uint8_t> file = Clip(name);
      const Audio audio = {.max_bytes = kMostBytes, .rate = rate};
      const auto expected = Make(file, audio);
      absl::Status status = maker.Open(file, audio, nullptr, {});
      if (status.ok()) status = maker.Decode();
      ASSERT_EQ(status.ok(), expected.ok()) << name;
      if (!status.ok()) continue;
      std::vector<uint16_t> rows(maker.rows());
      maker.Make({reinterpret_cast<uint8_t*>(rows.data()), rows.size() * 2});
      EXPECT_EQ(rows, *expected) << name;
    }
}

}  // namespace
}  // namespace stoker
