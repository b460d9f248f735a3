#include "server/augment/chain_mixer.h"

#include <vector>

#include "gtest/gtest.h"
#include "server/augment/color/color.h"
#include "tests/unit/server/augment/golden_pixels.h"
#include "tests/unit/server/augment/noise.h"

namespace stoker {
namespace {

constexpr ImageSize kMixedSize = {13, 17};
constexpr ColorParameters kInverted = {ColorParameters::Kind::kInvert},
                          kBrighter = {ColorParameters::Kind::kBrightness, 1.5};

Bytes Mixed(ChainMixer& mixer, const MixedChainsParameters& mixed, ImageSize size = kMixedSize) {
  const Bytes noise = Noise(size);
  Bytes out(noise.size());
  const absl::Status status = mixer.Run(mixed, {ViewOf(noise, size), WholeOf(size)}, out.data(), {});
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

Bytes Colored(const std::vector<ColorParameters>& ops) {
  Bytes pixels = Noise(kMixedSize);
  ApplyColors(ops, kMixedSize, pixels.data());
  return pixels;
}

TEST(ChainMixerTest, SumsWhatTheWeightsSayAndCutsFractionsOff) {
  ChainMixer mixer;
  const int32_t weights[] = {kMixedWhole / 2, kMixedWhole / 8, kMixedWhole * 3 / 8};
  const Bytes mixed = Mixed(mixer, {{{kInverted}, {kBrighter, kInverted}}, {weights[0], weights[1], weights[2]}});
  const Bytes noise = Noise(kMixedSize), one = Colored({kInverted}), two = Colored({kBrighter, kInverted});
  for (size_t i = 0; i < noise.size(); ++i)
    ASSERT_EQ(mixed[i], (noise[i] * weights[0] + one[i] * weights[1] + two[i] * weights[2]) / kMixedWhole) << i;
}

TEST(ChainMixerTest, OneChainAloneIsWhatItMakes) {
  ChainMixer mixer;
  EXPECT_EQ(Mixed(mixer, {{{kBrighter, kInverted}}, {0, kMixedWhole}}), Colored({kBrighter, kInverted}));
}

TEST(ChainMixerTest, AChainWithoutChangesIsTheImage) {
  ChainMixer mixer;
  EXPECT_EQ(Mixed(mixer, {{{}, {}}, {kMixedWhole - 300, 100, 200}}), Noise(kMixedSize));
}

TEST(ChainMixerTest, WhatCameBeforeChangesNothing) {
  ChainMixer mixer, fresh;
  const MixedChainsParameters mixed = {{{AffineParameters{{0.9, 0.2, 0, -0.1, 1, 1}}}},
                                       {kMixedWhole / 2, kMixedWhole / 2}};
  Mixed(mixer, mixed, {40, 50});
  EXPECT_EQ(Mixed(mixer, mixed), Mixed(fresh, mixed));
}

}  // namespace
}  // namespace stoker
