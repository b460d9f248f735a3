#include "common/pipeline/server_pipeline.h"

#include "common/pipeline/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

const SourceSchema kFolder = {{.name = "image", .kind = SourceField::Kind::kEncodedImage},
                              {.name = "label", .dtype = v1::DTYPE_INT64}};

SourceSchema Raw(int64_t bytes) { return {{.name = "data", .dtype = v1::DTYPE_UINT8, .shape = {bytes}}}; }

TEST(ServerPipelineTest, InfersWhatASpanCarries) {
  const auto pipeline = ServerPipeline::Create(DefaultPipeline(), kFolder);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  ASSERT_EQ(pipeline->outputs().size(), 2);
  EXPECT_THAT(pipeline->outputs()[0].field.shape(), testing::ElementsAre(224, 224, 3));
  EXPECT_EQ(pipeline->outputs()[1].field.dtype(), v1::DTYPE_INT64);
  EXPECT_EQ(pipeline->sample_bytes(), 224 * 224 * 3 + 8);
  EXPECT_EQ(pipeline->span_samples(), 8);
}

TEST(ServerPipelineTest, SendsOnlyTheFieldsAskedForInTheirOrder) {
  v1::Pipeline pipeline = DefaultPipeline();
  pipeline.add_fields("label");
  pipeline.add_fields("image");
  const auto server = ServerPipeline::Create(pipeline, kFolder);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(server->outputs()[0].field.name(), "label");
  EXPECT_EQ(server->outputs()[1].source, 0);
}

TEST(ServerPipelineTest, SpansAreThePowerOfTwoNearestOneMebibyte) {
  for (auto [bytes, samples] : {std::pair(1, 4096),
                                {256, 4096},
                                {100'000, 8},
                                {(1 << 20) / 3 * 2 + 1, 1},
                                {1 << 20, 1},
                                {5 << 20, 1},
                                {700'000, 1},
                                {699'000, 2}}) {
    const auto pipeline = ServerPipeline::Create({}, Raw(bytes));
    ASSERT_TRUE(pipeline.ok());
    EXPECT_EQ(pipeline->span_samples(), samples) << bytes << " bytes a sample";
  }
}

TEST(ServerPipelineTest, RefusesWhatHasNoFixedSize) {
  v1::Pipeline resize;
  resize.add_ops()->mutable_resize()->add_size(256);
  EXPECT_THAT(ServerPipeline::Create(resize, kFolder).status().message(),
              HasSubstr("would differ in size from sample to sample"));
  const SourceSchema dense = {{.name = "image", .dtype = v1::DTYPE_UINT8, .shape = {512, 1024, 3}}};
  const auto known = ServerPipeline::Create(resize, dense);
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_THAT(known->outputs()[0].field.shape(), testing::ElementsAre(256, 512, 3));
}

TEST(ServerPipelineTest, RefusesFieldsThatAreNot) {
  v1::Pipeline pipeline = DefaultPipeline();
  pipeline.add_fields("mask");
  EXPECT_EQ(ServerPipeline::Create(pipeline, kFolder).status().message(),
            "pipeline.fields[0]: the dataset has no field 'mask'; it has image, label");
  EXPECT_THAT(ServerPipeline::Create(DefaultPipeline(), Raw(8)).status().message(), HasSubstr("needs an image"));
  EXPECT_THAT(ServerPipeline::Create({}, Raw(int64_t{1} << 30)).status().message(), HasSubstr("above 268435456 bytes"));
}

TEST(ServerPipelineTest, EveryPositionAndEpochDrawsItsOwn) {
  const auto pipeline = ServerPipeline::Create(DefaultPipeline(), kFolder);
  const auto first = pipeline->Draw({375, 500}, 1, 0, 0);
  EXPECT_EQ(*first, *pipeline->Draw({375, 500}, 1, 0, 0));
  EXPECT_NE(*first, *pipeline->Draw({375, 500}, 1, 0, 1));
  EXPECT_NE(*first, *pipeline->Draw({375, 500}, 1, 1, 0));
  EXPECT_NE(*first, *pipeline->Draw({375, 500}, 2, 0, 0));
}

TEST(ServerPipelineTest, WhatOpsMakeOnTheWayIsBoundedAsImagesAre) {
  v1::Pipeline pipeline;
  for (int extent : {16384, 16384}) {
    if (pipeline.ops().empty()) pipeline.add_ops();
    pipeline.mutable_ops(0)->mutable_resize()->add_size(extent);
  }
  pipeline.add_ops()->mutable_center_crop()->add_size(8);
  const auto drawn = ServerPipeline::Create(pipeline, kFolder)->Draw({8, 8}, 1, 0, 0);
  EXPECT_EQ(drawn.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(drawn.status().message(), HasSubstr("pipeline.ops[0]: from 8×8 to 16384×16384"));
}

TEST(ServerPipelineTest, AnOpThatCannotTakeAnImageIsThePipelinesFault) {
  v1::Pipeline crop;
  crop.add_ops()->mutable_random_crop()->add_size(224);
  const auto drawn = ServerPipeline::Create(crop, kFolder)->Draw({100, 300}, 1, 0, 0);
  EXPECT_EQ(drawn.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(drawn.status().message(), HasSubstr("pipeline.ops[0]: RandomCrop.size"));
}

}  // namespace
}  // namespace stoker
