#include "client/cli/compare.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

v1::Pipeline ParsePipeline(const std::string& text) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  return pipeline;
}

TEST(CompareTest, OnServersAreTheOpsOnImagesThatTheyCanRun) {
  const auto on_servers = OnServers(ParsePipeline(
      "ops { random_crop { size: 8 } } "
      "ops { placement: PLACEMENT_DEVICE "
      "      random_apply { transforms { placement: PLACEMENT_DEVICE random_invert {} } } } "
      "ops { to_dtype { dtype: DTYPE_FLOAT16 field: 'vector' } } ops { to_dtype { dtype: DTYPE_FLOAT32 } } "
      "ops { normalize { mean: 0 std: 1 } } ops { mix_up { num_classes: 3 } } "
      "fields: ['label', 'image'] jpeg_scaling: JPEG_SCALING_K1"));
  ASSERT_TRUE(on_servers.ok()) << on_servers.status();
  EXPECT_EQ(on_servers->DebugString(),
            ParsePipeline("ops { placement: PLACEMENT_SERVER random_crop { size: 8 } } "
                          "ops { placement: PLACEMENT_SERVER "
                          "      random_apply { transforms { placement: PLACEMENT_SERVER random_invert {} } } } "
                          "fields: 'image' jpeg_scaling: JPEG_SCALING_K1")
                .DebugString());
}

TEST(CompareTest, ViewsAndPipelinesWithoutSuchOpsAreRefused) {
  EXPECT_THAT(std::string(OnServers(ParsePipeline("views { name: 'view' }")).status().message()), HasSubstr("views"));
  EXPECT_THAT(std::string(OnServers(ParsePipeline("ops { to_memory_format {} }")).status().message()),
              HasSubstr("no op on images"));
}

TEST(CompareTest, WhatFollowsAnOpMovesWithItIfItCan) {
  const v1::Pipeline on_servers = ParsePipeline(
      "ops { jpeg { quality: 5 } } ops { random_invert {} } ops { random_apply { transforms { random_invert {} } } }");
  EXPECT_FALSE(WithMoved(on_servers, 0).has_value());
  const auto moved = WithMoved(on_servers, 1);
  ASSERT_TRUE(moved.has_value());
  EXPECT_EQ(moved->ops(0).placement(), v1::PLACEMENT_UNSPECIFIED);
  EXPECT_EQ(moved->ops(1).placement(), v1::PLACEMENT_DEVICE);
  EXPECT_EQ(moved->ops(2).placement(), v1::PLACEMENT_DEVICE);
  EXPECT_EQ(moved->ops(2).random_apply().transforms(0).placement(), v1::PLACEMENT_DEVICE);
}

TEST(CompareTest, DifferencesAreOfLevelsEitherWay) {
  const std::vector<uint8_t> one = {0, 255, 7, 9}, other = {3, 250, 7, 9};
  EXPECT_EQ(LevelDifferenceOf(one, other).greatest, 5);
  EXPECT_EQ(LevelDifferenceOf(one, other).mean, 2);
  EXPECT_EQ(LevelDifferenceOf({}, {}).mean, 0);
}

}  // namespace
}  // namespace stoker
