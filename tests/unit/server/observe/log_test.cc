#include "server/observe/log.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"

namespace stoker {
namespace {

// What one message becomes on stderr.
std::string Logged(v1::LogFormat format, const std::string& message) {
  v1::LogConfig config;
  config.set_format(format);
  SetUpLog(config);
  testing::internal::CaptureStderr();
  spdlog::info("{}", message);
  FlushLog();
  return testing::internal::GetCapturedStderr();
}

TEST(LogTest, ANameCannotForgeALine) {
  const std::string text = Logged(v1::LOG_FORMAT_TEXT, "class/a\n2026-01-01 I forged\x1b[2J");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(text, testing::HasSubstr("a\\x0a2026"));
  EXPECT_THAT(text, testing::HasSubstr("\\x1b[2J"));
}

TEST(LogTest, JsonLinesParseWhateverTheyCarry) {
  const auto line = nlohmann::json::parse(Logged(v1::LOG_FORMAT_JSON, "quote \" line \n byte \xff"));
  EXPECT_EQ(line["level"], "info");
  EXPECT_THAT(line["message"].get<std::string>(), testing::StartsWith("quote \" line \n byte "));
}

TEST(LogTest, MessagesAreCapped) { EXPECT_LT(Logged(v1::LOG_FORMAT_TEXT, std::string(100'000, 'a')).size(), 5000); }

TEST(LogTest, ProblemsAreKeptTheNewestFirst) {
  SetUpLog({});
  testing::internal::CaptureStderr();
  spdlog::info("all is well");
  spdlog::warn("a sample is bad");
  spdlog::error("storage hangs");
  const auto problems = RecentProblems();
  ASSERT_EQ(problems.size(), 2);
  EXPECT_EQ(problems[0].text, "storage hangs");
  EXPECT_TRUE(problems[0].is_error);
  EXPECT_EQ(problems[1].text, "a sample is bad");
  EXPECT_FALSE(problems[1].is_error);
  EXPECT_LE(problems[1].time, problems[0].time);
  for (int i = 0; i < 300; ++i) spdlog::warn("{}", i);
  FlushLog();
  testing::internal::GetCapturedStderr();
  ASSERT_EQ(RecentProblems().size(), 200);
  EXPECT_EQ(RecentProblems().front().text, "299");
}

}  // namespace
}  // namespace stoker
