// Several images of one sample, and datasets whose images went through ops before.

#include <algorithm>

#include "common/ops/ops.h"
#include "common/pipeline/device_pipeline.h"
#include "common/pipeline/pipeline.h"
#include "common/pipeline/server_pipeline.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const SourceSchema kLabelled = {{.name = "id", .dtype = v1::DTYPE_INT64},
                                {.name = "image", .kind = SourceField::Kind::kEncodedImage},
                                {.name = "label", .dtype = v1::DTYPE_INT64}};

v1::Pipeline ParseViews(const std::string& text) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  return pipeline;
}

const char kDino[] =
    "views { name: 'global' count: 2 ops { random_resized_crop { size: 224 } } ops { random_horizontal_flip {} } } "
    "views { name: 'local' count: 6 ops { random_resized_crop { size: 96 } } } "
    "views { name: 'image' ops { center_crop { size: 8 } } }";

std::string ErrorOf(const std::string& pipeline, const SourceSchema& schema = kLabelled) {
  const auto server = ServerPipeline::Create(ParseViews(pipeline), schema);
  EXPECT_EQ(server.status().code(), absl::StatusCode::kInvalidArgument) << pipeline;
  return std::string(server.status().message());
}

TEST(ViewsTest, TakeTheImagesPlace) {
  const auto server = ServerPipeline::Create(ParseViews(kDino), kLabelled);
  ASSERT_TRUE(server.ok()) << server.status();
  std::vector<std::string> names;
  for (const auto& output : server->outputs()) names.push_back(output.field.name());
  EXPECT_THAT(names, ElementsAre("id", "global", "local", "image", "label"));
  const auto &global = server->outputs()[1], &local = server->outputs()[2], &center = server->outputs()[3];
  EXPECT_THAT(global.field.shape(), ElementsAre(2, 224, 224, 3));
  EXPECT_THAT(local.field.shape(), ElementsAre(6, 96, 96, 3));
  EXPECT_THAT(center.field.shape(), ElementsAre(1, 8, 8, 3));
  EXPECT_EQ(local.bytes, 6 * 96 * 96 * 3);
  EXPECT_EQ(server->sample_bytes(), 2 * 224 * 224 * 3 + 6 * 96 * 96 * 3 + 8 * 8 * 3 + 16);
  EXPECT_THAT((std::vector<int>{global.views, local.views, center.views, server->outputs()[0].views}),
              ElementsAre(0, 1, 2, -1));
  EXPECT_THAT((std::vector<uint32_t>{global.first_view, local.first_view, center.first_view}), ElementsAre(0, 2, 8));
  EXPECT_THAT((std::vector<uint32_t>{global.view_count, local.view_count, center.view_count}), ElementsAre(2, 6, 1));
  for (const auto* output : {&global, &local, &center}) {
    EXPECT_TRUE(output->image);
    EXPECT_EQ(output->source, 1);
    EXPECT_EQ(output->field.dtype(), v1::DTYPE_UINT8);
  }
}

TEST(ViewsTest, TakeTheImagesPlaceAmongChosenFields) {
  const auto server = ServerPipeline::Create(ParseViews(std::string(kDino) + "fields: ['image', 'id']"), kLabelled);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(server->outputs().front().field.name(), "global");
  EXPECT_EQ(server->outputs().back().field.name(), "id");
}

TEST(ViewsTest, EachDrawsByItsNumber) {
  const auto server = ServerPipeline::Create(ParseViews(kDino), kLabelled);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto &global = server->outputs()[1], &local = server->outputs()[2];
  const ImageSize size = {375, 500};
  EXPECT_NE(*server->Draw(global, 0, size, 1, 0, 0), *server->Draw(global, 1, size, 1, 0, 0));
  // Its group's second and third views are the fourth and fifth of all.
  for (uint32_t view : {1, 2}) {
    ImageSize after = size;
    std::vector<OpParameters> alone;
    ASSERT_TRUE(DrawOp(server->pipeline().views(1).ops(0), {.seed = 1, .epoch = 2, .position = 3, .view = 2 + view},
                       after, alone)
                    .ok());
    EXPECT_EQ(*server->Draw(local, view, size, 1, 2, 3), alone);
  }
}

TEST(ViewsTest, TheFirstDrawsWhatAPipelineWithoutViewsDraws) {
  const auto views = ServerPipeline::Create(ParseViews(kDino), kLabelled);
  const auto plain = ServerPipeline::Create(DefaultPipeline(), kLabelled);
  for (uint64_t position = 0; position < 20; ++position)
    EXPECT_EQ(*views->Draw(views->outputs()[1], 0, {375, 500}, 1, 0, position),
              *plain->Draw(plain->outputs()[1], 0, {375, 500}, 1, 0, position));
}

TEST(ViewsTest, ErrorsNameTheGroup) {
  EXPECT_EQ(ErrorOf("views { name: 'a' ops { center_crop { size: 8 } } ops { color_jitter { hue: 2 } } }"),
            "pipeline.views[0].ops[1]: ColorJitter.hue: 2 is not between 0 and 0.5");
  EXPECT_EQ(ErrorOf("views { ops { center_crop { size: 8 } } }"), "pipeline.views[0].name: must be given");
  EXPECT_EQ(ErrorOf("views { name: 'a' count: 0 }"), "pipeline.views[0].count: 0 is not between 1 and 64");
  EXPECT_EQ(ErrorOf("views { name: 'a' count: 65 }"), "pipeline.views[0].count: 65 is not between 1 and 64");
  EXPECT_EQ(ErrorOf("views { name: 'a' } views { name: 'a' }"), "pipeline.views[1].name: 'a' stands twice");
  EXPECT_EQ(ErrorOf("views { name: 'label' ops { center_crop { size: 8 } } }"),
            "pipeline.views[0].name: 'label' is another field that is sent");
  EXPECT_EQ(ErrorOf("views { name: 'a' ops { resize { size: 8 } } }"),
            "pipeline.views[0].ops: the images of field 'a' would differ in size from sample to sample, also after "
            "Resize; end "
            "with RandomResizedCrop or CenterCrop, or a Resize to height and width");
  EXPECT_EQ(ErrorOf("views { name: 'a' ops { center_crop { size: 8 } } ops { to_dtype { dtype: DTYPE_FLOAT32 } } }"),
            "pipeline.views[0].ops[1]: ToDtype: a view's ops on the device change images of uint8; put it into "
            "pipeline.ops, with the view's name in `field`");
  EXPECT_EQ(
      ErrorOf("views { name: 'a' ops { center_crop { size: 8 } } ops { to_memory_format {} } }"),
      "pipeline.views[0].ops[1]: ToMemoryFormat: a view's ops on the device change images of uint8; leave it out");
  EXPECT_EQ(
      ErrorOf("views { name: 'a' ops { placement: PLACEMENT_DEVICE random_invert {} } }"),
      "pipeline.views[0].ops[0]: RandomInvert needs images of one size, and those of field 'a' would differ in "
      "size from sample to sample; put RandomResizedCrop or CenterCrop, or a Resize to height and width, before it");
  EXPECT_EQ(ErrorOf("views { name: 'a' ops { center_crop { size: 8 } } } ops { random_invert {} }"),
            "pipeline.ops[0]: RandomInvert: where pipeline.views are given, only ops that name a field stand here; "
            "move it into the views that need it");
  EXPECT_THAT(ErrorOf("views { name: 'a' ops { center_crop { size: 8 } } } fields: 'label'"),
              HasSubstr("pipeline.views: need an image, and no field that is sent is one"));
  std::string many;
  for (int i = 0; i < 17; ++i) many += "views { name: '" + std::to_string(i) + "' } ";
  EXPECT_EQ(ErrorOf(many), "pipeline.views: 17 groups, at most 16");
  SourceSchema two = kLabelled;
  two.push_back({.name = "other", .kind = SourceField::Kind::kEncodedImage});
  EXPECT_THAT(ErrorOf("views { name: 'a' ops { center_crop { size: 8 } } }", two), HasSubstr("pipeline.fields"));
}

TEST(ViewsTest, OpsOnTheDeviceAreDrawnAsTheServersAre) {
  const std::string begin =
      "views { name: 'first' ops { center_crop { size: 8 } } } views { name: 'a' count: 3 ops { center_crop { size: 8 "
      "} } ";
  const std::string flip = "random_horizontal_flip {} } ops { ", crop = "random_crop { size: 5 } } ";
  const v1::Pipeline there = ParseViews(begin + "ops { " + flip + crop + "}");
  const v1::Pipeline here =
      ParseViews(begin + "ops { placement: PLACEMENT_DEVICE " + flip + "placement: PLACEMENT_DEVICE " + crop + "}");
  const auto on_server = ServerPipeline::Create(there, kLabelled), before = ServerPipeline::Create(here, kLabelled);
  ASSERT_TRUE(on_server.ok() && before.ok()) << on_server.status() << before.status();
  EXPECT_EQ(WholeHash(there), WholeHash(here)) << "a cursor stays valid where an op moves";
  EXPECT_NE(ServerPart(there), ServerPart(here));
  std::vector<v1::Field> sent;
  for (const auto& output : before->outputs()) sent.push_back(output.field);
  EXPECT_EQ(sent[2].shape(1), 8);
  const auto device = DevicePipeline::Create(here, sent);
  ASSERT_TRUE(device.ok()) << device.status();
  ASSERT_EQ(device->views().size(), 1) << "the first view has no op here";
  EXPECT_EQ(device->views()[0].first_view, 1);
  EXPECT_THAT(device->fields()[2].shape(), testing::ElementsAre(3, 5, 5, 3));
  int flipped = 0;
  for (uint64_t position = 0; position < 20; ++position)
    for (uint32_t view = 0; view < 3; ++view) {
      const SampleDraw draw = device->DrawOf(2, view, 1, 2, position);
      const auto ops = *on_server->Draw(on_server->outputs()[2], view, {8, 8}, 1, 2, position);
      const auto is_flip = [](const OpParameters& op) { return std::holds_alternative<FlipParameters>(op); };
      const bool flips = std::any_of(ops.begin(), ops.end(), is_flip);
      flipped += flips ? 1 : 0;
      const auto& crop_there = std::get<CropParameters>(ops.back());
      const GatherDraw& here_drawn = std::get<GatherDraw>(draw.steps.at(0));
      EXPECT_EQ(here_drawn.matrix[0], flips ? -1 : 1);
      EXPECT_EQ(here_drawn.matrix[5], crop_there.top);
      EXPECT_EQ(here_drawn.matrix[2], flips ? 8 - crop_there.left : crop_there.left);
    }
  EXPECT_GT(flipped, 10);
  EXPECT_LT(flipped, 50);
}

TEST(ViewsTest, WhatCannotTakeAnImageIsNamedByItsPath) {
  const auto server = ServerPipeline::Create(
      ParseViews(
          "views { name: 'a' ops { center_crop { size: 8 } } } views { name: 'b' ops { random_crop { size: 99 } } }"),
      kLabelled);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto drawn = server->Draw(server->outputs()[2], 0, {9, 9}, 1, 0, 0);
  EXPECT_EQ(drawn.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(drawn.status().message(), HasSubstr("pipeline.views[1].ops[0]: RandomCrop.size"));
}

TEST(ViewsTest, HashesCoverThem) {
  const std::string server = ServerPart(ParseViews(kDino));
  const uint64_t whole = WholeHash(ParseViews(kDino));
  const std::string text = kDino;
  auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return ParseViews(changed);
  };
  for (const auto& changed :
       {with("count: 2", "count: 3"), with("'global'", "'globe'"), with("size: 96", "size: 97")}) {
    EXPECT_NE(ServerPart(changed), server) << changed.ShortDebugString();
    EXPECT_NE(WholeHash(changed), whole) << changed.ShortDebugString();
  }
  for (const auto& same : {with("name: 'image'", "name: 'image' count: 1"), with("flip {}", "flip { p: 0.5 }"),
                           with("random_horizontal_flip", "placement: PLACEMENT_SERVER random_horizontal_flip")}) {
    EXPECT_EQ(ServerPart(same), server) << same.ShortDebugString();
    EXPECT_EQ(WholeHash(same), whole) << same.ShortDebugString();
  }
}

SourceSchema Prepared(const std::string& ops) {
  SourceSchema schema = kLabelled;
  const v1::Pipeline preparation = ParseViews(ops);
  schema[1].prepared.assign(preparation.ops().begin(), preparation.ops().end());
  schema[1].prepared_settings = DecodeSettings(preparation);
  return schema;
}

const char kPreparation[] = "ops { resize { size: 256 } } ops { center_crop { size: 240 } }";

TEST(PreparedTest, OpsThatWereAppliedAreNotAppliedAgain) {
  const std::string pipeline =
      "ops { resize { size: 256 antialias: true } } ops { center_crop { size: [240, 240] } } "
      "ops { random_crop { size: 224 } } ops { color_jitter { brightness: 0.5 } }";
  const auto plain = ServerPipeline::Create(ParseViews(pipeline), kLabelled);
  const auto prepared = ServerPipeline::Create(ParseViews(pipeline), Prepared(kPreparation));
  ASSERT_TRUE(plain.ok()) << plain.status();
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ(prepared->outputs()[1].field.DebugString(), plain->outputs()[1].field.DebugString());
  EXPECT_EQ(prepared->outputs()[1].first_op, 2);
  // The ops that are left draw as they would have: by their places in the pipeline as declared.
  const auto all = *plain->Draw(plain->outputs()[1], 0, {500, 375}, 1, 2, 3);
  const auto rest = *prepared->Draw(prepared->outputs()[1], 0, {240, 240}, 1, 2, 3);
  ASSERT_EQ(all.size(), 4);
  EXPECT_EQ(rest, std::vector<OpParameters>(all.begin() + 2, all.end()));
}

TEST(PreparedTest, APipelineBeginsWithThem) {
  const SourceSchema schema = Prepared(kPreparation);
  const std::string expected = "the dataset was prepared with Resize, CenterCrop; begin with these";
  EXPECT_THAT(ErrorOf("ops { resize { size: 255 } } ops { center_crop { size: 240 } }", schema),
              testing::AllOf(HasSubstr(expected),
                             HasSubstr("pipeline.ops[0] must be resize { size: 256 }, found another Resize")));
  EXPECT_THAT(ErrorOf("ops { resize { size: 256 } } ops { random_crop { size: 240 } }", schema),
              testing::AllOf(HasSubstr(expected), HasSubstr("pipeline.ops[1]")));
  EXPECT_THAT(ErrorOf("ops { resize { size: 256 } }", schema),
              testing::AllOf(HasSubstr(expected), HasSubstr("found nothing")));
  EXPECT_THAT(ErrorOf("", schema), HasSubstr(expected));
  EXPECT_TRUE(ServerPipeline::Create(ParseViews(kPreparation), schema).ok());
  EXPECT_TRUE(ServerPipeline::Create(ParseViews("fields: 'label'"), schema).ok());
}

TEST(PreparedTest, APipelineDecodesAsItWasPrepared) {
  const SourceSchema schema = Prepared(kPreparation);
  for (const char* setting :
       {"jpeg_scaling: JPEG_SCALING_K1", "decode_warnings: DECODE_WARNINGS_FAIL", "limits { max_pixels: 1000 }"}) {
    const std::string key(setting, std::string(setting).find_first_of(": "));
    EXPECT_THAT(ErrorOf(std::string(kPreparation) + setting, schema),
                HasSubstr("pipeline." + key + ": the dataset was prepared with"));
  }
  EXPECT_TRUE(
      ServerPipeline::Create(ParseViews(std::string(kPreparation) + "jpeg_scaling: JPEG_SCALING_K2"), schema).ok());
}

TEST(PreparedTest, EachGroupOfViewsBeginsWithThem) {
  const SourceSchema schema = Prepared("ops { resize { size: 256 } }");
  const std::string good = "views { name: 'a' ops { resize { size: 256 } } ops { random_crop { size: 224 } } } ";
  const auto server = ServerPipeline::Create(ParseViews(good), schema);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(server->Draw(server->outputs()[1], 0, {256, 300}, 1, 0, 0)->size(), 1);
  EXPECT_THAT(ErrorOf(good + "views { name: 'b' ops { random_crop { size: 224 } } }", schema),
              HasSubstr("pipeline.views[1].ops: the dataset was prepared with Resize"));
}

TEST(ViewsTest, OpsOnTheDeviceMayNameAView) {
  const std::string views =
      "views { name: 'a' count: 2 ops { center_crop { size: 8 } } } views { name: 'b' ops { center_crop { size: 4 } } "
      "} ";
  const auto server =
      ServerPipeline::Create(ParseViews(views + "ops { to_dtype { field: 'a' dtype: DTYPE_FLOAT16 scale: true } } "
                                                "ops { normalize { field: 'a' mean: [0.5, 0.4, 0.3] std: 0.2 } } "
                                                "ops { one_hot { field: 'label' num_classes: 3 } }"),
                             kLabelled);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(server->outputs()[1].field.dtype(), v1::DTYPE_UINT8);
  EXPECT_EQ(
      ErrorOf(views + "ops { to_dtype { dtype: DTYPE_FLOAT16 } }"),
      "pipeline.ops[0]: ToDtype: where pipeline.views are given, only ops that name a field stand here; name a view "
      "in `field`");
  EXPECT_EQ(ErrorOf(views + "ops { to_dtype { dtype: DTYPE_FLOAT16 field: 'c' } }"),
            "pipeline.ops[0]: ToDtype: field 'c' is not sent; name another in `field`");
}

TEST(ViewsTest, NumbersBesideThemMayBeConvertedByTheServer) {
  const std::string cast = "ops { placement: PLACEMENT_SERVER to_dtype { field: 'label' dtype: DTYPE_FLOAT32 } } ";
  const auto server =
      ServerPipeline::Create(ParseViews("views { name: 'a' ops { center_crop { size: 8 } } } " + cast), kLabelled);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(server->outputs()[2].field.dtype(), v1::DTYPE_FLOAT32);
  EXPECT_EQ(ErrorOf("views { name: 'a' ops { center_crop { size: 8 } } " + cast + "}"),
            "pipeline.views[0].ops[1]: ToDtype.field: a view's ops are its own; move it into pipeline.ops");
}

}  // namespace
}  // namespace stoker
