// Sparse fields, from the dataset's bytes to a span.

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/work/sample_maker.h"

namespace stoker {
namespace {

using testing::HasSubstr;

template <typename T>
std::vector<uint8_t> Packed(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return {bytes, bytes + values.size() * sizeof(T)};
}

// Words of 12 in a field, with the number of each beside it.
SourceSchema SparseSchema(bool has_values = true) {
  SourceSchema schema = {{.name = "words",
                          .kind = SourceField::Kind::kRows,
                          .dtype = v1::DTYPE_INT64,
                          .meaning = v1::FIELD_KIND_SPARSE,
                          .max_bytes = 32,
                          .typical_bytes = 8,
                          .dense_shape = {3, 4}},
                         {.name = "words.values",
                          .kind = SourceField::Kind::kRows,
                          .dtype = v1::DTYPE_FLOAT32,
                          .meaning = v1::FIELD_KIND_RAGGED,
                          .max_bytes = 32,
                          .typical_bytes = 8}};
  if (!has_values) schema.pop_back();
  return schema;
}

absl::StatusOr<ServerPipeline> SparsePipeline(const std::string& text, const SourceSchema& schema) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  return ServerPipeline::Create(pipeline, schema);
}

// The payload of a span of one sample.
absl::StatusOr<std::vector<uint8_t>> PayloadOf(const ServerPipeline& pipeline, const SourceSchema& schema,
                                               const std::vector<std::vector<uint8_t>>& fields) {
  SampleMaker maker({});
  std::vector<uint8_t> slab(pipeline.sample_bytes());
  SpanWriter writer(pipeline, 1, slab);
  const Interrupt interrupt;
  v1::StageTimes times;
  SampleBytes sample;
  sample.fields = fields;
  const absl::Status status = maker.Make({pipeline, schema, 1, 0, 0, interrupt}, sample, writer, 0, times);
  if (!status.ok()) return status;
  v1::SpanHeader header;
  header.set_count(1);
  writer.Finish(header);
  slab.resize(*pipeline.layout().PayloadBytes(header));
  return slab;
}

std::vector<uint8_t> Joined(const std::vector<std::vector<uint8_t>>& parts) {
  std::vector<uint8_t> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(SparseTest, PlacesTravelInTheTypeThatTheirArrayNeedsAndValuesBehindThem) {
  const SourceSchema schema = SparseSchema();
  const auto pipeline = SparsePipeline("", schema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  ASSERT_EQ(pipeline->outputs().size(), 2);
  EXPECT_EQ(pipeline->outputs()[0].field.dtype(), v1::DTYPE_INT32);
  EXPECT_THAT(pipeline->outputs()[0].field.dense_shape(), testing::ElementsAre(3, 4));
  const auto made = PayloadOf(*pipeline, schema, {Packed<int64_t>({1, 11}), Packed<float>({0.5, -2})});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(*made,
            Joined({Packed<uint32_t>({8}), Packed<int32_t>({1, 11}), Packed<uint32_t>({8}), Packed<float>({0.5, -2})}));
}

TEST(SparseTest, WithoutValuesThereIsNothingBehindThem) {
  const SourceSchema schema = SparseSchema(false);
  const auto pipeline = SparsePipeline("fields: 'words'", schema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const auto made = PayloadOf(*pipeline, schema, {Packed<int64_t>({0, 4, 5})});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(*made, Joined({Packed<uint32_t>({12}), Packed<int32_t>({0, 4, 5})}));
}

TEST(SparseTest, ToDtypeConvertsTheValues) {
  const SourceSchema schema = SparseSchema();
  const std::string cast = "ops { placement: PLACEMENT_SERVER to_dtype { field: 'words' dtype: DTYPE_BFLOAT16 } }";
  const auto pipeline = SparsePipeline(cast, schema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_EQ(pipeline->outputs()[1].field.dtype(), v1::DTYPE_BFLOAT16);
  const auto made = PayloadOf(*pipeline, schema, {Packed<int64_t>({1, 11}), Packed<float>({0.5, -2})});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(*made, Joined({Packed<uint32_t>({8}), Packed<int32_t>({1, 11}), Packed<uint32_t>({4}),
                           Packed<uint16_t>({0x3f00, 0xc000})}));
  EXPECT_EQ(SparsePipeline(cast, SparseSchema(false)).status().message(),
            "pipeline.ops[0]: ToDtype.field: 'words' is sparse without values");
}

TEST(SparseTest, PlacesThatCannotBeMakeABadSample) {
  const SourceSchema schema = SparseSchema();
  const auto pipeline = SparsePipeline("", schema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const auto refused = [&](const std::vector<int64_t>& places, size_t values) {
    const absl::Status status =
        PayloadOf(*pipeline, schema, {Packed(places), std::vector<uint8_t>(4 * values)}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    return std::string(status.message());
  };
  EXPECT_EQ(refused({1, 12}, 2), "field 'words': index 1 is 12, and the array of its dense_shape has 12 elements");
  EXPECT_EQ(refused({1, (int64_t{1} << 32) + 2}, 2),
            "field 'words': index 1 is 4294967298, and the array of its dense_shape has 12 elements");
  EXPECT_EQ(refused({5, 5}, 2),
            "field 'words': index 1 is 5 and the one before it 5; indices must ascend, and none may stand twice");
  EXPECT_EQ(refused({5, 6}, 3), "field 'words' has 2 indices and 3 values; each index needs one");
  EXPECT_THAT(refused({0, 1, 2, 3, 4, 5, 6, 7, 8}, 9), HasSubstr("more than its max_bytes of 32"));
}

TEST(SparseTest, ValuesAreNoFieldThatAPipelineNames) {
  EXPECT_EQ(SparsePipeline("fields: 'words.values'", SparseSchema()).status().message(),
            "pipeline.fields[0]: the dataset has no field 'words.values'; it has words");
}

}  // namespace
}  // namespace stoker
