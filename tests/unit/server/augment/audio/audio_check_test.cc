#include "server/augment/audio/audio_check.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

#ifdef __x86_64__
// Another number says that servers of before and after this build do not serve one job with audio. If that is not what
// a change is for, the change is wrong.
TEST(AudioCheckTest, IsPinned) {
  const auto check = AudioCheck();
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(*check, 198098892598225520u);
}
#endif

}  // namespace
}  // namespace stoker
