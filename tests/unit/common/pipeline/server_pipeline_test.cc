#include "common/pipeline/server_pipeline.h"

#include "common/pipeline/pipeline.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
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
  EXPECT_EQ(server->sources(), FieldSet::All());
}

TEST(ServerPipelineTest, WantsTheSourcesOfWhatIsSent) {
  v1::Pipeline pipeline;
  pipeline.add_fields("label");
  const auto server = ServerPipeline::Create(pipeline, kFolder);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_FALSE(server->sources().Has(0));
  EXPECT_TRUE(server->sources().Has(1));
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
  EXPECT_EQ(
      ServerPipeline::Create(resize, kFolder).status().message(),
      "pipeline.ops: the images of field 'image' would differ in size from sample to sample, also after Resize; "
      "end with RandomResizedCrop or CenterCrop, or a Resize to height and width, or give native_size: {max_pixels: "
      "…}");
  const SourceSchema dense = {{.name = "image", .dtype = v1::DTYPE_UINT8, .shape = {512, 1024, 3}}};
  const auto known = ServerPipeline::Create(resize, dense);
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_THAT(known->outputs()[0].field.shape(), testing::ElementsAre(256, 512, 3));
}

TEST(ServerPipelineTest, AnOpThatZoomsNeedsACropAfterItAlsoWhereImagesAreOfOneSize) {
  const SourceSchema dense = {{.name = "image", .dtype = v1::DTYPE_UINT8, .shape = {512, 1024, 3}}};
  v1::Pipeline zoom;
  zoom.add_ops()->mutable_random_zoom_out();
  EXPECT_EQ(ServerPipeline::Create(zoom, dense).status().message(),
            "pipeline.ops: the images of field 'image' would differ in size from sample to sample, also after "
            "RandomZoomOut; end with RandomResizedCrop or CenterCrop, or a Resize to height and width, or give "
            "native_size: {max_pixels: …}");
  zoom.add_ops()->mutable_center_crop()->add_size(64);
  EXPECT_TRUE(ServerPipeline::Create(zoom, dense).ok());
}

TEST(ServerPipelineTest, WhatFollowsAnOpThatZoomsCostsWhatTheLargestImageTakes) {
  v1::Pipeline zoomed;
  zoomed.add_ops()->mutable_random_zoom_out();
  zoomed.add_ops()->mutable_random_invert();
  zoomed.add_ops()->mutable_center_crop()->add_size(8);
  v1::Pipeline plain = zoomed;
  plain.mutable_ops()->DeleteSubrange(0, 1);
  const double inverted = 3 * 100 * 100;
  const Cost all = ServerPipeline::Create(zoomed, kFolder)->CostOf({100, 100}),
             alone = ServerPipeline::Create(plain, kFolder)->CostOf({100, 100});
  EXPECT_EQ(all.bytes - alone.bytes, 16 * inverted + 15 * inverted);  // The canvas, and inverting it.
}

TEST(ServerPipelineTest, ACanvasHoldsToMaxPixels) {
  v1::Pipeline zoomed;
  auto& zoom = *zoomed.add_ops()->mutable_random_zoom_out();
  zoom.set_p(1);
  for (double factor : {4, 4}) zoom.add_side_range(factor);
  zoomed.add_ops()->mutable_center_crop()->add_size(8);
  zoomed.mutable_limits()->set_max_pixels(150'000);
  const auto server = ServerPipeline::Create(zoomed, kFolder);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(server->Draw(server->outputs()[0], 0, {90, 100}, 1, 2, 3).ok());
  EXPECT_EQ(server->Draw(server->outputs()[0], 0, {100, 100}, 1, 2, 3).status().message(),
            "pipeline.ops[0]: from 100×100 to 400×400 takes more than limits.max_pixels, 150000");
}

TEST(ServerPipelineTest, NamesTheDeviceOpThatNeedsOneSizeAndWhatToPutBeforeIt) {
  v1::Pipeline pipeline;
  pipeline.add_ops()->mutable_one_hot()->set_num_classes(10);
  pipeline.add_ops()->mutable_cut_mix()->set_num_classes(10);
  EXPECT_EQ(ServerPipeline::Create(pipeline, kFolder).status().message(),
            "pipeline.ops[1]: CutMix needs images of one size, and those of field 'image' would differ in size from "
            "sample to sample; put RandomResizedCrop or CenterCrop, or a Resize to height and width, before it");
  v1::Pipeline floats;
  floats.add_ops()->mutable_resize()->add_size(256);
  floats.add_ops()->mutable_to_dtype()->set_dtype(v1::DTYPE_FLOAT32);
  EXPECT_THAT(ServerPipeline::Create(floats, kFolder).status().message(),
              HasSubstr("pipeline.ops[1]: ToDtype needs images of one size, and those of field 'image' would differ in "
                        "size from sample to sample, also after Resize; put RandomResizedCrop"));
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
  const auto& image = pipeline->outputs()[0];
  const auto first = pipeline->Draw(image, 0, {375, 500}, 1, 0, 0);
  EXPECT_EQ(*first, *pipeline->Draw(image, 0, {375, 500}, 1, 0, 0));
  EXPECT_NE(*first, *pipeline->Draw(image, 0, {375, 500}, 1, 0, 1));
  EXPECT_NE(*first, *pipeline->Draw(image, 0, {375, 500}, 1, 1, 0));
  EXPECT_NE(*first, *pipeline->Draw(image, 0, {375, 500}, 2, 0, 0));
}

TEST(ServerPipelineTest, WhatOpsMakeOnTheWayIsBoundedAsImagesAre) {
  v1::Pipeline pipeline;
  for (int extent : {16384, 16384}) {
    if (pipeline.ops().empty()) pipeline.add_ops();
    pipeline.mutable_ops(0)->mutable_resize()->add_size(extent);
  }
  pipeline.add_ops()->mutable_center_crop()->add_size(8);
  const auto server = ServerPipeline::Create(pipeline, kFolder);
  const auto drawn = server->Draw(server->outputs()[0], 0, {8, 8}, 1, 0, 0);
  EXPECT_EQ(drawn.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(drawn.status().message(), HasSubstr("pipeline.ops[0]: from 8×8 to 16384×16384"));
}

TEST(ServerPipelineTest, WhatNestedOpsMakeOnTheWayIsBoundedToo) {
  v1::Pipeline pipeline;
  auto& apply = *pipeline.add_ops()->mutable_random_apply();
  apply.set_p(1);
  for (int extent : {16384, 8}) {
    auto& resize = *apply.add_transforms()->mutable_resize();
    for (int axis = 0; axis < 2; ++axis) resize.add_size(extent);
  }
  const auto server = ServerPipeline::Create(pipeline, kFolder);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(server->Draw(server->outputs()[0], 0, {8, 8}, 1, 0, 0).status().message(),
              HasSubstr("pipeline.ops[0]: from 8×8 to 16384×16384"));
}

// An op draws by its place and its own key: neither what stands before it nor what that drew moves it.
TEST(ServerPipelineTest, AnOpsDrawsAreItsOwn) {
  v1::Pipeline plain = DefaultPipeline(), busy = plain;
  plain.add_ops()->mutable_color_jitter()->add_brightness(0.5);
  *busy.mutable_ops(1) = v1::Op();
  busy.mutable_ops(1)->mutable_rand_augment();
  busy.add_ops()->mutable_color_jitter()->add_brightness(0.5);
  const auto one = ServerPipeline::Create(plain, kFolder), other = ServerPipeline::Create(busy, kFolder);
  for (uint64_t position = 0; position < 50; ++position)
    EXPECT_EQ(one->Draw(one->outputs()[0], 0, {375, 500}, 1, 0, position)->back(),
              other->Draw(other->outputs()[0], 0, {375, 500}, 1, 0, position)->back());
}

TEST(ServerPipelineTest, AnOpThatCannotTakeAnImageIsThePipelinesFault) {
  v1::Pipeline crop;
  crop.add_ops()->mutable_random_crop()->add_size(224);
  const auto server = ServerPipeline::Create(crop, kFolder);
  const auto drawn = server->Draw(server->outputs()[0], 0, {100, 300}, 1, 0, 0);
  EXPECT_EQ(drawn.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(drawn.status().message(), HasSubstr("pipeline.ops[0]: RandomCrop.size"));
}

// ---- Maps ----

const SourceSchema kWithMaps = {
    {.name = "image", .kind = SourceField::Kind::kEncodedImage},
    {.name = "labels",
     .kind = SourceField::Kind::kEncodedImage,
     .dtype = v1::DTYPE_INT16,
     .meaning = v1::FIELD_KIND_LABEL_MAP},
    {.name = "road", .dtype = v1::DTYPE_UINT8, .shape = {375, 500}, .meaning = v1::FIELD_KIND_BINARY_MAP}};

TEST(ServerPipelineTest, MapsHaveTheSizeOfTheImageAfterItsOps) {
  const auto server = ServerPipeline::Create(DefaultPipeline(), kWithMaps);
  ASSERT_TRUE(server.ok()) << server.status();
  const v1::Field &labels = server->outputs()[1].field, &road = server->outputs()[2].field;
  EXPECT_EQ(labels.kind(), v1::FIELD_KIND_LABEL_MAP);
  EXPECT_EQ(labels.dtype(), v1::DTYPE_INT16);
  EXPECT_EQ(road.kind(), v1::FIELD_KIND_BINARY_MAP);
  EXPECT_THAT(labels.shape(), testing::ElementsAre(224, 224));
  EXPECT_THAT(road.shape(), testing::ElementsAre(224, 224));
  EXPECT_EQ(server->sample_bytes(), 224 * 224 * (3 + 2) + 224 * 224 / 8);
}

TEST(ServerPipelineTest, AMapDrawsWhatItsImageDraws) {
  const auto server = ServerPipeline::Create(DefaultPipeline(), kWithMaps);
  for (uint64_t position = 0; position < 20; ++position)
    EXPECT_EQ(*server->Draw(server->outputs()[0], 0, {375, 500}, 1, 2, position),
              *server->Draw(server->outputs()[1], 0, {375, 500}, 1, 2, position));
}

TEST(ServerPipelineTest, MapsCostWhatMovingThemTakes) {
  v1::Pipeline image = DefaultPipeline();
  image.add_fields("image");
  const Cost all = ServerPipeline::Create(DefaultPipeline(), kWithMaps)->CostOf({375, 500}),
             alone = ServerPipeline::Create(image, kWithMaps)->CostOf({375, 500});
  EXPECT_GT(all.arithmetic, 2 * alone.arithmetic);
  EXPECT_GT(all.passes, 2 * alone.passes);
}

TEST(ServerPipelineTest, RefusesMapsThatNoImageFits) {
  v1::Pipeline views;
  auto& group = *views.add_views();
  group.set_name("views");
  group.add_ops()->mutable_random_resized_crop()->add_size(8);
  EXPECT_EQ(ServerPipeline::Create(views, kWithMaps).status().message(),
            "pipeline.views: 'labels' is a label_map on the image, and views have none; leave it out: name the fields "
            "to send in pipeline.fields");
  SourceSchema differs = kWithMaps;
  differs[0] = {.name = "image", .dtype = v1::DTYPE_UINT8, .shape = {375, 501, 3}};
  EXPECT_EQ(
      ServerPipeline::Create(DefaultPipeline(), differs).status().message(),
      "the binary_map 'road' has 500×375 pixels, and 'image' 501×375; a map has the size of the image that it lies on");
  v1::Pipeline device = DefaultPipeline();
  device.mutable_ops(1)->set_placement(v1::PLACEMENT_DEVICE);
  EXPECT_TRUE(ServerPipeline::Create(device, kWithMaps).ok());
  device.add_ops()->mutable_cut_mix()->set_num_classes(3);
  EXPECT_THAT(ServerPipeline::Create(device, kWithMaps).status().message(), HasSubstr("CutMix: does not mix 'labels'"));
}

// ---- Conversion by the server ----

constexpr char kCast[] = "ops { placement: PLACEMENT_SERVER to_dtype { field: 'features' dtype: DTYPE_BFLOAT16 } } ";

absl::StatusOr<ServerPipeline> WithFeatures(const std::string& text, v1::Dtype dtype = v1::DTYPE_FLOAT64) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  SourceSchema schema = kWithMaps;
  schema.push_back({.name = "features", .dtype = dtype, .shape = {128}});
  return ServerPipeline::Create(pipeline, schema);
}

TEST(ServerPipelineTest, WhatIsConvertedIsSentAsItsNewType) {
  const auto server = WithFeatures("fields: 'features' " + std::string(kCast));
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(server->outputs()[0].field.dtype(), v1::DTYPE_BFLOAT16);
  EXPECT_EQ(server->outputs()[0].cast->from, v1::DTYPE_FLOAT64);
  EXPECT_EQ(server->sample_bytes(), 256);
}

TEST(ServerPipelineTest, AConversionMovesNoDraw) {
  const std::string crop = "ops { random_resized_crop { size: 32 } } ";
  const auto with = WithFeatures(crop + kCast), without = WithFeatures(crop);
  ASSERT_TRUE(with.ok()) << with.status();
  for (uint64_t position = 0; position < 10; ++position)
    EXPECT_EQ(*with->Draw(with->outputs()[0], 0, {375, 500}, 1, 2, position),
              *without->Draw(without->outputs()[0], 0, {375, 500}, 1, 2, position));
}

TEST(ServerPipelineTest, RefusesConversionsOfWhatIsNotNumbersThatAreSent) {
  const std::string crop = "ops { random_resized_crop { size: 32 } } ";
  const auto message = [&](const std::string& text) { return std::string(WithFeatures(text).status().message()); };
  const auto cast = [](const std::string& what) {
    return "ops { placement: PLACEMENT_SERVER to_dtype { dtype: DTYPE_FLOAT16 " + what + " } } ";
  };
  EXPECT_EQ(message(crop + cast("")), "pipeline.ops[1]: ToDtype.placement: runs on the device only");
  EXPECT_EQ(message(crop + cast("field: 'image'")),
            "pipeline.ops[1]: ToDtype.field: 'image' is an image, which is converted on the device");
  EXPECT_EQ(message(crop + cast("field: 'labels'")), "pipeline.ops[1]: ToDtype.field: 'labels' is a label_map");
  EXPECT_EQ(message(crop + cast("field: 'other'")), "pipeline.ops[1]: ToDtype.field: 'other' is not sent");
  EXPECT_EQ(message(crop + cast("field: 'features'") + cast("field: 'features'")),
            "pipeline.ops[2]: ToDtype.field: 'features' is converted already; leave one out");
  EXPECT_EQ(message(crop + cast("field: 'features' scale: true")),
            "pipeline.ops[1]: ToDtype.scale: field 'features' has float64, not uint8 or int16; leave it out");
  EXPECT_EQ(message("ops { random_apply { transforms { to_dtype { field: 'features' dtype: DTYPE_FLOAT16 } } } }"),
            "pipeline.ops[0]: RandomApply.transforms[0]: ToDtype: stands in no other op");
}

TEST(ServerPipelineTest, AFillThatLabelsCannotHaveIsRefused) {
  SourceSchema schema = kWithMaps;
  const auto message = [&](const std::string& text) {
    v1::Pipeline pipeline;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
    return std::string(ServerPipeline::Create(pipeline, schema).status().message());
  };
  const std::string crop = "ops { random_resized_crop { size: 32 } } ";
  const std::string turn = crop + "ops { random_apply { transforms { random_rotation { degrees: 9 map_fill: -1 } } } }";
  EXPECT_EQ(message(turn), "") << "of int16";
  schema[1].dtype = v1::DTYPE_UINT8;
  EXPECT_EQ(
      message(turn),
      "pipeline.ops[1]: RandomApply.map_fill: -1 does not fit the labels of 'labels', which are uint8; give 0 to 255");
  EXPECT_EQ(message(crop + "ops { random_crop { size: 32 padding: 1 map_fill: 255 } }"), "");
  schema[1].meaning = v1::FIELD_KIND_BINARY_MAP;
  EXPECT_EQ(message(turn), "") << "of bits, which are set";
}

TEST(ServerPipelineTest, OpsOnFieldsAreNotWhatWantsImagesOfOneSize) {
  v1::Pipeline pipeline;
  pipeline.add_ops()->mutable_resize()->add_size(256);
  v1::Op& cast = *pipeline.add_ops();
  cast.set_placement(v1::PLACEMENT_SERVER);
  cast.mutable_to_dtype()->set_field("label");
  cast.mutable_to_dtype()->set_dtype(v1::DTYPE_FLOAT32);
  EXPECT_THAT(ServerPipeline::Create(pipeline, kFolder).status().message(), HasSubstr("also after Resize; end with"));
}

}  // namespace
}  // namespace stoker
