#include "server/request/tokens.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

// SHA-256 of "secret" and "other".
constexpr char kHashOfSecret[] = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
constexpr char kHashOfOther[] = "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa";

TEST(TokensTest, ATokenStandsForItsIdentity) {
  const auto tokens =
      Tokens::Parse(absl::StrCat("# of team a\n\n", kHashOfSecret, " team-a\r\n", kHashOfOther, "\tteam b\n"));
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ(tokens->Find("secret"), "team-a");
  EXPECT_EQ(tokens->Find("other"), "team b");
  EXPECT_EQ(tokens->Find("Secret"), std::nullopt);
  EXPECT_EQ(tokens->Find(""), std::nullopt);
  EXPECT_EQ(tokens->Find(kHashOfSecret), std::nullopt) << "a hash is no token";
}

TEST(TokensTest, AnEmptyFileTakesNoToken) {
  EXPECT_EQ(Tokens::Parse("")->size(), 0);
  EXPECT_EQ(Tokens::Parse("# none\n")->Find(""), std::nullopt);
}

TEST(TokensTest, ABadLineIsNamedAndNotShown) {
  const std::string good = absl::StrCat(kHashOfSecret, " a\n");
  for (const std::string& bad :
       {std::string("secret team-a"), std::string(kHashOfOther), absl::StrCat(kHashOfOther, "0 a"),
        absl::StrCat("g", std::string(kHashOfOther).substr(1), " a"), absl::StrCat(kHashOfSecret, " b"),
        absl::StrCat(kHashOfOther, " a\x01"), absl::StrCat(kHashOfOther, " ", std::string(257, 'x'))}) {
    const auto tokens = Tokens::Parse(good + bad + "\n");
    ASSERT_TRUE(absl::IsInvalidArgument(tokens.status())) << bad;
    EXPECT_THAT(std::string(tokens.status().message()), HasSubstr("line 2: ")) << bad;
    EXPECT_EQ(std::string(tokens.status().message()).find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace stoker
