#include "common/config/byte_size.h"

#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace stoker {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(ByteSizeTest, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(*ParseByteSize("4096"), 4096);
  EXPECT_EQ(*ParseByteSize("7B"), 7);
  EXPECT_EQ(*ParseByteSize("1KiB"), 1024);
  EXPECT_EQ(*ParseByteSize("3MiB"), 3 * 1024 * 1024);
  EXPECT_EQ(*ParseByteSize("8GiB"), 8 * kGiB);
  EXPECT_EQ(*ParseByteSize("2TiB"), 2048 * kGiB);
  EXPECT_EQ(*ParseByteSize("1KB"), 1000);
  EXPECT_EQ(*ParseByteSize("500MB"), 500'000'000);
  EXPECT_EQ(*ParseByteSize("3GB"), 3'000'000'000);
  EXPECT_EQ(*ParseByteSize("1TB"), 1'000'000'000'000);
  EXPECT_EQ(*ParseByteSize("0"), 0);
}

TEST(ByteSizeTest, TakesSpaceAnyCaseAndDecimals) {
  EXPECT_EQ(*ParseByteSize("8 gib"), 8 * kGiB);
  EXPECT_EQ(*ParseByteSize("1.5GiB"), kGiB + kGiB / 2);
  EXPECT_EQ(*ParseByteSize("0.000001KB"), 0);
  EXPECT_EQ(*ParseByteSize("0.999999TiB"), 1'099'510'528'264);
}

TEST(ByteSizeTest, IsExactUpToTheLargest) {
  EXPECT_EQ(*ParseByteSize("18446744073709551615"), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(*ParseByteSize("9007199254740993B"), 9007199254740993);
  EXPECT_EQ(ParseByteSize("18446744073709551616").status().message(), "'18446744073709551616' exceeds 16 EiB");
  EXPECT_EQ(ParseByteSize("16777216TiB").status().message(), "'16777216TiB' exceeds 16 EiB");
  EXPECT_TRUE(ParseByteSize("16777215.999999TiB").ok());
  EXPECT_EQ(ParseByteSize("18446744073709551.999KB").status().message(), "'18446744073709551.999KB' exceeds 16 EiB");
}

TEST(ByteSizeTest, TeachesByExample) {
  for (const char* text : {"", "GiB", "-1", "8G", "8Gi", "1e9", "1.2.3GiB", ".5GiB", "1.GiB", "1.1234567GiB", "8GiB ",
                           " 8GiB", "0x10", "80%", "eight", "."})
    EXPECT_EQ(ParseByteSize(text).status(),
              absl::InvalidArgumentError("expected a size such as 8GiB, 1.5GiB, 500MB or 4096, found '" +
                                         std::string(text) + "'"));
}

TEST(ByteSizeTest, FormatsInTheLargestUnitReachedRoundedDownToATenth) {
  EXPECT_EQ(FormatByteSize(0), "0B");
  EXPECT_EQ(FormatByteSize(1023), "1023B");
  EXPECT_EQ(FormatByteSize(1024), "1KiB");
  EXPECT_EQ(FormatByteSize(1 << 20), "1MiB");
  EXPECT_EQ(FormatByteSize(38'535'168), "36.7MiB");
  EXPECT_EQ(FormatByteSize(8 * kGiB), "8GiB");
  EXPECT_EQ(FormatByteSize(8 * kGiB - 1), "7.9GiB");
  EXPECT_EQ(FormatByteSize(std::numeric_limits<uint64_t>::max()), "16777215.9TiB");
}

TEST(ByteSizeTest, WhatIsFormattedReadsBackToNoMoreAndAtMostATenthLess) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t bytes = random() >> (random() % 64);
    const uint64_t again = ParseByteSize(FormatByteSize(bytes)).value();
    EXPECT_LE(again, bytes);
    EXPECT_LE(bytes - again, bytes / 10);
  }
}

}  // namespace
}  // namespace stoker
