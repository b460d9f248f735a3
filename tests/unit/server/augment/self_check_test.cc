#include "server/augment/self_check.h"

#include "absl/strings/str_cat.h"
#include "common/pipeline/pipeline.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

constexpr uint32_t kVersion = 2;
constexpr uint64_t kCheck = 0x31b2679d6bf0e94;  // The pixels of kVersion.

// Where this fails, some op gives other bytes than it did: raise kPixelVersion, or find out why this machine's
// libraries differ from Debian 12's.
TEST(SelfCheckTest, IsTheNumberOfThisPixelVersion) {
  ASSERT_EQ(kPixelVersion, kVersion);
  const absl::StatusOr<uint64_t> check = PixelCheck();
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(*check, kCheck) << absl::StrCat("0x", absl::Hex(*check));
}

}  // namespace
}  // namespace stoker
