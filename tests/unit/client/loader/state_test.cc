#include "client/loader/state.h"

#include "client/loader/pipeline_difference.h"
#include "common/config/yaml_proto.h"
#include "common/pipeline/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace stoker {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

v1::Pipeline PipelineOf(const std::string& yaml) {
  v1::Pipeline pipeline;
  const absl::Status status = ParseYaml(yaml, "pipeline", pipeline);
  EXPECT_TRUE(status.ok()) << status;
  return pipeline;
}

JobIdentity Job(const std::string& yaml = "ops: [RandomResizedCrop: {size: 224}, RandomHorizontalFlip: ]") {
  JobIdentity job;
  job.dataset = "photos";
  job.identity.set_fingerprint(std::string(32, '\x3f'));
  job.identity.set_samples(1000);
  job.identity.set_pixel_version(2);
  job.pipeline = PipelineOf(yaml);
  job.pipeline_hash = WholeHash(job.pipeline);
  job.seed = 7;
  return job;
}

std::string Refusal(const std::string& state, const JobIdentity& job) {
  const auto cursor = DecodeState(state, job, /*accept_other_pixels=*/false);
  EXPECT_TRUE(absl::IsFailedPrecondition(cursor.status())) << cursor.status();
  return std::string(cursor.status().message());
}

std::string Refusal(const JobIdentity& saved, const JobIdentity& job) {
  return Refusal(EncodeState(saved, {.epoch = 1, .position = 5}), job);
}

// The refusal of a state whose pipeline was `saved` by a loader whose pipeline is `mine`.
std::string PipelineRefusal(const std::string& saved, const std::string& mine) {
  return Refusal(Job(saved), Job(mine));
}

TEST(StateTest, GoesOnWhereItWasSaved) {
  const auto cursor = DecodeState(EncodeState(Job(), {.epoch = 3, .position = 51}), Job(), false);
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  EXPECT_EQ(cursor->epoch, 3);
  EXPECT_EQ(cursor->position, 51);
}

TEST(StateTest, ContentIsComparedOnlyWhereBothSidesHaveIt) {
  JobIdentity without = Job(), one = Job(), other = Job();
  one.identity.set_content(std::string(32, 'a'));
  other.identity.set_content(std::string(32, 'b'));
  const Cursor cursor = {.epoch = 1, .position = 5};
  EXPECT_TRUE(DecodeState(EncodeState(without, cursor), one, false).ok()) << "a state of before";
  EXPECT_TRUE(DecodeState(EncodeState(one, cursor), without, false).ok());
  EXPECT_TRUE(DecodeState(EncodeState(one, cursor), one, false).ok());
  EXPECT_THAT(Refusal(one, other), HasSubstr("the bytes of its dataset's files were others"));
  EXPECT_EQ(EncodeState(without, cursor).find("content"), std::string::npos) << "states without it stay as they were";
}

TEST(StateTest, NamesTheArgumentsOfAnOpThatDiffer) {
  EXPECT_THAT(PipelineRefusal("ops: [RandomResizedCrop: {size: 224}]", "ops: [RandomResizedCrop: {size: 192}]"),
              HasSubstr("its pipeline has RandomResizedCrop(size=224) as ops[0], and this loader's has "
                        "RandomResizedCrop(size=192); give the loader the state's pipeline"));
  EXPECT_THAT(
      PipelineRefusal("ops: [CenterCrop: {size: 8}, RandomHorizontalFlip: {p: 0.25}]",
                      "ops: [CenterCrop: {size: 8}, RandomHorizontalFlip: ]"),
      HasSubstr("has RandomHorizontalFlip(p=0.25) as ops[1], and this loader's has RandomHorizontalFlip(p=0.5)"));
}

TEST(StateTest, NamesOpsThatAreOthersOrMissing) {
  const std::string crop = "ops: [CenterCrop: {size: 8}]",
                    more = "ops: [CenterCrop: {size: 8}, Normalize: {mean: 0, std: 1}]";
  EXPECT_THAT(PipelineRefusal(crop, "ops: [Resize: {size: [8, 8]}]"),
              HasSubstr("its pipeline has CenterCrop as ops[0], and this loader's has Resize"));
  const std::string flip = "ops: [CenterCrop: {size: 8}, RandomHorizontalFlip: ]";
  EXPECT_THAT(PipelineRefusal(crop, flip),
              HasSubstr("its pipeline ends before ops[1], where this loader's has RandomHorizontalFlip"));
  EXPECT_THAT(PipelineRefusal(flip, crop),
              HasSubstr("its pipeline has RandomHorizontalFlip as ops[1], and this loader's ends before it"));
}

TEST(StateTest, NamesOpsWithinOps) {
  EXPECT_THAT(PipelineRefusal("ops: [RandomApply: {transforms: [{Pad: {padding: 1}}]}]",
                              "ops: [RandomApply: {transforms: [{Pad: {padding: 2}}]}]"),
              AllOf(HasSubstr("its pipeline has RandomApply(transforms=Pad(padding="), Not(HasSubstr("p=0.5"))));
}

TEST(StateTest, NamesViewsAndSettingsThatDiffer) {
  const std::string one = "views: [{name: a, ops: [CenterCrop: {size: 8}]}]";
  EXPECT_THAT(PipelineRefusal(one, "views: [{name: a, count: 2, ops: [CenterCrop: {size: 8}]}]"),
              HasSubstr("its pipeline has 1 as views[0].count, and this loader's has 2"));
  EXPECT_THAT(PipelineRefusal(one, "views: [{name: a, ops: [CenterCrop: {size: 9}]}]"),
              HasSubstr("has CenterCrop(size=8) as views[0].ops[0], and this loader's has CenterCrop(size=9)"));
  EXPECT_THAT(PipelineRefusal("{}", one),
              HasSubstr("its pipeline ends before views[0], where this loader's has the view 'a'"));
  EXPECT_THAT(PipelineRefusal("bad_samples: substitute", "{}"),
              HasSubstr("its pipeline has substitute as bad_samples, and this loader's has fail"));
  EXPECT_THAT(PipelineRefusal("limits: {max_pixels: 99}", "{}"), HasSubstr("(max_pixels=99"));
}

TEST(StateTest, OpsMayMoveBetweenServerAndDevice) {
  const JobIdentity server = Job("ops: [CenterCrop: {size: 8}, RandomHorizontalFlip: ]"),
                    device = Job("ops: [CenterCrop: {size: 8}, {RandomHorizontalFlip: , placement: device}]");
  EXPECT_TRUE(DecodeState(EncodeState(device, {}), server, false).ok());
  EXPECT_FALSE(FindDifference(server.pipeline, device.pipeline).has_value());
}

TEST(StateTest, SaysOfALongPipelineWhichOpsItHas) {
  std::string ops = "ops: [CenterCrop: {size: 8}";
  for (int i = 0; i < 60; ++i) ops += ", RandomAffine: {degrees: [10, 20], translate: [0.1, 0.2]}";
  const JobIdentity saved = Job(ops + "]");
  const std::string state = EncodeState(saved, {});
  EXPECT_LT(state.size(), 3000u);
  EXPECT_TRUE(DecodeState(state, saved, false).ok());
  EXPECT_THAT(Refusal(state, Job("ops: [CenterCrop: {size: 8}]")),
              HasSubstr("its pipeline has RandomAffine as op 2, and this loader's ends before it"));
  EXPECT_THAT(Refusal(state, Job(ops + ", Pad: {padding: 1}]")),
              HasSubstr("its pipeline ends before op 62, where this loader's has Pad"));
}

TEST(StateTest, StatesOfEarlierBuildsAreGoneOnFrom) {
  auto state = nlohmann::json::parse(EncodeState(Job(), {.epoch = 1, .position = 5}));
  state.erase("pipeline_text");
  EXPECT_TRUE(DecodeState(state.dump(), Job(), false).ok());
  EXPECT_THAT(Refusal(state.dump(), Job("ops: [CenterCrop: {size: 8}]")),
              HasSubstr("its pipeline is another one than this loader's; give the loader the state's pipeline"));
}

TEST(StateTest, WordsAreForMessagesOnlyAndMayBeAnything) {
  auto state = nlohmann::json::parse(EncodeState(Job(), {.epoch = 1, .position = 5}));
  for (const nlohmann::json& words :
       {nlohmann::json("ops: [RandomAffine: {shear: [1, 2, 3]}]"), nlohmann::json("ops: [Nothing: ]"),
        nlohmann::json("\x01"), nlohmann::json(std::string(1 << 20, '[')), nlohmann::json(7), nlohmann::json()}) {
    state["pipeline_text"] = words;
    state["pipeline_ops"] = words;
    EXPECT_TRUE(DecodeState(state.dump(), Job(), false).ok()) << words;
    EXPECT_THAT(Refusal(state.dump(), Job("ops: [CenterCrop: {size: 8}]")), HasSubstr("is another one")) << words;
  }
}

TEST(StateTest, NamesTheDatasets) {
  JobIdentity other = Job();
  other.dataset = "scans";
  other.identity.set_samples(50);
  other.identity.set_fingerprint(std::string(32, '\x11'));
  EXPECT_THAT(Refusal(Job(), other),
              HasSubstr("state: it is of dataset 'photos' with 1000 samples (fingerprint 3f3f3f3f3f3f3f3f…), and this "
                        "loader reads dataset 'scans' with 50 samples (fingerprint 1111111111111111…); give the loader "
                        "'photos', or begin without the state"));
  other.dataset = "photos";
  EXPECT_THAT(Refusal(Job(), other), HasSubstr("which has changed since; bring it back, or begin without the state"));
}

TEST(StateTest, NamesSeedsAndShuffles) {
  JobIdentity other = Job();
  other.seed = 8;
  EXPECT_THAT(Refusal(Job(), other),
              HasSubstr("its seed is 7, and this loader's is 8, so a position means another sample"));
  other = Job();
  other.shuffle.set_mode(v1::SHUFFLE_MODE_NONE);
  EXPECT_THAT(Refusal(Job(), other), HasSubstr("its shuffle is 'full', and this loader's is 'none'"));
  other.shuffle.set_mode(v1::SHUFFLE_MODE_BLOCK);
  other.shuffle.set_block_samples(64);
  other.shuffle.set_window_blocks(2);
  EXPECT_THAT(Refusal(Job(), other), HasSubstr("is 'block' with block_samples 64 and window_blocks 2"));
}

TEST(StateTest, OtherPixelsAreTakenWhereTheyAreAccepted) {
  JobIdentity other = Job();
  other.identity.set_pixel_version(3);
  EXPECT_THAT(Refusal(Job(), other),
              AllOf(HasSubstr("its pixel version is 2, and this loader's is 3"), HasSubstr("accept_other_pixels")));
  EXPECT_TRUE(DecodeState(EncodeState(Job(), {}), other, /*accept_other_pixels=*/true).ok());
}

TEST(StateTest, NoDifferenceIsNone) {
  const v1::Pipeline pipeline = Job().pipeline;
  EXPECT_FALSE(FindDifference(pipeline, pipeline).has_value());
  EXPECT_FALSE(FindDifference(pipeline, WithDefaults(pipeline)).has_value());
  EXPECT_THAT(OpNames(pipeline), ElementsAre("RandomResizedCrop", "RandomHorizontalFlip"));
}

}  // namespace
}  // namespace stoker
