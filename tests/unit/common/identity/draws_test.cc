#include "common/identity/draws.h"

#include <cmath>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace stoker {
namespace {

constexpr DrawKey kKey = {.seed = 1, .epoch = 2, .position = 3, .op = 4, .view = 5};

uint64_t First(const DrawKey& key) {
  Draws draws(key);
  return uint64_t{draws.Bits()} << 32 | draws.Bits();
}

TEST(DrawsTest, EqualKeysDrawEqualNumbers) {
  Draws a(kKey), b(kKey);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.Bits(), b.Bits());
}

TEST(DrawsTest, FillGivesWhatAsManyBitsWould) {
  for (int before = 0; before < 6; ++before)
    for (size_t count = 0; count < 14; ++count) {
      Draws filled(kKey), drawn(kKey);
      for (int i = 0; i < before; ++i) EXPECT_EQ(filled.Bits(), drawn.Bits());
      std::vector<uint32_t> words(count);
      filled.Fill(words);
      for (uint32_t word : words) EXPECT_EQ(word, drawn.Bits());
      EXPECT_EQ(filled.Bits(), drawn.Bits());
    }
}

TEST(DrawsTest, GoOnWhereSoManyWordsWereDrawn) {
  Draws drawn(kKey);
  for (uint64_t word = 0; word < 14; ++word) {
    EXPECT_EQ(Draws(Draws::MixedKey(kKey), kKey.position, word).Bits(), drawn.Bits());
  }
}

TEST(DrawsTest, EveryPartOfTheKeyMatters) {
  std::set<uint64_t> firsts = {First(kKey)};
  for (auto part : {&DrawKey::seed, &DrawKey::epoch, &DrawKey::position, &DrawKey::op, &DrawKey::view}) {
    DrawKey other = kKey;
    other.*part += 1;
    EXPECT_TRUE(firsts.insert(First(other)).second);
    other.*part += uint64_t{1} << 40;
    EXPECT_TRUE(firsts.insert(First(other)).second);
  }
}

TEST(DrawsTest, PartsOfTheKeyDoNotStandForEachOther) {
  EXPECT_NE(First({.seed = 1, .epoch = 2}), First({.seed = 2, .epoch = 1}));
  EXPECT_NE(First({.op = 1}), First({.view = 1}));
}

TEST(DrawsTest, BelowIsUniformForABoundThatIsNoPowerOfTwo) {
  std::vector<int> count(6);
  Draws draws(kKey);
  for (int i = 0; i < 60'000; ++i) ++count[draws.Below(6)];
  for (int n : count) EXPECT_NEAR(n, 10'000, 500);  // Five standard deviations of the binomial are 456.
}

TEST(DrawsTest, BelowOneIsZeroAndBelowTheLargestBoundStaysBelow) {
  Draws draws(kKey);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(draws.Below(1), 0);
    EXPECT_LT(draws.Below(~uint64_t{0}), ~uint64_t{0});
  }
}

TEST(DrawsTest, UniformFillsItsRange) {
  double sum = 0, low = 1e9, high = -1e9;
  for (uint64_t position = 0; position < 10'000; ++position) {
    const double x = Draws({.seed = 9, .position = position}).Uniform(-2, 4);
    sum += x, low = std::min(low, x), high = std::max(high, x);
  }
  EXPECT_NEAR(sum / 10'000, 1, 0.09);  // Five standard errors.
  EXPECT_GE(low, -2);
  EXPECT_LT(low, -1.99);
  EXPECT_LE(high, 4);
  EXPECT_GT(high, 3.99);
}

TEST(DrawsTest, BernoulliKnowsNeverAndAlways) {
  Draws draws(kKey);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(draws.Bernoulli(0));
    EXPECT_TRUE(draws.Bernoulli(1));
  }
}

// Taken once: other numbers break every digest.
TEST(DrawsTest, NumbersNeverChange) { EXPECT_EQ(First(kKey), 0x73449b87848211ee); }

}  // namespace
}  // namespace stoker
