#include "server/read/printable_name.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(PrintableNameTest, LeavesUtf8AsItIs) {
  EXPECT_EQ(PrintableName(""), "");
  EXPECT_EQ(PrintableName("n01440764/n01440764_10026.JPEG"), "n01440764/n01440764_10026.JPEG");
  EXPECT_EQ(PrintableName("Käse/猫/🐈.jpg"), "Käse/猫/🐈.jpg");
}

TEST(PrintableNameTest, EscapesWhatBreaksOrReordersALine) {
  EXPECT_EQ(PrintableName("a\nb\rc\td\x1b[31me\x7f"), "a\\x0ab\\x0dc\\x09d\\x1b[31me\\x7f");
  EXPECT_EQ(PrintableName("\xc2\x9b"
                          "31m"),
            "\\xc2\\x9b31m");                                             // C1: CSI
  EXPECT_EQ(PrintableName("a\u2028b"), "a\\xe2\\x80\\xa8b");              // line separator
  EXPECT_EQ(PrintableName("gpj.\u202e.exe"), "gpj.\\xe2\\x80\\xae.exe");  // right to left
  EXPECT_EQ(PrintableName("\u2066"), "\\xe2\\x81\\xa6");
}

TEST(PrintableNameTest, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(PrintableName("K\xe4se"), "K\\xe4se");                       // Latin-1
  EXPECT_EQ(PrintableName("\xc0\xaf"), "\\xc0\\xaf");                    // "/" in two bytes
  EXPECT_EQ(PrintableName("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // and in three
  EXPECT_EQ(PrintableName("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(PrintableName("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(PrintableName("\xff\x80"), "\\xff\\x80");
  EXPECT_EQ(PrintableName("a\xf0\x9f\x90"), "a\\xf0\\x9f\\x90");  // cut short
}

TEST(PrintableNameTest, KeepsDifferentNamesDifferent) {
  EXPECT_EQ(PrintableName("a\\x0a"), "a\\\\x0a");
  EXPECT_NE(PrintableName("a\\x0a"), PrintableName("a\n"));
}

TEST(ShortPrintableNameTest, KeepsBothEndsOfALongName) {
  const std::string longest(256, 'a');
  EXPECT_EQ(ShortPrintableName(longest), longest);
  const std::string name = ShortPrintableName("begin" + std::string(4000, '\n') + "end.jpg");
  EXPECT_EQ(name.substr(0, 9), "begin\\x0a");
  EXPECT_EQ(name.substr(name.size() - 11), "\\x0aend.jpg");
  EXPECT_LT(name.size(), 1100);
}

}  // namespace
}  // namespace stoker
