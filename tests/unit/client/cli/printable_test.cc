#include "client/cli/printable.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(PrintableTest, LeavesTextAsItIs) {
  EXPECT_EQ(Printable(R"(Füße/\x0a "猫" 'x'.jpg)"), R"(Füße/\x0a "猫" 'x'.jpg)");
}

TEST(PrintableTest, EscapesWhatATerminalMightObey) {
  EXPECT_EQ(Printable("a\x1b[31m\r\n\x7f"), R"(a\x1b[31m\x0d\x0a\x7f)");
  EXPECT_EQ(Printable("\u009b\u0080b\u00a0"), "\\xc2\\x9b\\xc2\\x80b\u00a0");
}

TEST(PrintableTest, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(Printable("a\xff\xc2"), R"(a\xff\xc2)");
  EXPECT_EQ(Printable("\xc2"), R"(\xc2)");
}

}  // namespace
}  // namespace stoker
