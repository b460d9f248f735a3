#include "common/config/text.h"

#include <string>

#include "gtest/gtest.h"

namespace stoker {
namespace {

// As Unicode defines it: the shortest form of U+0000 … U+10FFFF without surrogates.
std::string Encode(uint32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
}

TEST(TextTest, EveryCharacterIsUtf8) {
  for (uint32_t code = 0; code < 0x110000; ++code)
    ASSERT_EQ(IsUtf8("a" + Encode(code) + "z"), code < 0xd800 || code > 0xdfff) << std::hex << code;
}

TEST(TextTest, NothingElseIsUtf8) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_FALSE(IsUtf8("\x80"));
  EXPECT_FALSE(IsUtf8("\xc3"));
  EXPECT_FALSE(IsUtf8("\xc3z"));
  EXPECT_FALSE(IsUtf8("\xe2\x82"));
  EXPECT_FALSE(IsUtf8("\xf0\x9f\x98"));
  EXPECT_FALSE(IsUtf8("\xc0\x80"));          // Overlong
  EXPECT_FALSE(IsUtf8("\xe0\x9f\xbf"));      // forms
  EXPECT_FALSE(IsUtf8("\xf0\x8f\xbf\xbf"));  // of each length.
  EXPECT_FALSE(IsUtf8("\xf4\x90\x80\x80"));  // U+110000
  EXPECT_FALSE(IsUtf8("\xff"));
}

TEST(TextTest, ShowsOneLineAndCutsBetweenCharacters) {
  EXPECT_EQ(Shown("caf\u00e9"), "caf\u00e9");
  EXPECT_EQ(Shown("a\nb\x1b[31m"), "a\\nb\\x1b[31m");
  EXPECT_EQ(Shown(std::string(64, 'x')), std::string(64, 'x'));
  EXPECT_EQ(Shown(std::string(65, 'x')), std::string(64, 'x') + "...");
  EXPECT_EQ(Shown(std::string(63, 'x') + "\u00e9\u00e9"), std::string(63, 'x') + "...");
}

}  // namespace
}  // namespace stoker
