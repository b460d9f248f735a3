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

}  // namespace
}  // namespace stoker
