#include "server/scan/finding.h"

#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/server/scan/listed_samples.h"

namespace stoker {
namespace {

using testing::ElementsAre;

Finding Unreadable(uint64_t id, const std::string& message) {
  return {.id = id, .kind = FindingKind::kUnreadable, .message = message, .other = id};
}

TEST(FindingTest, RunsOfUnreadableSamplesBecomeOne) {
  std::vector<Finding> findings = {Unreadable(4, "gone"), Unreadable(3, "gone"), Unreadable(2, "late"),
                                   Unreadable(7, "gone"), Unreadable(5, "gone")};
  SortFindings(findings);
  ASSERT_EQ(findings.size(), 3);
  EXPECT_EQ(findings[1].id, 3);
  EXPECT_EQ(findings[1].other, 5);
  EXPECT_EQ(findings[2].id, 7);
  SortFindings(findings);
  EXPECT_EQ(findings.size(), 3);
}

class ReportTest : public testing::Test {
 protected:
  const ListedSamples dataset_{std::vector<std::vector<uint8_t>>(9)};
  const std::vector<Finding> findings_ = {
      {.id = 1, .kind = FindingKind::kTruncated, .field = "image", .message = "it ends, \"early\""},
      {.id = 2, .kind = FindingKind::kDuplicate, .message = "has the bytes of s/0", .other = 0},
      {.id = 5, .kind = FindingKind::kUnreadable, .message = "a.tar: gone", .other = 8}};
};

TEST_F(ReportTest, AsText) {
  EXPECT_EQ(ReportOf(findings_, dataset_, ReportFormat::kText),
            "truncated: s/1 (id 1): image: it ends, \"early\"\n"
            "duplicate: s/2 (id 2): has the bytes of s/0\n"
            "unreadable: s/5 to s/8 (ids 5 to 8): a.tar: gone\n");
}

TEST_F(ReportTest, AsJsonLines) {
  std::istringstream lines(ReportOf(findings_, dataset_, ReportFormat::kJson));
  std::vector<nlohmann::json> parsed;
  for (std::string line; std::getline(lines, line);) parsed.push_back(nlohmann::json::parse(line));
  EXPECT_THAT(parsed, ElementsAre(nlohmann::json{{"id", 1},
                                                 {"sample", "s/1"},
                                                 {"kind", "truncated"},
                                                 {"field", "image"},
                                                 {"message", "it ends, \"early\""}},
                                  nlohmann::json{{"id", 2},
                                                 {"sample", "s/2"},
                                                 {"kind", "duplicate"},
                                                 {"message", "has the bytes of s/0"},
                                                 {"first_id", 0},
                                                 {"first", "s/0"}},
                                  nlohmann::json{{"id", 5},
                                                 {"sample", "s/5"},
                                                 {"kind", "unreadable"},
                                                 {"message", "a.tar: gone"},
                                                 {"last_id", 8},
                                                 {"last", "s/8"},
                                                 {"samples", 4}}));
}

TEST_F(ReportTest, AsCsv) {
  EXPECT_EQ(ReportOf(findings_, dataset_, ReportFormat::kCsv),
            "id,sample,kind,field,message,other_id,other\n"
            "1,s/1,truncated,image,\"it ends, \"\"early\"\"\",,\n"
            "2,s/2,duplicate,,has the bytes of s/0,0,s/0\n"
            "5,s/5,unreadable,,a.tar: gone,8,s/8\n");
}

}  // namespace
}  // namespace stoker
