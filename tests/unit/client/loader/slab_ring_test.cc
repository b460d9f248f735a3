#include "client/loader/slab_ring.h"

#include "gtest/gtest.h"
#include "tests/unit/client/loader/fake_device.h"

namespace stoker {
namespace {

class SlabRingTest : public testing::Test {
 protected:
  // Slabs that the device keeps refer to the ring, and that to the device.
  void TearDown() override {
    while (device_->Reclaim()) {
    }
  }

  std::shared_ptr<HostSlab> Take() {
    auto slab = ring_->TryTake();
    EXPECT_TRUE(slab.ok()) << slab.status();
    return *slab;
  }

  const std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
  const std::shared_ptr<SlabRing> ring_ = std::make_shared<SlabRing>(device_, /*slab_bytes=*/10, /*slabs=*/4);
};

TEST_F(SlabRingTest, SlabsAreAllocatedWhenTheyAreNeededAndGoRound) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Take()->bytes().size(), 10);
  EXPECT_EQ(device_->allocated, 1);
  std::vector<std::shared_ptr<HostSlab>> out;
  for (int i = 0; i < 4; ++i) out.push_back(Take());
  EXPECT_EQ(Take(), nullptr);
  out.pop_back();
  EXPECT_NE(Take(), nullptr);
  EXPECT_EQ(device_->allocated, 4);
}

TEST_F(SlabRingTest, WhereMemoryEndsItGoesOnWithThree) {
  device_->preferred_for = 3;
  std::vector<std::shared_ptr<HostSlab>> out;
  for (int i = 0; i < 3; ++i) out.push_back(Take());
  EXPECT_EQ(Take(), nullptr);
  EXPECT_EQ(device_->allocated, 3);
}

TEST_F(SlabRingTest, WithLessMemoryThanThreeItFails) {
  device_->preferred_for = device_->memory_for = 2;
  const auto first = Take(), second = Take();
  EXPECT_EQ(ring_->TryTake().status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(SlabRingTest, ASlabThatTheDeviceIsDoneWithIsTakenBeforeMoreIsAllocated) {
  for (int i = 0; i < 4; ++i) device_->kept.push_back(Take());
  HostSlab* const last = device_->kept.back().get();
  const auto slab = ring_->TakeOrGrow();
  ASSERT_TRUE(slab.ok());
  EXPECT_EQ(slab->get(), last);
  EXPECT_EQ(device_->allocated, 4);
}

TEST_F(SlabRingTest, ForACallerThatKeepsThemAllItGrowsForGood) {
  std::vector<std::shared_ptr<HostSlab>> out;
  for (int i = 0; i < 4; ++i) out.push_back(Take());
  for (int i = 0; i < 2; ++i) {
    const auto slab = ring_->TakeOrGrow();
    ASSERT_TRUE(slab.ok());
    EXPECT_NE(*slab, nullptr);
    out.push_back(*slab);
  }
  out.clear();
  for (int i = 0; i < 6; ++i) out.push_back(Take());
  EXPECT_NE(out.back(), nullptr);
  EXPECT_EQ(Take(), nullptr);
  EXPECT_EQ(device_->allocated, 6);
}

TEST_F(SlabRingTest, SlabsThatAreTooSmallAreAllocatedAnew) {
  auto first = Take(), second = Take();
  ring_->Enlarge(8);
  first.reset();
  first = Take();
  EXPECT_EQ(first->bytes().size(), 10) << "it was large enough";
  ring_->Enlarge(20);
  first.reset();
  first = Take();
  EXPECT_EQ(first->bytes().size(), 25);
  EXPECT_EQ(second->bytes().size(), 10) << "it is out, and stays";
  second.reset();
  EXPECT_EQ(Take()->bytes().size(), 25);
  EXPECT_EQ(device_->allocated, 4);
}

}  // namespace
}  // namespace stoker
