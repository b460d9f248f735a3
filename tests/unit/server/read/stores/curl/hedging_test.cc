#include "server/read/stores/curl/hedging.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

constexpr absl::Duration kLeast = absl::Milliseconds(20);

TEST(HedgingTest, NothingIsLateBeforeEnoughIsKnown) {
  Hedging hedging(kLeast);
  for (int i = 0; i < 31; ++i) hedging.OnFirstByte(absl::Milliseconds(50));
  EXPECT_EQ(hedging.patience(), absl::InfiniteDuration());
  hedging.OnFirstByte(absl::Milliseconds(50));
  EXPECT_EQ(hedging.patience(), absl::Milliseconds(100));
}

TEST(HedgingTest, LateIsTwiceWhatAlmostAllTake) {
  Hedging hedging(kLeast);
  for (int i = 0; i < 320; ++i) hedging.OnFirstByte(absl::Milliseconds(i % 32 == 0 ? 5000 : 30));  // 1 of 32 is slow.
  EXPECT_EQ(hedging.patience(), absl::Milliseconds(60));
  for (int i = 0; i < 256; ++i) hedging.OnFirstByte(absl::Milliseconds(300));  // All are slow now.
  EXPECT_EQ(hedging.patience(), absl::Milliseconds(600));
  for (int i = 0; i < 256; ++i) hedging.OnFirstByte(absl::Milliseconds(1));
  EXPECT_EQ(hedging.patience(), kLeast);
}

TEST(HedgingTest, OneReadOfTwentyIsHedgedAtMost) {
  Hedging hedging(kLeast);
  EXPECT_FALSE(hedging.Take());
  int taken = 0;
  for (int i = 0; i < 1000; ++i) {
    hedging.OnFirstByte(absl::Milliseconds(30));
    if (hedging.Take()) ++taken;
  }
  EXPECT_GE(taken, 45);
  EXPECT_LE(taken, 50);
  for (int i = 0; i < 1000; ++i) hedging.OnFirstByte(absl::Milliseconds(30));
  taken = 0;
  while (hedging.Take()) ++taken;
  EXPECT_EQ(taken, 4) << "What was not used up is no store for a bad hour.";
}

}  // namespace
}  // namespace stoker
