#include "server/plugin/op_library.h"

#include <string>
#include <vector>

#include "common/ops/ops.h"
#include "common/pipeline/server_pipeline.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/augment/augmenter.h"
#include "server/pack/span_writer.h"
#include "server/work/sample_maker.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string File(const std::string& name) { return STOKER_OPS_FOLDER "/ops-" + name + ".so"; }

std::string ErrorOf(const std::string& name) { return std::string(LoadOps({File(name)}).status().message()); }

v1::Pipeline Parse(const std::string& text) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  return pipeline;
}

class OpLibraryTest : public testing::Test {
 protected:
  OpLibraryTest() {
    auto ops = LoadOps({File("good")});
    EXPECT_TRUE(ops.ok()) << ops.status();
    if (ops.ok()) SetLoadedOps(*std::move(ops));
  }
  ~OpLibraryTest() override { SetLoadedOps({}); }

  // What resolving a pipeline of one op says.
  static std::string Refusal(const std::string& op) {
    v1::Pipeline pipeline = Parse("ops { own_op { " + op + " } }");
    return std::string(ResolveOwnOps(pipeline).message());
  }

  // The pixels that `op` makes of an image of zeros.
  static absl::StatusOr<std::vector<uint8_t>> Apply(const std::string& op, ImageSize size, uint64_t position = 0) {
    v1::Op parsed;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString("own_op { " + op + " }", &parsed));
    std::vector<OpParameters> drawn;
    ImageSize after = size;
    EXPECT_TRUE(DrawOp(parsed, {.position = position}, after, drawn).ok());
    const ImagePlan plan = ImagePlan::Make(size, drawn, v1::JPEG_SCALING_K2);
    const std::vector<uint8_t> image(size.height * size.width * 3);
    std::vector<uint8_t> out(after.height * after.width * 3, 99);
    Augmenter augmenter;
    const absl::Status status =
        augmenter.Apply(plan, {{image.data(), size, static_cast<ptrdiff_t>(size.width * 3)}, WholeOf(size)}, out);
    if (!status.ok()) return status;
    return out;
  }
};

TEST_F(OpLibraryTest, TellsOfEachOpWhatItIs) {
  ASSERT_EQ(GetLoadedOps().size(), 3);
  const v1::OwnOpInfo shift = InfoOf(*GetLoadedOps()[0]), cut = InfoOf(*GetLoadedOps()[1]);
  EXPECT_EQ(shift.name(), "shift");
  EXPECT_EQ(shift.version(), 7);
  EXPECT_EQ(shift.summary(), "adds a level");
  EXPECT_NE(shift.check(), 0);
  EXPECT_NE(shift.check(), cut.check());
  std::vector<std::string> arguments;
  for (const auto& argument : shift.arguments()) arguments.push_back(argument.name() + "=" + argument.value());
  EXPECT_THAT(arguments, ElementsAre("strength=0.25", "level=3", "noise=false", "mode=plain"));
  EXPECT_EQ(cut.arguments(0).value(), "") << "it must be given";
}

TEST_F(OpLibraryTest, APipelineGetsVersionCheckAndAllArguments) {
  v1::Pipeline pipeline = Parse(
      "ops { random_apply { transforms { own_op { name: 'shift' arguments { name: 'level' value: '07' } } } } } "
      "views { name: 'a' count: 1 ops { own_op { name: 'cut' arguments { name: 'by' value: '2' } } } }");
  ASSERT_TRUE(ResolveOwnOps(pipeline).ok()) << ResolveOwnOps(pipeline);
  const v1::OwnOp& shift = pipeline.ops(0).random_apply().transforms(0).own_op();
  EXPECT_EQ(shift.version(), 7);
  EXPECT_EQ(shift.check(), FindLoadedOp("shift")->check());
  ASSERT_EQ(shift.arguments_size(), 4);
  EXPECT_EQ(shift.arguments(1).value(), "7");
  EXPECT_EQ(pipeline.views(0).ops(0).own_op().version(), 1);
  const v1::Pipeline once = pipeline;
  EXPECT_TRUE(ResolveOwnOps(pipeline).ok());
  EXPECT_EQ(pipeline.ShortDebugString(), once.ShortDebugString()) << "resolved twice it is the same";
}

TEST_F(OpLibraryTest, RefusesByNameWhatItDoesNotHave) {
  EXPECT_THAT(Refusal("name: 'shif'"),
              HasSubstr("pipeline.ops[0]: there is no op 'shif'; this server's own ops are shift, cut, look"));
  EXPECT_THAT(Refusal("name: 'shift' version: 6"),
              HasSubstr("this server has version 7 of 'shift', where version 6 is"));
  EXPECT_THAT(Refusal("name: 'shift' check: 5"), HasSubstr("makes other pixels of the images of its self-check"));
  EXPECT_THAT(Refusal("name: 'shift' arguments { name: 'levl' value: '1' }"),
              HasSubstr("shift.levl: unknown argument; known are strength, level, noise, mode"));
  EXPECT_THAT(Refusal("name: 'shift' arguments { name: 'level' value: '1.5' }"),
              HasSubstr("shift.level: expected a whole number, found '1.5'"));
  EXPECT_THAT(Refusal("name: 'shift' arguments { name: 'strength' value: 'inf' }"),
              HasSubstr("shift.strength: expected a number, found 'inf'"));
  EXPECT_THAT(Refusal("name: 'shift' arguments { name: 'level' value: '1' } arguments { name: 'level' value: '1' }"),
              HasSubstr("shift.level: stands twice"));
  EXPECT_THAT(Refusal("name: 'shift' arguments { name: 'level' value: '256' }"),
              HasSubstr("shift: level must be below 256"));
  EXPECT_THAT(Refusal("name: 'cut'"), HasSubstr("cut.by: must be given"));
  SetLoadedOps({});
  EXPECT_THAT(Refusal("name: 'cut'"), HasSubstr("there is no op 'cut', and this server has no own ops"));
}

TEST_F(OpLibraryTest, MakesPixelsByItsArgumentsAndDraws) {
  EXPECT_THAT(*Apply("name: 'shift' arguments { name: 'level' value: '5' }", {1, 2}), ElementsAre(5, 5, 5, 5, 5, 5));
  const std::string noise = "name: 'shift' arguments { name: 'noise' value: 'true' }";
  EXPECT_EQ(*Apply(noise, {8, 8}, 1), *Apply(noise, {8, 8}, 1));
  EXPECT_NE(*Apply(noise, {8, 8}, 1), *Apply(noise, {8, 8}, 2));
}

TEST_F(OpLibraryTest, ChangesTheSize) {
  EXPECT_EQ(Apply("name: 'cut' arguments { name: 'by' value: '3' }", {10, 8})->size(), 7 * 5 * 3);
  v1::Op cut;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "own_op { name: 'cut' arguments { name: 'by' value: '8' } }", &cut));
  EXPECT_EQ(OutputSize(cut, ImageSize{10, 9}), (ImageSize{2, 1}));
  EXPECT_EQ(OutputSize(cut, std::nullopt), std::nullopt);
  std::vector<OpParameters> drawn;
  ImageSize size = {10, 8};
  const absl::Status status = DrawOp(cut, {}, size, drawn);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("'cut' makes 0×2 pixels of 8×10"));
}

// Fields of a dataset, the image first.
SourceSchema Seen(v1::Dtype label, uint64_t max_words) {
  return {{.name = "image", .kind = SourceField::Kind::kEncodedImage},
          {.name = "label", .dtype = label},
          {.name = "words",
           .kind = SourceField::Kind::kRows,
           .dtype = v1::DTYPE_UINT8,
           .meaning = v1::FIELD_KIND_TEXT,
           .max_bytes = max_words,
           .typical_bytes = 10}};
}

TEST_F(OpLibraryTest, AnOpSeesTheFieldsThatItNames) {
  const v1::OwnOpInfo look = InfoOf(*FindLoadedOp("look"));
  EXPECT_EQ(look.summary(), "adds the label (sees the fields label, words)");
  EXPECT_EQ(look.arguments_size(), 0);
  EXPECT_THAT(Refusal("name: 'look' arguments { name: 'label' value: '1' }"),
              HasSubstr("look.label: is a field of the sample, which the op sees by itself; leave it out"));
  const v1::Pipeline pipeline = Parse(
      "fields: 'image' ops { resize { size: 2 size: 2 } } ops { random_apply { transforms { own_op { name: 'look' } } "
      "} }");
  const auto server = ServerPipeline::Create(pipeline, Seen(v1::DTYPE_INT64, 100));
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(server->sees_fields());
  EXPECT_EQ(server->sources(), FieldSet::All()) << "they are read though they are not sent";
  const auto refused = [&](const SourceSchema& schema) {
    return std::string(ServerPipeline::Create(pipeline, schema).status().message());
  };
  EXPECT_THAT(refused(Seen(v1::DTYPE_INT32, 100)), HasSubstr("the own op 'look' sees the field 'label', which is int32 "
                                                             "of 0 dimensions, where the op asks for int64 of 0"));
  EXPECT_THAT(refused(Seen(v1::DTYPE_INT64, 1 << 20)), HasSubstr("take up to 1048584 bytes, more than 131072"));
  EXPECT_THAT(refused({Seen(v1::DTYPE_INT64, 100)[0]}), HasSubstr("'label', which the dataset does not have"));
  SourceSchema map = Seen(v1::DTYPE_INT64, 100);
  map[1].meaning = v1::FIELD_KIND_LABEL_MAP;
  EXPECT_THAT(refused(map), HasSubstr("which is no field that an own op can see"));
}

TEST_F(OpLibraryTest, TheFieldsAreThoseOfTheSampleInHand) {
  const ImageSize size = {2, 2};
  SourceSchema schema = Seen(v1::DTYPE_INT64, 100);
  schema[0] = {.name = "image", .dtype = v1::DTYPE_UINT8, .shape = {size.height, size.width, 3}};
  const auto pipeline = ServerPipeline::Create(Parse("fields: 'image' ops { own_op { name: 'look' } }"), schema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  SampleMaker maker({.max_pixels = 1 << 20});
  const Interrupt interrupt;
  const auto made = [&](uint8_t label, const std::vector<uint8_t>& words) -> absl::StatusOr<std::vector<uint8_t>> {
    SampleBytes sample;
    sample.fields = {std::vector<uint8_t>(12, 10), {label, 0, 0, 0, 0, 0, 0, 0}, words};
    std::vector<uint8_t> slab(pipeline->sample_bytes());
    SpanWriter writer(*pipeline, 1, slab);
    v1::StageTimes times;
    const absl::Status status = maker.Make({*pipeline, schema, 1, 0, 0, interrupt}, sample, writer, 0, times);
    if (!status.ok()) return status;
    return slab;
  };
  EXPECT_THAT(*made(7, {'a', 'b'}), testing::Each(10 + 7 + 2));
  EXPECT_THAT(*made(3, {}), testing::Each(10 + 3));
  const absl::Status large = made(3, std::vector<uint8_t>(101)).status();
  EXPECT_TRUE(absl::IsDataLoss(large)) << large;
  EXPECT_THAT(large.message(), HasSubstr("'words', which the op 'look' sees, has 101 bytes, above its max_bytes"));
}

TEST_F(OpLibraryTest, ABadSampleIsTheSamplesFaultAndAFailureTheMachines) {
  const auto bad = Apply("name: 'shift' arguments { name: 'mode' value: 'bad' }", {4, 4});
  EXPECT_EQ(bad.status(), absl::DataLossError("own op 'shift': a bad sample of height 4"));
  const auto broken = Apply("name: 'shift' arguments { name: 'mode' value: 'broken' }", {4, 4});
  EXPECT_EQ(broken.status(), absl::InternalError("own op 'shift': it does not say why"));
}

TEST_F(OpLibraryTest, WhatAnOpSaysIsMadeText) {
  EXPECT_EQ(Apply("name: 'shift' arguments { name: 'mode' value: 'bytes' }", {4, 4}).status(),
            absl::DataLossError("own op 'shift': no text: \\xff"));
}

TEST_F(OpLibraryTest, WrongBoundsOfDrawsEndNothing) {
  EXPECT_TRUE(absl::IsDataLoss(Apply("name: 'shift' arguments { name: 'mode' value: 'bounds' }", {4, 4}).status()));
}

TEST_F(OpLibraryTest, AnOpThatChangesTheSizeIsRefusedWhereOtherFieldsLieOnTheImage) {
  const SourceField image = {.name = "image", .kind = SourceField::Kind::kEncodedImage};
  const SourceField mask = {
      .name = "mask", .kind = SourceField::Kind::kEncodedImage, .meaning = v1::FIELD_KIND_LABEL_MAP};
  const SourceField boxes = {.name = "boxes",
                             .kind = SourceField::Kind::kRows,
                             .dtype = v1::DTYPE_FLOAT32,
                             .shape = {4},
                             .meaning = v1::FIELD_KIND_BOXES,
                             .max_bytes = 64,
                             .typical_bytes = 32};
  const std::string crop = "ops { center_crop { size: 9 } } ";
  const std::string cut = "ops { own_op { name: 'cut' arguments { name: 'by' value: '2' } } } ";
  const std::string nested =
      "ops { random_apply { transforms { own_op { name: 'cut' arguments { name: 'by' value: "
      "'2' } } } } } ops { center_crop { size: 5 } } ";
  for (const SourceField& field : {mask, boxes})
    for (const std::string& ops : {crop + cut, crop + nested}) {
      const absl::Status status = ServerPipeline::Create(Parse(ops), {image, field}).status();
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("the own op 'cut' changes the image's size, and '" + field.name +
                            "', which lies on the image, cannot follow; name the other fields in pipeline.fields"));
      EXPECT_TRUE(ServerPipeline::Create(Parse(ops + "fields: 'image'"), {image, field}).ok());
      EXPECT_TRUE(ServerPipeline::Create(Parse(crop + "ops { own_op { name: 'shift' } }"), {image, field}).ok());
    }
}

TEST_F(OpLibraryTest, APipelineHoldsAFew) {
  v1::Pipeline pipeline;
  for (int i = 0; i < 65; ++i) pipeline.add_ops()->mutable_own_op()->set_name("shift");
  EXPECT_THAT(std::string(ResolveOwnOps(pipeline).message()), HasSubstr("[64]: a pipeline holds at most 64 own ops"));
}

TEST(OpLibrariesTest, SayWhatIsWrongWithThem) {
  EXPECT_THAT(ErrorOf("missing"), HasSubstr("cannot open shared object file"));
  EXPECT_THAT(ErrorOf("none"), HasSubstr("is no library of ops"));
  EXPECT_THAT(ErrorOf("abi"), HasSubstr("was made for version 2 of stoker_op.h, and this server has 1"));
  EXPECT_THAT(ErrorOf("name"), HasSubstr("an op is called 'Shift!'"));
  EXPECT_THAT(ErrorOf("taken"), HasSubstr("op 'random_crop': Stoker has an op of that name"));
  EXPECT_THAT(ErrorOf("version"), HasSubstr("op 'shift': its version is 0"));
  EXPECT_THAT(ErrorOf("twice"), HasSubstr("op 'cut' was loaded before"));
  EXPECT_THAT(ErrorOf("changing"),
              HasSubstr("op 'shift', at its trial with default arguments: it made two images of one"));
  EXPECT_THAT(ErrorOf("input"), HasSubstr("it writes to the image that it is given"));
  EXPECT_THAT(ErrorOf("beyond"), HasSubstr("it writes beyond the image that it makes"));
  EXPECT_THAT(ErrorOf("field"), HasSubstr("argument 'words' has a type or default that is none"));
  EXPECT_THAT(std::string(LoadOps({File("good"), File("good")}).status().message()),
              HasSubstr("op 'shift' was loaded before"));
}

}  // namespace
}  // namespace stoker
