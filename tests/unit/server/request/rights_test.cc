#include "server/request/rights.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

const Rights kRights({{"open", {}}, {"secret", {"team-a", "team-b"}}, {"private", {"team-a"}}});

TEST(RightsTest, ADatasetWithoutAListIsEverybodys) {
  for (const char* identity : {"", "team-a", "anybody"}) EXPECT_TRUE(kRights.MayRead(identity, "open"));
}

TEST(RightsTest, OnlyThoseOnTheListMayRead) {
  EXPECT_TRUE(kRights.MayRead("team-a", "secret"));
  EXPECT_TRUE(kRights.MayRead("team-b", "secret"));
  for (const char* identity : {"", "team-c", "team", "team-a ", "TEAM-A", "*"})
    EXPECT_FALSE(kRights.MayRead(identity, "secret")) << identity;
  EXPECT_FALSE(kRights.MayRead("team-a", "missing"));
}

TEST(RightsTest, WhatIsNotForAClientIsAsWhatDoesNotExist) {
  const auto without = [](std::string message, const std::string& name) {
    message.replace(message.find(name), name.size(), "…");
    return message;
  };
  const absl::Status hidden = kRights.Check("team-b", "private"), missing = kRights.Check("team-b", "missing");
  EXPECT_EQ(hidden.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(without(std::string(hidden.message()), "private"), without(std::string(missing.message()), "missing"));
  EXPECT_EQ(missing.message(), "no dataset 'missing' is configured here; there are: open, secret");
  EXPECT_EQ(Rights(Rights::Allowed{{"a", {"b"}}}).Check("", "a").message(),
            "no dataset 'a' is configured here; there are: none");
}

}  // namespace
}  // namespace stoker
