#include "common/wire/wire_reader.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// As a string literal with zeros in it.
template <size_t N>
std::string_view Bytes(const char (&literal)[N]) {
  return {literal, N - 1};
}

std::string ErrorOfTag(std::string_view bytes) {
  const std::string_view slices[] = {bytes};
  return WireReader(slices).ReadTag().status().ToString();
}

std::string ErrorOfSkipping(uint32_t tag, std::string_view bytes) {
  const std::string_view slices[] = {bytes};
  return WireReader(slices).SkipValue(tag).ToString();
}

TEST(WireReaderTest, ReadsAcrossSlicesEmptyOnesIncluded) {
  const std::string_view slices[] = {"",
                                     "\x96",
                                     "",
                                     "\x01\x01",
                                     "\x02\x03\x04\x05\x06\x07",
                                     "\x08",
                                     "\x03"
                                     "a",
                                     "",
                                     "bc",
                                     ""};
  WireReader reader(slices);
  EXPECT_EQ(*reader.ReadTag(), 150);
  EXPECT_EQ(*reader.ReadFixed64(), 0x0807060504030201);
  EXPECT_THAT(*reader.ReadPieces(), ElementsAre("a", "bc"));
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(reader.offset(), 14);
}

TEST(WireReaderTest, AnEmptyFieldHasNoPieces) {
  const std::string_view slices[] = {Bytes("\0after")};
  WireReader reader(slices);
  EXPECT_THAT(*reader.ReadPieces(), IsEmpty());
  EXPECT_EQ(reader.remaining(), 5);
}

TEST(WireReaderTest, TakesTagsOfUpToFiveBytesAndDropsHighBits) {
  for (std::string_view bytes :
       {Bytes("\x12"), Bytes("\x92\x00"), Bytes("\x92\x80\x80\x80\x00"), Bytes("\x92\x80\x80\x80\x70")}) {
    const std::string_view slices[] = {bytes};
    EXPECT_EQ(*WireReader(slices).ReadTag(), MakeTag(2, WireType::kLengthDelimited));
  }
  EXPECT_EQ(ErrorOfTag(Bytes("\x92\x80\x80\x80\x80\x00")),
            "DATA_LOSS: malformed message at byte 5: a varint without an end");
}

TEST(WireReaderTest, RefusesWhatEndsEarlyWithTheOffset) {
  EXPECT_EQ(ErrorOfTag(""), "DATA_LOSS: malformed message at byte 0: the message ends within a varint");
  EXPECT_EQ(ErrorOfTag("\x80\x80"), "DATA_LOSS: malformed message at byte 2: the message ends within a varint");
  const std::string_view slices[] = {"1234", "567"};
  EXPECT_EQ(WireReader(slices, 100).ReadFixed64().status().message(),
            "malformed message at byte 100: the message ends within a fixed64");
  const std::string_view announced[] = {
      "\x05"
      "abcd"};
  EXPECT_EQ(WireReader(announced).ReadPieces().status().message(),
            "malformed message at byte 1: 5 bytes announced, 4 left");
}

TEST(WireReaderTest, RefusesFieldNumberZero) {
  EXPECT_EQ(ErrorOfTag(Bytes("\x02")), "DATA_LOSS: malformed message at byte 1: field number 0");
}

TEST(WireReaderTest, SkipsEveryWireTypeButGroups) {
  EXPECT_EQ(ErrorOfSkipping(MakeTag(9, WireType::kVarint), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), "OK");
  EXPECT_EQ(ErrorOfSkipping(MakeTag(9, WireType::kFixed64), "12345678"), "OK");
  EXPECT_EQ(ErrorOfSkipping(MakeTag(9, WireType::kFixed32), "1234"), "OK");
  EXPECT_EQ(ErrorOfSkipping(MakeTag(9, WireType::kLengthDelimited),
                            "\x02"
                            "ab"),
            "OK");
  for (uint32_t type : {3, 4, 6, 7})
    EXPECT_EQ(ErrorOfSkipping(9 << 3 | type, ""),
              "DATA_LOSS: malformed message at byte 0: field 9 has wire type " + std::to_string(type));
}

TEST(WireReaderTest, SkippingStopsAtTheEnd) {
  EXPECT_EQ(ErrorOfSkipping(MakeTag(9, WireType::kFixed64), "1234567"),
            "DATA_LOSS: malformed message at byte 0: the message ends within a field");
  EXPECT_EQ(ErrorOfSkipping(MakeTag(9, WireType::kFixed32), "123"),
            "DATA_LOSS: malformed message at byte 0: the message ends within a field");
  EXPECT_EQ(ErrorOfSkipping(MakeTag(9, WireType::kLengthDelimited), "\xff\xff\xff\xff\x7f"),
            "DATA_LOSS: malformed message at byte 5: 34359738367 bytes announced, 0 left");
  EXPECT_EQ(ErrorOfSkipping(MakeTag(9, WireType::kVarint), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            "DATA_LOSS: malformed message at byte 10: a varint without an end");
}

}  // namespace
}  // namespace stoker
