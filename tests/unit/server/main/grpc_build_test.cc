#include "server/main/grpc_build.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(GrpcBuildTest, TellsFixesOfOursFromNoneAndFromARelease) {
  const GrpcBuild debian = GrpcBuildOf("1.51.1", "29.0.0");
  EXPECT_EQ(debian.text, "gRPC 1.51.1 without Stoker's fixes");
  EXPECT_FALSE(debian.hardened);
  const GrpcBuild ours = GrpcBuildOf("1.51.1", "29.0.0+stoker.12");
  EXPECT_EQ(ours.text, "gRPC 1.51.1 with Stoker's fixes 12");
  EXPECT_TRUE(ours.hardened);
  EXPECT_FALSE(GrpcBuildOf("1.59.5", "37.0.0").hardened);
  EXPECT_TRUE(GrpcBuildOf("1.60.0", "38.0.0").hardened);
  EXPECT_EQ(GrpcBuildOf("1.71.2", "46.0.0").text, "gRPC 1.71.2");
  EXPECT_FALSE(GrpcBuildOf("odd", "").hardened);
}

}  // namespace
}  // namespace stoker
