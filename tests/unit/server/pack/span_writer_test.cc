#include "server/pack/span_writer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Text of up to 8 bytes, a label of one byte, and rows of three bytes, up to two of them.
ServerPipeline Pipeline() {
  const SourceSchema schema = {
      {.name = "caption", .kind = SourceField::Kind::kRows, .meaning = v1::FIELD_KIND_TEXT, .max_bytes = 8},
      {.name = "label"},
      {.name = "rows",
       .kind = SourceField::Kind::kRows,
       .shape = {3},
       .meaning = v1::FIELD_KIND_RAGGED,
       .max_bytes = 6},
  };
  auto pipeline = ServerPipeline::Create({}, schema);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return *std::move(pipeline);
}

void Put(SpanWriter& writer, size_t field, uint32_t index, const std::string& value) {
  const auto room = writer.Grow(field, index, value.size());
  ASSERT_TRUE(room.ok()) << room.status();
  std::copy(value.begin(), value.end(), room->begin());
}

void PutSample(SpanWriter& writer, uint32_t index, const std::string& caption, uint8_t label, const std::string& rows) {
  Put(writer, 0, index, caption);
  writer.Write(1, index, std::vector<uint8_t>{label});
  Put(writer, 2, index, rows);
}

TEST(SpanWriterTest, SamplesThatDifferInSizeFollowTheOthersWithoutPadding) {
  const ServerPipeline pipeline = Pipeline();
  EXPECT_EQ(pipeline.sample_bytes(), 4 + 8 + 1 + 4 + 6);
  std::vector<uint8_t> slab(3 * pipeline.sample_bytes(), 0xee);
  SpanWriter writer(pipeline, 3, slab);
  PutSample(writer, 0, "cat", 7, "abcdef");
  PutSample(writer, 1, "", 8, "");
  PutSample(writer, 2, "mouse", 9, "xyz");
  v1::SpanHeader header;
  header.set_count(3);
  writer.Finish(header);
  EXPECT_THAT(header.values_bytes(), ElementsAre(8, 9));
  ASSERT_EQ(pipeline.layout().PayloadBytes(header), 3 + 12 + 8 + 12 + 9);
  const std::string expected({7,   8, 9, 3, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0,   0,   'c', 'a', 't', 'm', 'o', 'u', 's',
                              'e', 6, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c', 'd', 'e', 'f', 'x', 'y', 'z'});
  EXPECT_EQ(std::string(slab.begin(), slab.begin() + static_cast<ptrdiff_t>(expected.size())), expected);
}

TEST(SpanWriterTest, ASampleThatIsMadeAgainTakesThePlaceOfItself) {
  const ServerPipeline pipeline = Pipeline();
  std::vector<uint8_t> slab(2 * pipeline.sample_bytes());
  SpanWriter writer(pipeline, 2, slab);
  PutSample(writer, 0, "12345678", 1, "");
  PutSample(writer, 1, "12345678", 1, "abcabc");
  PutSample(writer, 1, "x", 2, "abc");  // as its substitute
  v1::SpanHeader header;
  writer.Finish(header);
  EXPECT_THAT(header.values_bytes(), ElementsAre(9, 3));
  EXPECT_EQ(std::string(slab.begin() + 10, slab.begin() + 19), "12345678x");
}

TEST(SpanWriterTest, WhatTheFieldDoesNotAllowIsTheSamplesFault) {
  const ServerPipeline pipeline = Pipeline();
  std::vector<uint8_t> slab(pipeline.sample_bytes());
  SpanWriter writer(pipeline, 1, slab);
  const absl::Status large = writer.Grow(0, 0, 9).status(), torn = writer.Grow(2, 0, 4).status();
  EXPECT_EQ(large.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(large.message(), HasSubstr("field 'caption' has 9 bytes, more than its max_bytes of 8"));
  EXPECT_EQ(torn.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(torn.message(), HasSubstr("no multiple of the 3 of a row"));
}

}  // namespace
}  // namespace stoker
