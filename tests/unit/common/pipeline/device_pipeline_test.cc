#include "common/pipeline/device_pipeline.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/ops/ops.h"
#include "common/pipeline/server_pipeline.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

std::vector<v1::Field> ImageAndLabel() {
  v1::Field image, label;
  image.set_name("image"), image.set_dtype(v1::DTYPE_UINT8);
  for (int extent : {4, 6, 3}) image.add_shape(extent);
  label.set_name("label"), label.set_dtype(v1::DTYPE_INT64);
  return {image, label};
}

absl::StatusOr<DevicePipeline> Create(const std::string& text) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  return DevicePipeline::Create(pipeline, ImageAndLabel());
}

TEST(DevicePipelineTest, WithoutDeviceOpsBatchesStayAsTheyCame) {
  const auto device = Create("ops { center_crop { size: 4 } }");
  ASSERT_TRUE(device.ok());
  EXPECT_TRUE(device->identity());
}

TEST(DevicePipelineTest, FoldsCastScaleAndNormalizeIntoOneMultiplication) {
  const auto device = Create(
      "ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true } } ops { normalize { mean: [0.5, 0.25, 0] std: [0.5, 1, 2] } "
      "} "
      "ops { to_memory_format {} }");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_FLOAT_EQ(device->image().scale[0] * 255 + device->image().bias[0], 1);
  EXPECT_FLOAT_EQ(device->image().bias[1], -0.25);
  EXPECT_FLOAT_EQ(device->image().scale[2], 1 / 510.0);
  EXPECT_THAT(device->fields()[0].shape(), testing::ElementsAre(3, 4, 6));
  EXPECT_EQ(device->fields()[0].dtype(), v1::DTYPE_FLOAT32);
  EXPECT_EQ(device->fields()[1].dtype(), v1::DTYPE_INT64);
}

TEST(DevicePipelineTest, RefusesNormalizeOnWholeNumbers) {
  EXPECT_EQ(Create("ops { normalize { mean: 0 std: 1 } }").status().message(),
            "pipeline.ops[0]: Normalize: needs ToDtype to float32, float16 or bfloat16 before it");
}

TEST(DevicePipelineTest, DrawsTheFlipsThatTheServerWouldDraw) {
  const auto device = Create("ops { placement: PLACEMENT_DEVICE random_horizontal_flip {} }");
  ASSERT_TRUE(device.ok());
  v1::Pipeline on_server;
  on_server.add_ops()->mutable_random_horizontal_flip();
  const auto server =
      ServerPipeline::Create(on_server, {{.name = "image", .dtype = v1::DTYPE_UINT8, .shape = {4, 6, 3}}});
  for (uint64_t position = 0; position < 100; ++position)
    EXPECT_EQ(device->Draw(7, 1, position).flips.horizontal,
              !server->Draw(server->outputs()[0], 0, {4, 6}, 7, 1, position)->empty());
}

std::string Refusal(const std::string& text) { return std::string(Create(text).status().message()); }

// Names of the steps, and of each its ops.
std::string Steps(const std::string& text) {
  const auto device = Create(text);
  EXPECT_TRUE(device.ok()) << device.status();
  std::string steps;
  for (const DeviceStep& step : device->image().steps) {
    const char* const names[] = {"gather", "colors", "blur", "mask", "erase", "resample", "sharpen"};
    absl::StrAppend(&steps, steps.empty() ? "" : ", ", names[static_cast<int>(step.kind)], " ",
                    absl::StrJoin(step.ops, "+"));
  }
  return steps;
}

// Ops on the device.
std::string OnDevice(const std::vector<std::string>& ops) {
  std::string text;
  for (const std::string& op : ops) absl::StrAppend(&text, "ops { placement: PLACEMENT_DEVICE ", op, " } ");
  return text;
}

TEST(DevicePipelineTest, GeometricOpsShareAPassWhereOneGatherShowsThem) {
  const std::string crop = "random_crop { size: 4 }", pad = "pad { padding: 1 }";
  const std::string resize = "resize { size: [5, 5] antialias: false }";
  const std::string turn = "random_rotation { degrees: 9 }", flip = "random_horizontal_flip {}";
  EXPECT_EQ(Steps(OnDevice({crop, resize, turn, flip})), "gather 0+1+2+3");
  EXPECT_EQ(Steps(OnDevice({"random_resized_crop { size: 3 antialias: false }", flip})), "gather 0+1");
  EXPECT_EQ(Steps(OnDevice({"random_crop { size: 4 padding: 2 }", flip, turn})), "gather 0+1, gather 2");
  EXPECT_EQ(Steps(OnDevice({resize, resize})), "gather 0, gather 1");
  EXPECT_EQ(Steps(OnDevice({turn, crop, turn})), "gather 0+1, gather 2");
  EXPECT_EQ(Steps(OnDevice({turn, pad})), "gather 0, gather 1");
  EXPECT_EQ(Steps(OnDevice({resize, pad})), "gather 0+1");
  EXPECT_EQ(Steps(OnDevice({resize, crop, flip, crop})), "gather 0+1+2+3");
  EXPECT_EQ(Steps(OnDevice({resize, crop, pad})), "gather 0+1, gather 2");
  EXPECT_EQ(Steps(OnDevice({resize, crop, flip, turn})), "gather 0+1+2, gather 3");
  EXPECT_EQ(Steps(OnDevice({crop, resize, pad})), "gather 0+1+2");
  EXPECT_EQ(Steps(OnDevice({resize, "pad { padding: 1 padding_mode: PADDING_MODE_EDGE }"})), "gather 0, gather 1");
}

TEST(DevicePipelineTest, ResizesThatWeighMorePixelsHavePassesOfTheirOwn) {
  const std::string crop = "random_resized_crop { size: 3 }", flip = "random_horizontal_flip {}";
  EXPECT_EQ(Steps(OnDevice({crop, flip})), "resample 0");
  EXPECT_EQ(Steps(OnDevice({flip, crop, "random_rotation { degrees: 9 }"})), "gather 0, resample 1, gather 2");
  EXPECT_EQ(Steps(OnDevice({"resize { size: [5, 5] interpolation: INTERPOLATION_BICUBIC antialias: false }"})),
            "resample 0");
  EXPECT_EQ(Steps(OnDevice({"resize { size: [5, 5] interpolation: INTERPOLATION_NEAREST }"})), "gather 0");
}

// There is one of each change that a policy may draw: geometry, colors, sharpness.
TEST(DevicePipelineTest, PoliciesHaveAPassForEachKindOfChange) {
  const std::string flip = "random_horizontal_flip {}", gray = "random_grayscale {}";
  EXPECT_EQ(Steps(OnDevice({flip, "trivial_augment_wide {}", gray})),
            "gather 0, gather 1, colors 1, sharpen 1, colors 2");
  EXPECT_EQ(Steps(OnDevice({gray, "auto_augment {}", flip})),
            "colors 0, gather 1, colors 1, sharpen 1, gather 1, colors 1, sharpen 1");
  EXPECT_EQ(Steps(OnDevice({"rand_augment { num_ops: 0 }", gray, gray})), "colors 1+2");
}

TEST(DevicePipelineTest, ColorOpsShareAPassWithOneMean) {
  const std::string jitter = "color_jitter { contrast: 0.5 }", gray = "random_grayscale {}";
  EXPECT_EQ(Steps(OnDevice({jitter, gray, "adjust_hue { hue_factor: 0.1 }"})), "colors 0+1+2");
  EXPECT_EQ(Steps(OnDevice({jitter, "adjust_contrast { contrast_factor: 2 }"})), "colors 0, colors 1");
  EXPECT_EQ(Steps(OnDevice({"color_jitter { hue: 0.5 }", "color_jitter { hue: 0.5 }", gray})), "colors 0+1, colors 2");
  EXPECT_EQ(Steps(OnDevice({gray, "random_equalize {}", gray, jitter})), "colors 0+1+2, colors 3");
  EXPECT_EQ(Steps(OnDevice({"random_equalize {}", "random_autocontrast {}"})), "colors 0, colors 1");
  EXPECT_EQ(Steps(OnDevice({"random_adjust_sharpness { sharpness_factor: 2 }", gray})), "sharpen 0, colors 1");
  EXPECT_EQ(Steps(OnDevice({"random_mask { ratio: 0.5 }", "gaussian_blur { kernel_size: 3 }", "random_erasing {}"})),
            "mask 0, blur 1, erase 2");
}

TEST(DevicePipelineTest, FlipsAtTheEndAreTheOutputs) {
  EXPECT_EQ(Steps(OnDevice({"color_jitter { hue: 0.5 }", "random_horizontal_flip {}", "random_vertical_flip {}"})),
            "colors 0");
  EXPECT_EQ(Steps(OnDevice({"random_horizontal_flip {}", "color_jitter { hue: 0.5 }"})), "gather 0, colors 1");
}

TEST(DevicePipelineTest, OpsInsideOfOthersDrawWhatTheServerDraws) {
  const std::string op =
      "random_choice { transforms { random_apply { p: 0.7 transforms { color_jitter { brightness: 0.5 hue: 0.2 } } "
      "transforms { random_rotation { degrees: 30 } } } } transforms { random_rotation { degrees: 90 } } }";
  const auto device = Create(OnDevice({op}));
  ASSERT_TRUE(device.ok()) << device.status();
  v1::Pipeline on_server;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString("ops { " + op + " }", &on_server));
  const auto server =
      ServerPipeline::Create(on_server, {{.name = "image", .dtype = v1::DTYPE_UINT8, .shape = {4, 6, 3}}});
  int colors = 0, turns = 0;
  for (uint64_t position = 0; position < 200; ++position) {
    const SampleDraw draw = device->Draw(7, 1, position);
    std::vector<std::array<double, 6>> drawn, expected;
    int changes = 0, expected_changes = 0;
    for (const StepDraw& step : draw.steps) {
      if (const auto* gather = std::get_if<GatherDraw>(&step); gather && gather->matrix != GatherDraw().matrix)
        drawn.push_back(gather->matrix);
      if (const auto* change = std::get_if<ColorsDraw>(&step)) changes += change->count;
    }
    const auto parameters = server->Draw(server->outputs()[0], 0, {4, 6}, 7, 1, position);
    for (const OpParameters& parameter : *parameters) {
      if (const auto* gather = std::get_if<AffineParameters>(&parameter)) expected.push_back(gather->matrix);
      expected_changes += std::holds_alternative<ColorParameters>(parameter);
    }
    EXPECT_EQ(drawn, expected) << position;
    EXPECT_EQ(changes, expected_changes) << position;
    colors += changes > 0, turns += !drawn.empty();
  }
  EXPECT_GT(colors, 20);
  EXPECT_GT(turns, 60);
  EXPECT_LT(turns, 195);
}

TEST(DevicePipelineTest, AnyNumberOfChannels) {
  v1::Field image;
  image.set_name("image"), image.set_dtype(v1::DTYPE_UINT8);
  for (int extent : {4, 6, 5}) image.add_shape(extent);
  const auto create = [&](const std::string& text) {
    v1::Pipeline pipeline;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
    return DevicePipeline::Create(pipeline, {image});
  };
  const std::string floats = "ops { to_dtype { dtype: DTYPE_BFLOAT16 } } ";
  const auto device =
      create(floats + "ops { normalize { mean: 0 std: [1, 2, 4, 8, 16] } } ops { to_memory_format {} }");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_THAT(device->image().scale, testing::ElementsAre(1, 0.5, 0.25, 0.125, 0.0625));
  EXPECT_THAT(device->fields()[0].shape(), testing::ElementsAre(5, 4, 6));
  EXPECT_EQ(device->fields()[0].dtype(), v1::DTYPE_BFLOAT16);
  EXPECT_TRUE(create(OnDevice({"random_crop { size: 9 padding: 9 fill: 7 }", "random_erasing { value: 3 }"})).ok());
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {floats + "ops { normalize { mean: [1, 2, 3] std: 1 } }",
            "pipeline.ops[1]: Normalize: give one number or one a channel (5); found 3"},
           {OnDevice({"color_jitter { hue: 0.5 }"}),
            "pipeline.ops[0]: ColorJitter: needs three channels, and the image has 5"},
           {OnDevice({"pad { padding: 1 fill: [1, 2, 3] }"}),
            "pipeline.ops[0]: Pad: give one number for all of the image's 5 channels"}})
    EXPECT_EQ(create(text).status().message(), message);
}

TEST(DevicePipelineTest, ErasesAfterToDtypeInUnitsOfWhatFollows) {
  const auto device = Create(
      "ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true } } "
      "ops { placement: PLACEMENT_DEVICE random_erasing { p: 1 value: [0.5, 1, 0] } } "
      "ops { normalize { mean: 0.5 std: 0.25 } }");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_TRUE(device->image().erases);
  EXPECT_THAT(device->image().erase_value, testing::ElementsAre(0, 2, -2));
  EXPECT_FALSE(device->image().erases_with_noise);
}

TEST(DevicePipelineTest, NoiseHasTheUnitsOfWhatItFinds) {
  const std::string erase = "ops { placement: PLACEMENT_DEVICE random_erasing { p: 1 noise: true } } ";
  const std::string cast = "ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true } } ";
  const std::string normalize = "ops { normalize { mean: 0.5 std: 0.25 } } ";
  const auto before = Create(cast + erase + normalize), after = Create(cast + normalize + erase);
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_THAT(before->image().erase_scale, testing::ElementsAre(4, 4, 4));
  EXPECT_THAT(before->image().erase_value, testing::ElementsAre(-2, -2, -2));
  EXPECT_THAT(after->image().erase_scale, testing::ElementsAre(1, 1, 1));
  EXPECT_THAT(after->image().erase_value, testing::ElementsAre(0, 0, 0));
}

TEST(DevicePipelineTest, PoliciesDrawWhatTheServerDraws) {
  for (const std::string op :
       {"rand_augment { num_ops: 4 }", "trivial_augment_wide {}", "auto_augment {}",
        "random_apply { transforms { rand_augment {} } transforms { trivial_augment_wide {} } }"}) {
    const auto device = Create(OnDevice({op}));
    ASSERT_TRUE(device.ok()) << device.status();
    v1::Pipeline on_server;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString("ops { " + op + " }", &on_server));
    const auto server =
        ServerPipeline::Create(on_server, {{.name = "image", .dtype = v1::DTYPE_UINT8, .shape = {4, 6, 3}}});
    int different = 0;
    for (uint64_t position = 0; position < 200; ++position) {
      std::string drawn, expected;  // The kinds of changes, in order.
      for (const StepDraw& step : device->Draw(7, 1, position).steps) {
        if (std::holds_alternative<GatherDraw>(step)) drawn += 'g';
        if (const auto* colors = std::get_if<ColorsDraw>(&step)) drawn.append(colors->count, 'c');
        if (const auto* sharpen = std::get_if<SharpenDraw>(&step)) drawn += absl::StrCat(sharpen->factor);
      }
      const auto parameters = server->Draw(server->outputs()[0], 0, {4, 6}, 7, 1, position);
      for (const OpParameters& parameter : *parameters) {
        const auto* sharpness = std::get_if<SharpnessParameters>(&parameter);
        if (sharpness != nullptr) {
          expected += absl::StrCat(static_cast<float>(sharpness->factor));
        } else {
          expected += std::holds_alternative<ColorParameters>(parameter) ? 'c' : 'g';
        }
      }
      EXPECT_EQ(drawn, expected) << op << position;
      different += drawn != "g" && drawn != "c";
    }
    EXPECT_GT(different, 5) << op;
  }
}

TEST(DevicePipelineTest, OtherFieldsChangeTheirSchema) {
  const auto mixed = Create("ops { cut_mix { num_classes: 9 } } ops { to_memory_format {} }");
  ASSERT_TRUE(mixed.ok()) << mixed.status();
  EXPECT_EQ(mixed->fields()[1].dtype(), v1::DTYPE_FLOAT32);
  EXPECT_THAT(mixed->fields()[1].shape(), testing::ElementsAre(9));
  EXPECT_EQ(mixed->source_fields()[1].dtype(), v1::DTYPE_INT64);
  EXPECT_TRUE(mixed->image().mixes_rectangles && !mixed->image().mixes_pixels);
  const auto bits = Create("ops { unpack_bits { field: 'image' shape: [4, 6, 3, 8] } }");
  ASSERT_TRUE(bits.ok()) << bits.status();
  EXPECT_THAT(bits->fields()[0].shape(), testing::ElementsAre(4, 6, 3, 8));
  EXPECT_EQ(bits->image().field, -1);
}

TEST(DevicePipelineTest, RefusalsNameTheOpAndWhatToDo) {
  const std::string floats = "ops { to_dtype { dtype: DTYPE_FLOAT16 } } ", mix = "ops { mix_up { num_classes: 9 } } ";
  const std::pair<std::string, std::string> cases[] = {
      {OnDevice({"random_crop { size: 8 }"}),
       "pipeline.ops[0]: RandomCrop.size: an image of 6×4, with padding 6×4, is smaller than the crop of "
       "8×8; set pad_if_needed, or Resize first"},
      {OnDevice({"resize { size: 8 interpolation: INTERPOLATION_LANCZOS }"}),
       "pipeline.ops[0]: Resize: lanczos does not run on the device; choose another interpolation, or run it on the "
       "server"},
      {OnDevice({"resize { size: [4, 4096] antialias: false }", "resize { size: [4, 7] }"}),
       "pipeline.ops[1]: Resize: reduces an image of 4096×4 to 7×4, which is too much for the device; run it on the "
       "server"},
      {OnDevice({"rand_augment { num_ops: 64 }", "rand_augment { num_ops: 64 }", "rand_augment { num_ops: 64 }",
                 "rand_augment { num_ops: 64 }", "rand_augment { num_ops: 64 }", "rand_augment { num_ops: 64 }"}),
       "pipeline.ops[5]: RandAugment: the device's ops would take more than 1024 passes; run some of them on the "
       "server"},
      {OnDevice({"random_apply { transforms { center_crop { size: 2 } } p: 1 }"}),
       "pipeline.ops[0]: RandomApply.transforms: CenterCrop: inside of another op it must not change the "
       "image's size on the device; run it on the server"},
      {OnDevice({"resize { size: 16384 }", "resize { size: [16384, 16384] }"}),
       "pipeline.ops[0]: Resize.size: an image of 6×4 would become 24576×16384, more than 16384 a side; set "
       "max_size"},
      {OnDevice({"resize { size: [16384, 16384] }"}),
       "pipeline.ops[0]: Resize: field 'image': shape 16384×16384×3 is empty or above 268435456 bytes"},
      {floats + OnDevice({"center_crop { size: 2 }"}),
       "pipeline.ops[1]: CenterCrop: works on uint8 on the device; move it before ToDtype"},
      {floats + OnDevice({"random_erasing {}", "random_erasing {}"}),
       "pipeline.ops[2]: RandomErasing: move it before RandomErasing, of which one may follow ToDtype"},
      {floats + OnDevice({"random_erasing {}", "random_vertical_flip {}"}),
       "pipeline.ops[2]: RandomVerticalFlip: move it before RandomErasing, of which one may follow ToDtype"},
      {floats + floats, "pipeline.ops[1]: ToDtype: the image is float16 already"},
      {mix, "pipeline.ops[0]: MixUp: needs ToDtype to float32, float16 or bfloat16 before it"},
      {floats + mix + "ops { normalize { mean: 0 std: 1 } }",
       "pipeline.ops[2]: Normalize: images are mixed last; move it before MixUp, CutMix"},
      {floats + mix + mix, "pipeline.ops[2]: MixUp: images are mixed last; move it before MixUp, CutMix"},
      {floats + mix + "ops { one_hot { num_classes: 9 } }",
       "pipeline.ops[2]: OneHot: field 'label' is made by another op already; leave one out"},
      {"ops { cut_mix { num_classes: 9 field: 'class' } }",
       "pipeline.ops[0]: CutMix: field 'class' is not sent; name another in `field`"},
      {"ops { cut_mix { num_classes: 9 field: 'image' } }",
       "pipeline.ops[0]: CutMix: field 'image' is not one whole number a sample (labels are made one-hot here)"},
      {"ops { unpack_bits { field: 'label' shape: 64 } }",
       "pipeline.ops[0]: UnpackBits: field 'label' has int64, not uint8"},
      {"ops { unpack_bits { field: 'image' shape: [24, 25] } }",
       "pipeline.ops[0]: UnpackBits: shape has 600 bits, which are 75 bytes, and field 'image' has 72"},
      {"ops { random_apply { transforms { mix_up { num_classes: 9 } } } }",
       "pipeline.ops[0]: RandomApply.transforms[0]: MixUp: stands in no other op"},
      {"ops { placement: PLACEMENT_SERVER mix_up { num_classes: 9 } }",
       "pipeline.ops[0]: MixUp.placement: runs on the device only"},
      {OnDevice({"random_erasing { value: 0.5 }"}),
       "pipeline.ops[0]: RandomErasing.value: 0.5 is not a whole number from 0 to 255; after ToDtype it may be"},
      {OnDevice({"random_erasing { noise: true }"}),
       "pipeline.ops[0]: RandomErasing.noise: is of floats; place the op on the device, after ToDtype to a float type"},
      {floats + OnDevice({"random_erasing { noise: true value: 1 }"}),
       "pipeline.ops[1]: RandomErasing.value: with `noise` values are drawn; leave one of them out"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(Refusal(text), message) << text;
}

TEST(DevicePipelineTest, TheServerRefusesWhatNoDeviceCanRun) {
  v1::Pipeline pipeline;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(OnDevice({"random_crop { size: 8 }"}), &pipeline));
  const SourceSchema schema = {{.name = "image", .dtype = v1::DTYPE_UINT8, .shape = {4, 6, 3}}};
  EXPECT_THAT(ServerPipeline::Create(pipeline, schema).status().message(),
              testing::HasSubstr("pipeline.ops[0]: RandomCrop"));
}

TEST(DevicePipelineTest, NamesALabelThatHasNoClass) {
  const auto device = Create("ops { one_hot { num_classes: 3 } }");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_TRUE(device->CheckClasses(1, std::array<int64_t, 3>{0, 1, 2}.data(), 3).ok());
  EXPECT_EQ(device->CheckClasses(1, std::array<int64_t, 3>{0, 3, -1}.data(), 3).message(),
            "pipeline.ops[0]: OneHot.num_classes: field 'label' has a 3, and 3 classes end at 2");
  EXPECT_FALSE(device->CheckClasses(1, std::array<int64_t, 1>{-1}.data(), 1).ok());
}

// ---- Maps ----

std::vector<v1::Field> WithMaps() {
  std::vector<v1::Field> fields = ImageAndLabel();
  v1::Field map, bits;
  map.set_name("map"), map.set_dtype(v1::DTYPE_INT16), map.set_kind(v1::FIELD_KIND_LABEL_MAP);
  bits.set_name("bits"), bits.set_dtype(v1::DTYPE_UINT8), bits.set_kind(v1::FIELD_KIND_BINARY_MAP);
  for (v1::Field* field : {&map, &bits}) field->add_shape(4), field->add_shape(6), fields.push_back(*field);
  return fields;
}

TEST(DevicePipelineTest, MapsBecomeWhatTheirKindSaysWithoutAnOp) {
  const auto device = DevicePipeline::Create({}, WithMaps());
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_FALSE(device->identity());
  EXPECT_EQ(device->fields()[2].dtype(), v1::DTYPE_INT64);
  EXPECT_EQ(device->fields()[3].dtype(), v1::DTYPE_UINT8);
  for (int map : {2, 3}) {
    EXPECT_THAT(device->fields()[map].shape(), testing::ElementsAre(4, 6));
    EXPECT_EQ(device->fields()[map].kind(), v1::FIELD_KIND_UNSPECIFIED);
  }
  EXPECT_EQ(*ByteSize(device->source_fields()[2]), 48);
  EXPECT_EQ(*ByteSize(device->source_fields()[3]), 3);
  EXPECT_EQ(*ByteSize(device->fields()[3]), 24);
}

TEST(DevicePipelineTest, WhatWouldLeaveAMapBehindIsRefused) {
  const auto message = [](const std::string& text) {
    v1::Pipeline pipeline;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
    return std::string(DevicePipeline::Create(pipeline, WithMaps()).status().message());
  };
  EXPECT_EQ(message("ops { cut_mix { num_classes: 9 } }"),
            "pipeline.ops[0]: CutMix: does not mix 'map', a label_map on the image; leave one of them out");
  const std::string one_hot = "ops { one_hot { field: 'map' num_classes: 9 } } ";
  EXPECT_EQ(message(one_hot + "ops { placement: PLACEMENT_DEVICE random_rotation { degrees: 9 } }"),
            "pipeline.ops[1]: RandomRotation: moves on the device 'map', of which OneHot made something else; place it "
            "on the server");
  EXPECT_EQ(message("ops { placement: PLACEMENT_DEVICE random_rotation { degrees: 9 } } " + one_hot),
            "pipeline.ops[1]: OneHot: field 'map' is moved with its image on the device; place what moves them on the "
            "server");
  EXPECT_EQ(message(one_hot + "ops { cut_mix { num_classes: 9 } }"),
            "pipeline.ops[1]: CutMix: does not mix 'map', a label_map on the image; leave one of them out");
  EXPECT_EQ(message("ops { unpack_bits { field: 'map' shape: 24 } }"),
            "pipeline.ops[0]: UnpackBits: field 'map' is a label_map, and has no bits to unpack");
  EXPECT_EQ(
      message("ops { unpack_bits { field: 'bits' shape: 24 } }"),
      "pipeline.ops[0]: UnpackBits: field 'bits' is a binary_map, whose bits are unpacked without an op; leave it "
      "out");
  EXPECT_EQ(message("ops { placement: PLACEMENT_DEVICE color_jitter { hue: 0.1 } } ops { one_hot { field: 'map' "
                    "num_classes: 9 } } ops { placement: PLACEMENT_DEVICE random_erasing {} }"),
            "");
}

TEST(DevicePipelineTest, WhatMovesTheImageMovesItsMaps) {
  v1::Pipeline pipeline;
  ASSERT_TRUE(
      google::protobuf::TextFormat::ParseFromString(OnDevice({"random_crop { size: 4 }", "color_jitter { hue: 0.1 }",
                                                              "resize { size: [3, 8] }", "random_horizontal_flip {}"}),
                                                    &pipeline));
  const auto device = DevicePipeline::Create(pipeline, WithMaps());
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(device->image().map_moves.size(), 2);
  for (int map : {2, 3}) {
    EXPECT_EQ(device->programs()[map].kind, DevicePipeline::FieldProgram::Kind::kMovedMap);
    EXPECT_THAT(device->fields()[map].shape(), testing::ElementsAre(3, 8));
  }
  int flipped = 0;
  for (uint64_t position = 0; position < 50; ++position) {
    const SampleDraw draw = device->Draw(7, 1, position);
    ASSERT_EQ(draw.map_moves.size(), 2);
    EXPECT_EQ(draw.map_moves[1].matrix[0] < 0, draw.flips.horizontal);
    EXPECT_FALSE(draw.map_moves[0].bilinear || draw.map_moves[1].bilinear);
    flipped += draw.flips.horizontal;
  }
  EXPECT_GT(flipped, 10);
  EXPECT_LT(flipped, 40);
}

TEST(DevicePipelineTest, WithoutAMoveMapsStayAsTheyAre) {
  v1::Pipeline pipeline;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(OnDevice({"rand_augment { num_ops: 0 }"}), &pipeline));
  const auto device = DevicePipeline::Create(pipeline, WithMaps());
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(device->programs()[2].kind, DevicePipeline::FieldProgram::Kind::kWiden);
}

TEST(DevicePipelineTest, WhatFillsAMapMustBeAValueOfIt) {
  std::vector<v1::Field> fields = WithMaps();
  fields[2].set_dtype(v1::DTYPE_UINT8);
  v1::Pipeline pipeline;
  const std::string rotation = "random_rotation { degrees: 9 map_fill: ";
  for (const char* fill : {"-1", "256"}) {
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        OnDevice({"random_apply { transforms { " + rotation + fill + " } } }"}), &pipeline));
    EXPECT_EQ(DevicePipeline::Create(pipeline, fields).status().message(),
              absl::StrCat("pipeline.ops[0]: RandomApply: map_fill: ", fill,
                           " is no value of 'map', which is uint8; set the field's dtype to int16"));
    EXPECT_TRUE(DevicePipeline::Create(pipeline, WithMaps()).ok());
  }
}

// ---- Other fields of numbers ----

absl::StatusOr<DevicePipeline> CreateWithFeatures(const std::string& text, v1::Dtype dtype = v1::DTYPE_FLOAT32) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  std::vector<v1::Field> fields = WithMaps();
  v1::Field features;
  features.set_name("features"), features.set_dtype(dtype);
  for (int extent : {2, 3}) features.add_shape(extent);
  fields.push_back(features);
  return DevicePipeline::Create(pipeline, fields);
}

TEST(DevicePipelineTest, NumbersAreConvertedAndNormalizedInOnePass) {
  const auto device = CreateWithFeatures(
      "ops { to_dtype { field: 'features' dtype: DTYPE_BFLOAT16 scale: true } } "
      "ops { normalize { field: 'features' mean: [0, 0.5, 1] std: 2 } } "
      "ops { normalize { field: 'features' mean: 1 std: [1, 2, 4, 1, 2, 4] } }",
      v1::DTYPE_UINT8);
  ASSERT_TRUE(device.ok()) << device.status();
  const auto& program = device->programs()[4];
  EXPECT_EQ(program.kind, DevicePipeline::FieldProgram::Kind::kScale);
  EXPECT_EQ(device->fields()[4].dtype(), v1::DTYPE_BFLOAT16);
  ASSERT_EQ(program.scale.size(), 6);
  EXPECT_FLOAT_EQ(program.scale[1], 1 / 255.0 / 2 / 2);
  EXPECT_FLOAT_EQ(program.bias[1], (-0.25 - 1) / 2);
  EXPECT_FLOAT_EQ(program.bias[5], (-0.5 - 1) / 4);
}

TEST(DevicePipelineTest, WhatCannotBeConvertedIsRefused) {
  const auto message = [](const std::string& text, v1::Dtype dtype = v1::DTYPE_FLOAT32) {
    return std::string(CreateWithFeatures(text, dtype).status().message());
  };
  const std::string cast = "ops { to_dtype { field: 'features' dtype: DTYPE_FLOAT16 } } ";
  EXPECT_EQ(message(cast), "");
  EXPECT_EQ(message("ops { normalize { field: 'features' mean: 0 std: 1 } }"), "");
  EXPECT_EQ(message("ops { normalize { field: 'features' mean: 0 std: 1 } }", v1::DTYPE_FLOAT64),
            "pipeline.ops[0]: Normalize: field 'features' needs ToDtype to float32, float16 or bfloat16 before it");
  EXPECT_EQ(message(cast + cast),
            "pipeline.ops[1]: ToDtype: field 'features' is converted already; put it first, and leave others out");
  EXPECT_EQ(message("ops { to_dtype { field: 'features' dtype: DTYPE_FLOAT16 scale: true } }"),
            "pipeline.ops[0]: ToDtype: field 'features' has float32, not uint8 or int16; leave `scale` out");
  EXPECT_EQ(
      message("ops { normalize { field: 'features' mean: [1, 2] std: 1 } }"),
      "pipeline.ops[0]: Normalize: give one number, one for each index of the last dimension of 'features' (3), or "
      "one for each element (6); found 2");
  EXPECT_EQ(message("ops { to_dtype { field: 'image' dtype: DTYPE_FLOAT16 } }"),
            "pipeline.ops[0]: ToDtype: 'image' is the image; leave `field` out");
  EXPECT_EQ(message("ops { to_dtype { field: 'map' dtype: DTYPE_FLOAT16 } }"),
            "pipeline.ops[0]: ToDtype: field 'map' is a label_map, which becomes int64 without an op");
  EXPECT_EQ(message("ops { to_dtype { field: 'other' dtype: DTYPE_FLOAT16 } }"),
            "pipeline.ops[0]: ToDtype: field 'other' is not sent; name another in `field`");
}

// ---- Fields of two ----

v1::Field FieldOf(const char* name, v1::FieldKind kind, v1::Dtype dtype, std::vector<int64_t> shape) {
  v1::Field field;
  field.set_name(name), field.set_kind(kind), field.set_dtype(dtype);
  for (const int64_t extent : shape) field.add_shape(extent);
  if (IsVariable(kind)) field.set_max_bytes(1200);
  return field;
}

TEST(DevicePipelineTest, ImagesOfNativeSizeGetTheScalesOfImagesOfOneSize) {
  const std::string text =
      "ops { to_dtype { dtype: DTYPE_FLOAT16 scale: true } } "
      "ops { normalize { mean: [0.485, 0.456, 0.406] std: [0.229, 0.224, 0.225] } }";
  v1::Pipeline pipeline;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline));
  const auto native =
      DevicePipeline::Create(pipeline, {FieldOf("image", v1::FIELD_KIND_RAGGED_IMAGE, v1::DTYPE_UINT8, {3}),
                                        FieldOf("image.sizes", v1::FIELD_KIND_UNSPECIFIED, v1::DTYPE_INT32, {2})});
  const auto fixed = Create(text);
  ASSERT_TRUE(native.ok() && fixed.ok()) << native.status();
  EXPECT_EQ(native->programs()[0].scale, fixed->image().scale);
  EXPECT_EQ(native->programs()[0].bias, fixed->image().bias);
  EXPECT_EQ(native->fields()[0].dtype(), v1::DTYPE_FLOAT16);
  EXPECT_EQ(native->fields()[0].max_bytes(), 2400);
  EXPECT_EQ(native->image().field, -1);
  EXPECT_THAT(DevicePipeline::Create(pipeline, {FieldOf("image", v1::FIELD_KIND_RAGGED_IMAGE, v1::DTYPE_UINT8, {3})})
                  .status()
                  .message(),
              testing::HasSubstr("no heights and widths follow it"));
}

TEST(DevicePipelineTest, ToDtypeTakesTheValuesOfASparseField) {
  v1::Field words = FieldOf("words", v1::FIELD_KIND_SPARSE, v1::DTYPE_INT32, {});
  words.add_dense_shape(500);
  const std::vector<v1::Field> fields = {words, FieldOf("words.values", v1::FIELD_KIND_RAGGED, v1::DTYPE_FLOAT32, {})};
  v1::Pipeline pipeline;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString("ops { to_dtype { field: 'words' dtype: DTYPE_BFLOAT16 } }",
                                                            &pipeline));
  const auto device = DevicePipeline::Create(pipeline, fields);
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(device->fields()[0].dtype(), v1::DTYPE_INT32);
  EXPECT_EQ(device->fields()[1].dtype(), v1::DTYPE_BFLOAT16);
  EXPECT_EQ(DevicePipeline::Create(pipeline, {words}).status().message(),
            "pipeline.ops[0]: ToDtype: field 'words' is sparse, which stays as it is; leave the op out");
}

TEST(DevicePipelineTest, ToDenseMakesTheArrayOfWhatTheValuesAreByThen) {
  v1::Field words = FieldOf("words", v1::FIELD_KIND_SPARSE, v1::DTYPE_INT32, {});
  for (const int64_t extent : {5, 100}) words.add_dense_shape(extent);
  const v1::Field values = FieldOf("words.values", v1::FIELD_KIND_RAGGED, v1::DTYPE_FLOAT64, {});
  const auto made = [](const std::string& text, const std::vector<v1::Field>& fields) -> absl::StatusOr<v1::Field> {
    v1::Pipeline pipeline;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline));
    const auto device = DevicePipeline::Create(pipeline, fields);
    if (!device.ok()) return device.status();
    return device->fields()[0];
  };
  const std::string dense = "ops { to_dense { field: 'words' } } ",
                    half = "ops { to_dtype { field: 'words' dtype: DTYPE_FLOAT16 } } ";
  EXPECT_EQ(made(dense, {words, values})->dtype(), v1::DTYPE_FLOAT64);
  EXPECT_EQ(made(half + dense, {words, values})->dtype(), v1::DTYPE_FLOAT16);
  EXPECT_EQ(made(dense, {words})->dtype(), v1::DTYPE_FLOAT32);
  EXPECT_THAT(made(dense, {words})->shape(), testing::ElementsAre(5, 100));
  EXPECT_EQ(made(dense, {words})->kind(), v1::FIELD_KIND_UNSPECIFIED);
  EXPECT_EQ(made(dense + half, {words, values}).status().message(),
            "pipeline.ops[1]: ToDtype: field 'words' is dense; put it before ToDense");
  EXPECT_EQ(made("ops { to_dense { field: 'words.values' } }", {words, values}).status().message(),
            "pipeline.ops[0]: ToDense: field 'words.values' is not sparse; leave the op out");
  words.set_dense_shape(0, 2'000'000);
  EXPECT_THAT(made(dense, {words}).status().message(), testing::HasSubstr("on the device: field 'words': shape"));
}

// ---- Labels, and rows that are padded ----

// An image, a whole number "label", a vector "soft" of `dtype`, and ragged "rows" of int64×2 and "more" of float32×4.
absl::StatusOr<DevicePipeline> CreateWithLabels(const std::string& text, v1::Dtype dtype = v1::DTYPE_FLOAT32) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  std::vector<v1::Field> fields = ImageAndLabel();
  v1::Field soft, rows, more;
  soft.set_name("soft"), soft.set_dtype(dtype), soft.add_shape(5);
  rows.set_name("rows"), rows.set_dtype(v1::DTYPE_INT64), rows.add_shape(2);
  rows.set_kind(v1::FIELD_KIND_RAGGED), rows.set_max_bytes(160);
  more.set_name("more"), more.set_dtype(v1::DTYPE_FLOAT32), more.add_shape(4);
  more.set_kind(v1::FIELD_KIND_RAGGED), more.set_max_bytes(160);
  fields.insert(fields.end(), {soft, rows, more});
  return DevicePipeline::Create(pipeline, fields);
}

TEST(DevicePipelineTest, LabelsAreMixedAsWholeNumbersOneHotOrSoft) {
  const std::string one_hot = "ops { one_hot { num_classes: 9 dtype: DTYPE_FLOAT16 } } ";
  const auto of_hot = CreateWithLabels(one_hot + "ops { cut_mix {} }");
  ASSERT_TRUE(of_hot.ok()) << of_hot.status();
  EXPECT_TRUE(of_hot->programs()[1].mixed);
  EXPECT_EQ(of_hot->programs()[1].classes, 9);
  EXPECT_EQ(of_hot->fields()[1].dtype(), v1::DTYPE_FLOAT16);
  EXPECT_FALSE(of_hot->mixes_each());
  const auto soft = CreateWithLabels("ops { cut_mix { field: 'soft' per_sample: true } }", v1::DTYPE_BFLOAT16);
  ASSERT_TRUE(soft.ok()) << soft.status();
  EXPECT_TRUE(soft->programs()[2].mixed && soft->mixes_each());
  EXPECT_EQ(soft->fields()[2].dtype(), v1::DTYPE_BFLOAT16);
  const auto bits = CreateWithLabels(
      "ops { to_dtype { field: 'soft' dtype: DTYPE_FLOAT32 } } ops { cut_mix { field: 'soft' } }", v1::DTYPE_UINT8);
  ASSERT_TRUE(bits.ok()) << bits.status();
  EXPECT_TRUE(bits->programs()[2].mixed);
}

TEST(DevicePipelineTest, RowsDrawByTheirOwnPositionsWhereTheOpSaysSo) {
  const std::vector<uint64_t> positions = {40, 41, 42};
  const auto lambdas = [&](const char* text) {
    const auto device = CreateWithLabels(text);
    EXPECT_TRUE(device.ok()) << device.status();
    std::vector<double> all;
    for (const BatchDraw& draw : device->DrawRows(7, 3, 40, positions)) all.push_back(draw.lambda);
    EXPECT_EQ(all[0], device->DrawBatch(7, 3, 40).lambda);
    return all;
  };
  const auto one = lambdas("ops { cut_mix { num_classes: 9 } }");
  const auto each = lambdas("ops { cut_mix { num_classes: 9 per_sample: true } }");
  EXPECT_EQ(one, std::vector<double>(3, one[0]));
  EXPECT_EQ(each[0], one[0]);
  EXPECT_NE(each[1], each[0]);
  EXPECT_NE(each[2], each[1]);
}

TEST(DevicePipelineTest, LabelsAreSmoothedBeforeOrAfterTheyAreMixed) {
  const std::string smooth = "ops { label_smoothing { smoothing: 0.2 field: 'soft' } } ";
  const std::string mix = "ops { cut_mix { field: 'soft' } } ";
  const auto program = [](const std::string& text) {
    const auto device = CreateWithLabels(text);
    EXPECT_TRUE(device.ok()) << device.status();
    return device->programs()[2];
  };
  const auto before = program(smooth + mix), after = program(mix + smooth), alone = program(smooth + smooth);
  EXPECT_THAT(before.scale, testing::ElementsAre(0.8f));
  EXPECT_THAT(before.bias, testing::ElementsAre(0.04f));
  EXPECT_EQ(before.scale_after, 1);
  EXPECT_TRUE(after.scale.empty());
  EXPECT_EQ(after.scale_after, 0.8f);
  EXPECT_EQ(after.bias_after, 0.04f);
  EXPECT_FALSE(alone.mixed);
  EXPECT_FLOAT_EQ(alone.scale[0], 0.64f);
  EXPECT_FLOAT_EQ(alone.bias[0], 0.04f * 0.8f + 0.04f);
}

TEST(DevicePipelineTest, RowsArePaddedAlsoAfterTheyAreConverted) {
  const auto device = CreateWithLabels(
      "ops { to_dtype { field: 'rows' dtype: DTYPE_FLOAT16 } } ops { to_padded { field: 'rows' rows: 7 fill: -1 } } "
      "ops { to_padded { field: 'more' rows: 3 } }");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_THAT(device->fields()[3].shape(), testing::ElementsAre(7, 2));
  EXPECT_EQ(device->fields()[3].dtype(), v1::DTYPE_FLOAT16);
  EXPECT_EQ(device->fields()[3].kind(), v1::FIELD_KIND_UNSPECIFIED);
  EXPECT_EQ(device->programs()[3].kind, DevicePipeline::FieldProgram::Kind::kScale);
  EXPECT_EQ(device->programs()[3].fill, 0xbc00);
  EXPECT_THAT(device->fields()[4].shape(), testing::ElementsAre(3, 4));
  EXPECT_EQ(device->programs()[4].padded_rows, 3);
}

TEST(DevicePipelineTest, PaddedAudioKeepsItsSampleRate) {
  v1::Pipeline pipeline;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString("ops { to_padded { field: 'audio' rows: 9 } }", &pipeline));
  v1::Field audio;
  audio.set_name("audio"), audio.set_dtype(v1::DTYPE_INT16), audio.add_shape(2);
  audio.set_kind(v1::FIELD_KIND_AUDIO), audio.set_max_bytes(160), audio.set_sample_rate(16000);
  const auto device = DevicePipeline::Create(pipeline, {audio});
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_THAT(device->fields()[0].shape(), testing::ElementsAre(9, 2));
  EXPECT_EQ(device->fields()[0].sample_rate(), 16000);
}

TEST(DevicePipelineTest, LabelsAndRowsThatDoNotFitAreRefused) {
  const std::string mix = "ops { cut_mix { field: 'soft' } } ", one_hot = "ops { one_hot { num_classes: 9 } } ";
  const std::string pad = "ops { to_padded { field: 'rows' rows: 7 } } ";
  const std::pair<std::string, std::string> cases[] = {
      {"ops { cut_mix {} }",
       "pipeline.ops[0]: CutMix: field 'label' has int64, whole numbers; say in num_classes how many classes there "
       "are, "
       "or put OneHot before it"},
      {one_hot + "ops { cut_mix { num_classes: 9 } }",
       "pipeline.ops[1]: CutMix: field 'label' has float32 already, and num_classes is for whole numbers; leave it "
       "out"},
      {"ops { cut_mix { field: 'soft' num_classes: 5 } }",
       "pipeline.ops[0]: CutMix: field 'soft' has float32 already, and num_classes is for whole numbers; leave it out"},
      {"ops { one_hot { num_classes: 9 dtype: DTYPE_INT64 } } ops { cut_mix {} }",
       "pipeline.ops[1]: CutMix: field 'label' has int64, not floats; put OneHot, or ToDtype where it is a vector "
       "already, before it"},
      {"ops { cut_mix { field: 'more' } }",
       "pipeline.ops[0]: CutMix: field 'more' is ragged, whose samples differ in size; name another"},
      {"ops { cut_mix { field: 'image' } }",
       "pipeline.ops[0]: CutMix: field 'image' has no labels in floats, but is the image"},
      {"ops { label_smoothing { smoothing: 0.1 } }",
       "pipeline.ops[0]: LabelSmoothing: field 'label' has int64, not floats; put OneHot, or ToDtype where it is a "
       "vector "
       "already, before it"},
      {"ops { to_dtype { field: 'label' dtype: DTYPE_FLOAT32 } } ops { label_smoothing { smoothing: 0.1 } }",
       "pipeline.ops[1]: LabelSmoothing: field 'label' has one number a sample, and no classes to smooth; put OneHot "
       "first"},
      {"ops { to_dtype { field: 'label' dtype: DTYPE_FLOAT32 } } ops { cut_mix {} }",
       "pipeline.ops[1]: CutMix: field 'label' has 0 dimensions; labels that are mixed are one vector of floats a "
       "sample"},
      {mix + "ops { normalize { field: 'soft' mean: 0 std: 1 } }",
       "pipeline.ops[1]: Normalize: field 'soft' is smoothed or mixed already; put it before LabelSmoothing, MixUp, "
       "CutMix"},
      {"ops { to_padded { field: 'soft' rows: 7 } }",
       "pipeline.ops[0]: ToPadded: the samples of field 'soft' have one size; leave it out"},
      {pad + "ops { to_dtype { field: 'rows' dtype: DTYPE_FLOAT16 } }",
       "pipeline.ops[1]: ToDtype: field 'rows' is padded already; put it before ToPadded"},
      {pad + pad, "pipeline.ops[1]: ToPadded: field 'rows' is padded already; put it before ToPadded"},
      {"ops { to_padded { field: 'rows' rows: 7 fill: 0.5 } }", "pipeline.ops[0]: ToPadded.fill: 0.5 is no int64"},
      {"ops { to_padded { field: 'more' rows: 1048576 } } ops { to_padded { field: 'rows' rows: 1048576 } }", ""},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(CreateWithLabels(text).status().message(), message) << text;
  EXPECT_EQ(
      CreateWithLabels(mix, v1::DTYPE_FLOAT64).status().message(),
      "pipeline.ops[0]: CutMix: field 'soft' has float64, not floats; put ToDtype to float32, float16 or bfloat16 "
      "before it");
}

TEST(DevicePipelineTest, KindsThatTheirTypeOrShapeBeliesAreRefused) {
  for (auto [kind, dtype, extents] : {std::tuple(v1::FIELD_KIND_LABEL_MAP, v1::DTYPE_FLOAT32, 2),
                                      {v1::FIELD_KIND_LABEL_MAP, v1::DTYPE_INT64, 2},
                                      {v1::FIELD_KIND_LABEL_MAP, v1::DTYPE_UINT8, 3},
                                      {v1::FIELD_KIND_BINARY_MAP, v1::DTYPE_INT16, 2},
                                      {v1::FIELD_KIND_BINARY_MAP, v1::DTYPE_UINT8, 0}}) {
    v1::Field field;
    field.set_name("map"), field.set_dtype(dtype), field.set_kind(kind);
    for (int i = 0; i < extents; ++i) field.add_shape(4);
    const absl::Status status = DevicePipeline::Create({}, {field}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), testing::HasSubstr(" cannot be "));
  }
}

}  // namespace
}  // namespace stoker
