#include "server/augment/self_check.h"

#include "common/pipeline/pipeline.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

// Where this fails, some op gives other bytes than it did: raise kPixelVersion, or find out why this machine's
// libraries differ from Debian 12's.
TEST(SelfCheckTest, IsTheNumberOfThisPixelVersion) {
  ASSERT_EQ(kPixelVersion, 1);
  const absl::StatusOr<uint64_t> check = PixelCheck();
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(*check, 0xefbd977634cf7538);
}

}  // namespace
}  // namespace stoker
