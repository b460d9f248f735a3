#include "server/observe/audit_log.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

class AuditLogTest : public testing::Test {
 protected:
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
  std::vector<std::string> lines_;
  AuditLog log_{[this] { return now_; }, [this](const std::string& line) { lines_.push_back(line); }};
  const AuditLog::Who who_ = {"team-a", "token", "ipv4:10.0.0.1:5"};
};

TEST_F(AuditLogTest, ALineSaysWhoAskedForWhatAndWhatBecameOfIt) {
  log_.Opened(who_, "photos");
  log_.Refused(who_, "other", absl::NotFoundError("no such dataset"));
  log_.Refused({.peer = "ipv4:10.0.0.2:6"}, "", absl::UnauthenticatedError("no token"));
  EXPECT_THAT(
      lines_,
      testing::ElementsAre(
          "audit: stream opened: 'team-a' by token at ipv4:10.0.0.1:5, dataset 'photos'",
          "audit: stream refused: 'team-a' by token at ipv4:10.0.0.1:5, dataset 'other': NOT_FOUND: no such dataset",
          "audit: stream refused: nobody known at ipv4:10.0.0.2:6, dataset '': UNAUTHENTICATED: no token"));
}

TEST_F(AuditLogTest, AFloodIsCountedAndDoesNotHideWhoGetsIn) {
  for (int i = 0; i < AuditLog::kBurst + 1000; ++i) log_.Refused(who_, "x", absl::NotFoundError("no"));
  EXPECT_EQ(lines_.size(), AuditLog::kBurst);
  log_.Opened(who_, "photos");
  EXPECT_EQ(lines_.size(), AuditLog::kBurst + 1);
  now_ += std::chrono::seconds(1);
  for (int i = 0; i < 100; ++i) log_.Refused(who_, "x", absl::NotFoundError("no"));
  EXPECT_EQ(lines_.size(), AuditLog::kBurst + 1 + AuditLog::kLinesPerSecond);
  EXPECT_THAT(lines_[AuditLog::kBurst + 1], testing::EndsWith("(and 1000 more before, which were not logged)"));
}

TEST_F(AuditLogTest, ANameThatAClientChoseIsCut) {
  log_.Refused(who_, std::string(60000, 'x'), absl::NotFoundError("no"));
  EXPECT_LT(lines_[0].size(), 300);
}

}  // namespace
}  // namespace stoker
