#include "client/loader/value_arena.h"

#include <numeric>

#include "client/loader/span_rooms.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/loader/fake_device.h"

namespace stoker {
namespace {

struct Arena {
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
  std::shared_ptr<FakeSlab> slab = std::make_shared<FakeSlab>(100);
  std::shared_ptr<ValueArena> arena = std::make_shared<ValueArena>(device, slab, 60);
};

TEST(ValueArenaTest, GivesTheSlabsEndAndThenFurtherMemory) {
  Arena it;
  const auto first = it.arena->Take(30), second = it.arena->Take(10), third = it.arena->Take(1);
  ASSERT_TRUE(first.ok() && second.ok() && third.ok());
  EXPECT_EQ(first->data(), it.slab->bytes().data() + 60);
  EXPECT_EQ(second->data(), it.slab->bytes().data() + 90);
  EXPECT_EQ(it.device->allocated, 1) << "the third had no room";
  std::fill(third->begin(), third->end(), 9);
  EXPECT_EQ(it.arena->Take(1000)->data(), third->data() + 1) << "further memory serves many";
  EXPECT_EQ(it.arena->taken(), 30 + 10 + 1 + 1000);
}

TEST(ValueArenaTest, SaysThatThereIsNoMemory) {
  Arena it;
  it.device->memory_for = 0;
  EXPECT_TRUE(it.arena->Take(40).ok());
  EXPECT_EQ(it.arena->Take(1).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ValueArenaTest, NothingTakesNoMemory) {
  Arena it;
  ASSERT_TRUE(it.arena->Take(40).ok());
  EXPECT_TRUE(it.arena->Take(0).ok());
  EXPECT_EQ(it.device->allocated, 0);
}

SpanLayout LayoutOfText() {
  v1::Field text;
  text.set_name("text"), text.set_dtype(v1::DTYPE_UINT8), text.set_kind(v1::FIELD_KIND_TEXT), text.set_max_bytes(10);
  return SpanLayout(std::vector<v1::Field>{text});
}

TEST(SpanRoomsTest, ASpanThatComesAgainTakesNoMoreThanItsMost) {
  Arena it;
  const SpanLayout layout = LayoutOfText();
  SpanRooms rooms(it.arena, layout, /*count=*/4);
  const auto first = rooms.Take(0, 5);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(rooms.Take(0, 3)->data(), first->data());
  EXPECT_EQ(it.arena->taken(), 5);
  ASSERT_TRUE(rooms.Take(0, 6).ok());
  for (int bytes = 7; bytes <= 40; ++bytes) ASSERT_TRUE(rooms.Take(0, bytes).ok());
  EXPECT_EQ(it.arena->taken(), 5 + 40);
  ASSERT_EQ(rooms.taken().size(), 1);
  EXPECT_EQ(rooms.taken()[0].size(), 40);
}

}  // namespace
}  // namespace stoker
