#include "client/loader/assembly.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/loader/fake_device.h"

namespace stoker {
namespace {

using testing::ElementsAre;

// Positions 6 to 9, then 0 and 1, of epoch 2; spans of 4: [6, 8), [8, 10), [0, 2).
const BatchSpec kSpec = {.cursor = {2, 6}, .next = {3, 0}, .runs = {{6, 4, 0}, {0, 2, 4}}, .rows = 6, .real = 4};

Assembly Begin(bool names = false) { return Assembly(kSpec, std::make_shared<FakeSlab>(6), 4, names); }

// The header of a span whose sample ids are a hundred above their positions.
v1::SpanHeader HeaderOf(const Assembly::Part& part) {
  v1::SpanHeader header;
  for (uint32_t i = 0; i < part.span.count; ++i) {
    header.add_sample_ids(100 + part.span.start + i);
    header.add_names("sample " + std::to_string(part.span.start + i));
  }
  return header;
}

TEST(AssemblyTest, PartsAreSpansOfTheGridWithTheRowsWhereTheyBelong) {
  const Assembly assembly = Begin();
  ASSERT_EQ(assembly.parts().size(), 3);
  EXPECT_EQ(assembly.parts()[0].span, (SpanId{2, 6, 2}));
  EXPECT_EQ(assembly.parts()[1].span, (SpanId{2, 8, 2}));
  EXPECT_EQ(assembly.parts()[2].span, (SpanId{2, 0, 2}));
  EXPECT_EQ(assembly.parts()[1].row, 2);
  EXPECT_EQ(assembly.parts()[2].row, 4);
}

TEST(AssemblyTest, PartsMayComeInAnyOrder) {
  Assembly assembly = Begin(/*names=*/true);
  for (size_t part : {2, 0, 1}) {
    EXPECT_FALSE(assembly.whole());
    assembly.Land(assembly.parts()[part], HeaderOf(assembly.parts()[part]));
  }
  ASSERT_TRUE(assembly.whole());
  const auto landed = assembly.landed();
  EXPECT_THAT(landed->positions, ElementsAre(6, 7, 8, 9, 0, 1));
  EXPECT_THAT(landed->drawn_positions, ElementsAre(6, 7, 8, 9, 0, 1));
  EXPECT_THAT(landed->sample_ids, ElementsAre(106, 107, 108, 109, 100, 101));
  EXPECT_EQ(landed->names[3], "sample 9");
  EXPECT_EQ(landed->spec.next, (Cursor{3, 0}));
}

TEST(AssemblyTest, NamesAreKeptOnlyIfTheyWereAskedFor) {
  Assembly assembly = Begin();
  for (const Assembly::Part& part : assembly.parts()) assembly.Land(part, HeaderOf(part));
  EXPECT_THAT(assembly.landed()->names, testing::IsEmpty());
}

TEST(AssemblyTest, ASubstituteIsDrawnByItsOwnPositionAndToldByTheBadOnes) {
  Assembly assembly = Begin();
  for (size_t part : {1, 2, 0}) {
    v1::SpanHeader header = HeaderOf(assembly.parts()[part]);
    v1::Substitution& substitution = *header.add_substitutions();
    substitution.set_offset(1);
    substitution.set_position(50 + part);
    substitution.set_bad_sample_id(part);
    substitution.set_bad_sample_name("bad");
    substitution.set_reason("truncated");
    header.add_substitutions()->set_offset(2);  // Past the span's end.
    assembly.Land(assembly.parts()[part], header);
  }
  const auto landed = assembly.landed();
  EXPECT_THAT(landed->drawn_positions, ElementsAre(6, 50, 8, 51, 0, 52));
  ASSERT_EQ(landed->substituted.size(), 3);
  EXPECT_EQ(landed->substituted[0].position, 1);
  EXPECT_EQ(landed->substituted[1].position, 7);
  EXPECT_EQ(landed->substituted[2].position, 9);
  EXPECT_EQ(landed->substituted[2].bad_sample_id, 1);
  EXPECT_EQ(landed->substituted[2].bad_sample_name, "bad");
  EXPECT_EQ(landed->substituted[2].reason, "truncated");
}

TEST(AssemblyTest, TheFirstRowThatFailedNamesTheError) {
  for (const auto& order : {std::vector<size_t>{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
    Assembly assembly = Begin();
    for (size_t part : order) {
      if (part == 0)
        assembly.Land(assembly.parts()[0], HeaderOf(assembly.parts()[0]));
      else
        assembly.Fail(assembly.parts()[part], absl::DataLossError("part " + std::to_string(part)));
    }
    EXPECT_TRUE(assembly.whole());
    EXPECT_EQ(assembly.status().message(), "part 1");
  }
}

TEST(AssemblyTest, ABatchWithoutRowsIsWholeFromTheStart) {
  const Assembly assembly({.cursor = {1, 8}}, std::make_shared<FakeSlab>(0), 4, true);
  EXPECT_TRUE(assembly.whole());
  EXPECT_THAT(assembly.landed()->positions, testing::IsEmpty());
}

}  // namespace
}  // namespace stoker
