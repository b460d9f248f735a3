#include "client/cli/host_use.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(HostUseTest, CpuTicksAreAllButIdleAndWaiting) {
  const auto ticks = ParseCpuTicks("cpu  100 20 30 1000 50 1 2 3 0 0\ncpu0 1 2 3 4\n");
  ASSERT_TRUE(ticks.has_value());
  EXPECT_EQ(ticks->busy, 156);
  EXPECT_EQ(ticks->all, 1206);
}

TEST(HostUseTest, OtherTextIsNoCpuTicks) {
  for (const char* text : {"", "intr 1 2", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8"})
    EXPECT_FALSE(ParseCpuTicks(text).has_value()) << text;
}

TEST(HostUseTest, GpusAreAveragedOverLooks) {
  HostUse use(STOKER_FAKE_NVML);
  EXPECT_THAT(use.gpu_shares(), IsEmpty());
  use.Look();
  EXPECT_THAT(use.gpu_shares(), ElementsAre(DoubleEq(0.4), DoubleEq(1)));
  use.Look();
  EXPECT_THAT(use.gpu_shares(), ElementsAre(DoubleEq(0.5), DoubleEq(0.5)));
}

TEST(HostUseTest, WithoutTheLibraryGpusAreUnknown) {
  HostUse use("/nowhere/libnvidia-ml.so.1");
  use.Look();
  EXPECT_THAT(use.gpu_shares(), IsEmpty());
}

}  // namespace
}  // namespace stoker
