#include "server/main/role.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The file of a heterogeneous cluster, in the form that SageMaker's guide shows.
constexpr char kConfig[] = R"({
  "current_host": "algo-4", "current_instance_type": "ml.c5.4xlarge", "current_group_name": "data",
  "hosts": ["algo-4", "algo-2", "algo-1", "algo-3"],
  "instance_groups": [
    {"instance_group_name": "train", "instance_type": "ml.p4d.24xlarge", "hosts": ["algo-2", "algo-1"]},
    {"instance_group_name": "data", "instance_type": "ml.c5.4xlarge", "hosts": ["algo-4", "algo-3"]}],
  "network_interface_name": "eth0"})";

std::string With(const std::string& was, const std::string& is) {
  std::string text = kConfig;
  for (size_t at = 0; (at = text.find(was, at)) != std::string::npos; at += is.size()) text.replace(at, was.size(), is);
  return text;
}

TEST(RoleTest, MachinesWithoutAcceleratorsServe) {
  const auto data = RoleOf(kConfig, {});
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_TRUE(data->serves);
  EXPECT_EQ(data->group, "data");
  EXPECT_THAT(data->servers, ElementsAre("algo-4", "algo-3"));
  const auto train = RoleOf(With(R"("current_group_name": "data")", R"("current_group_name": "train")"), {});
  ASSERT_TRUE(train.ok()) << train.status();
  EXPECT_FALSE(train->serves);
  EXPECT_THAT(train->servers, ElementsAre("algo-4", "algo-3"));
}

TEST(RoleTest, GroupsThatAreNamedServe) {
  const auto role = RoleOf(With("ml.p4d", "ml.c5"), {"train"});
  ASSERT_TRUE(role.ok()) << role.status();
  EXPECT_FALSE(role->serves);
  EXPECT_THAT(role->servers, ElementsAre("algo-2", "algo-1"));
}

TEST(RoleTest, WhatSaysNothingIsRefused) {
  EXPECT_THAT(RoleOf("{", {}).status().message(), HasSubstr("is no JSON"));
  EXPECT_THAT(RoleOf("[]", {}).status().message(), HasSubstr("has no text 'current_group_name'"));
  EXPECT_THAT(RoleOf(R"({"current_group_name": "x"})", {}).status().message(), HasSubstr("heterogeneous"));
  EXPECT_THAT(RoleOf(R"({"current_group_name": "x", "instance_groups": [1]})", {}).status().message(),
              HasSubstr("instance_group_name"));
  EXPECT_THAT(RoleOf(With("\"hosts\": [\"algo-4\", \"algo-3\"]", "\"hosts\": [1]"), {}).status().message(),
              HasSubstr("a host that is no text"));
  EXPECT_THAT(RoleOf(kConfig, {"other"}).status().message(), HasSubstr("no group 'other'; there are: train, data"));
  EXPECT_THAT(RoleOf(With("ml.p4d", "ml.c5"), {}).status().message(), HasSubstr("--server-group"));
  EXPECT_THAT(RoleOf(With("ml.c5", "ml.g5"), {}).status().message(), HasSubstr("--server-group"));
  EXPECT_THAT(RoleOf(kConfig, {"train", "data"}).status().message(), HasSubstr("no group that --server-group leaves"));
}

}  // namespace
}  // namespace stoker
