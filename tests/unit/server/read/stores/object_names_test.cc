#include "server/read/stores/object_names.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Names(const std::string& pattern) {
  const auto names = ExpandBraces(pattern);
  EXPECT_TRUE(names.ok()) << names.status();
  return names.value_or(std::vector<std::string>());
}

std::string ErrorOf(const std::string& pattern) { return std::string(ExpandBraces(pattern).status().message()); }

TEST(ObjectNamesTest, BracesStandForEachOfTheirParts) {
  EXPECT_THAT(Names("plain.tar"), ElementsAre("plain.tar"));
  EXPECT_THAT(Names("{a,b}.tar"), ElementsAre("a.tar", "b.tar"));
  EXPECT_THAT(Names("x{a,}y"), ElementsAre("xay", "xy"));
  EXPECT_THAT(Names("{a,b{1..2}}"), ElementsAre("a", "b1", "b2"));
  EXPECT_THAT(Names("{a,b}-{0..1}"), ElementsAre("a-0", "a-1", "b-0", "b-1"));
}

TEST(ObjectNamesTest, RangesHaveAsManyDigitsAsTheirEnds) {
  EXPECT_THAT(Names("t-{0008..0011}"), ElementsAre("t-0008", "t-0009", "t-0010", "t-0011"));
  EXPECT_THAT(Names("{8..11}"), ElementsAre("8", "9", "10", "11"));
  EXPECT_THAT(Names("{1..03}"), ElementsAre("01", "02", "03"));
  EXPECT_THAT(Names("{7..7}"), ElementsAre("7"));
}

TEST(ObjectNamesTest, WhatStandsForNothingIsRefused) {
  EXPECT_THAT(ErrorOf("a{b"), HasSubstr("a brace is not closed"));
  EXPECT_THAT(ErrorOf("{3..1}"), HasSubstr("runs backwards"));
  EXPECT_THAT(ErrorOf("{0..99999999}"), HasSubstr("more than 1048576 names"));
  EXPECT_THAT(ErrorOf("{0..999999}{0..999999}"), HasSubstr("more than 1048576 names"));
  EXPECT_THAT(ErrorOf("{0..99999999999999999999}"), HasSubstr("too large"));
  EXPECT_THAT(ErrorOf(std::string(40, '{') + std::string(40, '}')), HasSubstr("nested too deep"));
}

TEST(ObjectNamesTest, WildcardsDoNotCrossFolders) {
  EXPECT_TRUE(HasWildcards("a*"));
  EXPECT_FALSE(HasWildcards("a{b,c}"));
  EXPECT_TRUE(MatchesWildcards("train-0.tar", "train-*.tar"));
  EXPECT_TRUE(MatchesWildcards("train-0.tar", "train-[0-3].ta?"));
  EXPECT_FALSE(MatchesWildcards("train/0.tar", "*.tar"));
}

}  // namespace
}  // namespace stoker
