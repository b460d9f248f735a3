#include "client/device/registry/open_device.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(OpenDeviceTest, TheCpuIsAlwaysThere) {
  const auto device = OpenDevice("cpu");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->id(), DeviceId());
}

TEST(OpenDeviceTest, NamesThatAreNoneAreRefusedByName) {
  for (const char* name : {"", "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda1", "cuda:99999999999", "CPU", "cuda: 1"}) {
    const auto device = OpenDevice(name);
    EXPECT_EQ(device.status().code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(device.status().message()), testing::HasSubstr(std::string("'") + name + "'"));
  }
}

// No machine has so many: without CUDA, without a driver and without such a GPU alike, a reason is given.
TEST(OpenDeviceTest, AGpuThatIsNotThereIsRefusedWithAReason) {
  const auto device = OpenDevice("cuda:4000");
  EXPECT_TRUE(absl::IsFailedPrecondition(device.status())) << device.status();
  EXPECT_FALSE(device.status().message().empty());
}

}  // namespace
}  // namespace stoker
