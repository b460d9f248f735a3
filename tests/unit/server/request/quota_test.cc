#include "server/request/quota.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(QuotaTest, AnIdentityHasItsOwnQuotaOrThatOfTheOthers) {
  v1::AccessConfig config;
  (*config.mutable_quotas())["team-a"].set_streams(3);
  (*config.mutable_quotas())["team-a"].set_bytes_in_flight("1GiB");
  (*config.mutable_quotas())["*"].set_worker_percent(25);
  const auto quotas = Quotas::Parse(config);
  ASSERT_TRUE(quotas.ok()) << quotas.status();
  EXPECT_EQ(quotas->Of("team-a").streams, 3);
  EXPECT_EQ(quotas->Of("team-a").bytes_in_flight, uint64_t{1} << 30);
  EXPECT_EQ(quotas->Of("team-a").worker_percent, 0);
  EXPECT_EQ(quotas->Of("team-b").worker_percent, 25);
  EXPECT_EQ(quotas->Of("").worker_percent, 25);
  EXPECT_EQ(Quotas().Of("team-a").streams, 0);
}

TEST(QuotaTest, WhatIsWrongIsNamed) {
  v1::AccessConfig config;
  (*config.mutable_quotas())["team-a"].set_bytes_in_flight("much");
  EXPECT_THAT(std::string(Quotas::Parse(config).status().message()),
              testing::StartsWith("access.quotas[team-a].bytes_in_flight: "));
  (*config.mutable_quotas())["team-a"].clear_bytes_in_flight();
  (*config.mutable_quotas())["team-a"].set_worker_percent(101);
  EXPECT_THAT(std::string(Quotas::Parse(config).status().message()),
              testing::StartsWith("access.quotas[team-a].worker_percent: "));
}

}  // namespace
}  // namespace stoker
