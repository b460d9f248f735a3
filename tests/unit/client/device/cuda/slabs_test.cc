#include "client/device/cuda/slabs.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "client/device/cuda/numa.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/simulated_gpu.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SlabsTest, ArePinnedAndGivenBack) {
  const auto gpu = std::make_shared<SimulatedGpu>(1);
  auto slabs = std::make_shared<Slabs>(gpu, DeviceOptions{});
  auto slab = slabs->Allocate(1000, true);
  ASSERT_TRUE(slab.ok()) << slab.status();
  EXPECT_EQ((*slab)->bytes().size(), 1000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*slab)->bytes().data()) % 256, 0);
  EXPECT_THAT(gpu->Leaks(), HasSubstr("1 of pinned memory"));
  slabs.reset();
  slab->reset();
  EXPECT_EQ(gpu->Leaks(), "");
}

TEST(SlabsTest, WithoutPinningNothingIsPinned) {
  const auto gpu = std::make_shared<SimulatedGpu>(1);
  const auto slabs = std::make_shared<Slabs>(gpu, DeviceOptions{.pin = Pin::kOff});
  const auto slab = slabs->Allocate(1000, true);
  ASSERT_TRUE(slab.ok());
  EXPECT_EQ(gpu->Leaks(), "");
  EXPECT_THAT(slabs->Warnings(), IsEmpty());
}

TEST(SlabsTest, BeyondTheBoundWhatIsNotNeededIsRefused) {
  const auto gpu = std::make_shared<SimulatedGpu>(1);
  const auto slabs = std::make_shared<Slabs>(gpu, DeviceOptions{.pinned_bytes = 2500});
  const auto first = slabs->Allocate(1000, true), second = slabs->Allocate(1000, true);
  const auto third = slabs->Allocate(1000, false);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(absl::IsResourceExhausted(third.status()));
  EXPECT_THAT(std::string(third.status().message()), HasSubstr("pinned_bytes"));
  EXPECT_THAT(slabs->Warnings(), ElementsAre(HasSubstr("2 page-locked slabs, fewer than wanted")));
}

TEST(SlabsTest, WhatIsNeededIsPageableWhereItCannotBePinnedAndCounted) {
  const auto gpu = std::make_shared<SimulatedGpu>(1);
  gpu->LimitPinned(1500);
  const auto slabs = std::make_shared<Slabs>(gpu, DeviceOptions{});
  const auto first = slabs->Allocate(1000, true), second = slabs->Allocate(1000, true),
             third = slabs->Allocate(1000, true);
  ASSERT_TRUE(first.ok() && second.ok() && third.ok());
  EXPECT_THAT(slabs->Warnings(), ElementsAre(testing::AllOf(HasSubstr("2 slabs are not page-locked"),
                                                            HasSubstr("cudaErrorMemoryAllocation"))));
}

TEST(SlabsTest, PinOnTakesNothingElse) {
  const auto gpu = std::make_shared<SimulatedGpu>(1);
  gpu->LimitPinned(500);
  const auto slabs = std::make_shared<Slabs>(gpu, DeviceOptions{.pin = Pin::kOn});
  const auto slab = slabs->Allocate(1000, true);
  EXPECT_TRUE(absl::IsResourceExhausted(slab.status()));
  EXPECT_THAT(std::string(slab.status().message()), HasSubstr("cudaErrorMemoryAllocation"));
}

TEST(SlabsTest, WhatIsGivenBackCanBePinnedAgain) {
  const auto gpu = std::make_shared<SimulatedGpu>(1);
  const auto slabs = std::make_shared<Slabs>(gpu, DeviceOptions{.pin = Pin::kOn, .pinned_bytes = 1000});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(slabs->Allocate(1000, true).ok());
  auto kept = slabs->Allocate(600, true);
  EXPECT_FALSE(slabs->Allocate(600, true).ok());
}

TEST(NumaTest, TheNodeIsReadWhereTheMachineTells) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "pci_devices";
  std::filesystem::create_directories(folder / "0000:3b:00.0");
  std::ofstream(folder / "0000:3b:00.0" / "numa_node") << "1\n";
  EXPECT_EQ(NumaNodeOfPciDevice("0000:3b:00.0", folder), 1);
  EXPECT_EQ(NumaNodeOfPciDevice("0000:3c:00.0", folder), -1);
  EXPECT_EQ(NumaNodeOfPciDevice("", folder), -1);
}

}  // namespace
}  // namespace stoker
