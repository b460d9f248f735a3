// What holds of every op, the one that is added tomorrow too, and what Descriptions say of placement, reach and cost.

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/config/yaml_scalar.h"
#include "common/ops/audio.h"
#include "common/ops/nested.h"
#include "common/ops/ops.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr ImageSize kImage = {120, 160};

// A valid op of each kind, in the order of the proto. A new kind is added here, or EveryOpHasAnExample fails.
const char* const kExamples[] = {
    "random_resized_crop { size: 32 }",
    "resize { size: 32 }",
    "center_crop { size: 32 }",
    "random_crop { size: 32 }",
    "random_horizontal_flip {}",
    "random_vertical_flip {}",
    "to_dtype { dtype: DTYPE_FLOAT32 }",
    "normalize { mean: 0 std: 1 }",
    "to_memory_format {}",
    "pad { padding: 2 }",
    "color_jitter { hue: 0.1 }",
    "grayscale { num_output_channels: 3 }",
    "random_grayscale {}",
    "random_rotation { degrees: 10 }",
    "random_affine { degrees: 10 }",
    "gaussian_blur { kernel_size: 3 }",
    "random_erasing {}",
    "random_mask { ratio: 0.1 }",
    "convert_color { to: COLOR_SPACE_YCBCR }",
    "random_posterize { bits: 4 }",
    "random_solarize { threshold: 128 }",
    "random_equalize {}",
    "random_autocontrast {}",
    "random_invert {}",
    "random_adjust_sharpness { sharpness_factor: 2 }",
    "adjust_brightness { brightness_factor: 2 }",
    "adjust_contrast { contrast_factor: 2 }",
    "adjust_saturation { saturation_factor: 2 }",
    "adjust_hue { hue_factor: 0.1 }",
    "rand_augment {}",
    "trivial_augment_wide {}",
    "random_apply { transforms { random_invert {} } }",
    "random_choice { transforms { random_invert {} } }",
    "mix_up { num_classes: 10 }",
    "cut_mix { num_classes: 10 }",
    "one_hot { num_classes: 10 }",
    "unpack_bits { field: \"bits\" shape: 64 }",
    "to_dense { field: \"words\" }",
    "sanitize_bounding_boxes {}",
    "resample { sample_rate: 16000 }",
    "random_audio_crop { samples: 16000 }",
    "random_zoom_out {}",
    "scale_jitter { target_size: [60, 40] }",
    "random_shortest_size { min_size: [24, 32, 40] max_size: 60 }",
    "auto_augment {}",
    "gaussian_noise {}",
    "jpeg { quality: 50 }",
    "random_perspective {}",
    "elastic_transform {}",
    "aug_mix {}",
    "mosaic { size: 32 }",
    "random_iou_crop {}",
    "label_smoothing { smoothing: 0.1 }",
    "to_padded { field: \"boxes\" rows: 8 }",
};

std::vector<v1::Op> Examples() {
  std::vector<v1::Op> ops;
  for (const char* text : kExamples) ops.push_back(ParseOp(text));
  return ops;
}

TEST(DescriptionsTest, EveryOpHasAnExample) {
  const auto& oneof = *v1::Op::descriptor()->FindOneofByName("op");
  std::multiset<std::string> shown;
  for (const v1::Op& op : Examples()) shown.insert(OpName(op));
  for (int i = 0; i < oneof.field_count(); ++i) {
    const std::string& name = oneof.field(i)->message_type()->name();
    EXPECT_EQ(shown.count(name), name == "OwnOp" ? 0 : 1) << "examples of " << name << " in kExamples";
  }
}

TEST(DescriptionsTest, EveryExampleIsValidWithAndWithoutDefaultsWrittenOut) {
  for (const v1::Op& op : Examples()) {
    EXPECT_TRUE(ValidateOp(op).ok()) << ValidateOp(op);
    const v1::Op full = WithDefaults(op);
    EXPECT_TRUE(ValidateOp(full).ok()) << ValidateOp(full);
    EXPECT_EQ(WithDefaults(full).SerializeAsString(), full.SerializeAsString()) << OpName(op);
  }
}

TEST(DescriptionsTest, WhatRunsOnTheServerDrawsAndEndsAtTheSizeThatIsToldBefore) {
  for (const v1::Op& op : Examples()) {
    if (!PlacementsOf(op).server) continue;
    for (uint64_t position = 0; position < 20; ++position) {
      ImageSize size = kImage;
      std::vector<OpParameters> parameters;
      const absl::Status status = DrawOp(op, {.seed = 1, .position = position}, size, parameters);
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(size, OutputSize(op, kImage).value_or(size)) << OpName(op);
    }
  }
}

TEST(DescriptionsTest, ADeterministicOpDrawsTheSameForEveryKey) {
  int deterministic = 0;
  for (const v1::Op& op : Examples()) {
    if (!PlacementsOf(op).server || !IsDeterministic(op)) continue;
    ++deterministic;
    std::vector<OpParameters> first;
    for (uint64_t position = 0; position < 20; ++position) {
      ImageSize size = kImage;
      std::vector<OpParameters> parameters;
      ASSERT_TRUE(DrawOp(op, {.seed = 1, .position = position}, size, parameters).ok());
      if (position == 0) first = parameters;
      EXPECT_EQ(parameters, first) << OpName(op);
    }
  }
  EXPECT_GE(deterministic, 8);
}

TEST(DescriptionsTest, EveryOpCostsSomethingAndMoreOfLargerImages) {
  for (const v1::Op& op : Examples()) {
    const Cost small = CostOf(op, kImage), large = CostOf(op, {480, 640});
    if (!AudioFieldOf(op).empty()) continue;  // The length of a sample's audio decides it.
    EXPECT_GT(small.arithmetic, 0) << OpName(op);
    EXPECT_GT(small.bytes, 0) << OpName(op);
    EXPECT_GE(large.arithmetic, small.arithmetic) << OpName(op);
    EXPECT_GE(large.bytes, small.bytes) << OpName(op);
  }
}

TEST(DescriptionsTest, CostsAreOfWhatOpsDo) {
  EXPECT_EQ(CostOf(ParseOp("pad { padding: 10 }"), {80, 80}).bytes, 3 * 100 * 100);
  // A resize by half reads four taps an axis, from 80×80 to 80×40 to 40×40.
  EXPECT_EQ(CostOf(ParseOp("resize { size: 40 }"), {80, 80}).arithmetic, 6 * 4 * (80 * 40 + 40 * 40));
  const Cost blur = CostOf(ParseOp("gaussian_blur { kernel_size: 9 }"), kImage);
  EXPECT_EQ(CostOf(ParseOp("random_apply { transforms { gaussian_blur { kernel_size: 9 } } "
                           "transforms { gaussian_blur { kernel_size: 9 } } }"),
                   kImage)
                .arithmetic,
            2 * blur.arithmetic);
  EXPECT_EQ(CostOf(ParseOp("random_choice { transforms { gaussian_blur { kernel_size: 9 } } "
                           "transforms { random_invert {} } }"),
                   kImage)
                .arithmetic,
            blur.arithmetic);
  EXPECT_EQ(CostOf(ParseOp("rand_augment { num_ops: 4 }"), kImage).arithmetic,
            4 * CostOf(ParseOp("trivial_augment_wide {}"), kImage).arithmetic);
}

TEST(DescriptionsTest, AnOpRunsWhereAllThatItHoldsCan) {
  const auto places = [](const std::string& op) {
    const Placements placements = PlacementsOf(ParseOp(op));
    return std::string(placements.server ? "server " : "") + (placements.device ? "device" : "");
  };
  EXPECT_EQ(places("random_apply { transforms { random_invert {} } }"), "server device");
  EXPECT_EQ(places("random_apply { transforms { random_invert {} } transforms { aug_mix {} } }"), "server ");
  EXPECT_EQ(places("random_choice { transforms { mix_up {} } transforms { cut_mix {} } }"), "device");
  EXPECT_EQ(places("normalize {}"), "device");
  EXPECT_EQ(places("rand_augment {}"), "server device");
  EXPECT_EQ(places("random_equalize {}"), "server device");
  EXPECT_EQ(places("sanitize_bounding_boxes {}"), "server ");
  EXPECT_EQ(places("resample {}"), "server ");
  EXPECT_EQ(places("random_audio_crop {}"), "server ");
  EXPECT_EQ(places("random_zoom_out {}"), "server ");
  EXPECT_EQ(places("elastic_transform {}"), "server ");
}

TEST(DescriptionsTest, AnOpActsOnWhatThoseInItActOn) {
  EXPECT_EQ(ActsOf(ParseOp("random_crop {}")), Acts::kOnGeometry);
  EXPECT_EQ(ActsOf(ParseOp("color_jitter {}")), Acts::kOnPixels);
  EXPECT_EQ(ActsOf(ParseOp("random_perspective {}")), Acts::kOnGeometry);
  EXPECT_EQ(ActsOf(ParseOp("elastic_transform {}")), Acts::kOnGeometry);
  EXPECT_EQ(ActsOf(ParseOp("jpeg {}")), Acts::kOnPixels);
  EXPECT_EQ(ActsOf(ParseOp("gaussian_noise {}")), Acts::kOnPixels);
  EXPECT_EQ(ActsOf(ParseOp("aug_mix {}")), Acts::kOnPixels);
  EXPECT_EQ(ActsOf(ParseOp("one_hot {}")), Acts::kOnField);
  EXPECT_EQ(ActsOf(ParseOp("sanitize_bounding_boxes {}")), Acts::kOnField);
  EXPECT_EQ(ActsOf(ParseOp("resample {}")), Acts::kOnField);
  EXPECT_EQ(ActsOf(ParseOp("random_audio_crop {}")), Acts::kOnField);
  EXPECT_EQ(ActsOf(ParseOp("random_apply { transforms { random_invert {} } }")), Acts::kOnPixels);
  EXPECT_EQ(ActsOf(ParseOp("random_apply { transforms { random_invert {} } transforms { pad {} } }")),
            Acts::kOnGeometry);
  EXPECT_EQ(ActsOf(ParseOp("random_choice { transforms { mix_up {} } transforms { cut_mix {} } }")), Acts::kOnBatch);
}

// ---- The documentation's table, which proto/generate_ops.py makes of the proto's comments ----

// The cells of the table's rows by the first one, an op's name.
std::map<std::string, std::vector<std::string>> DocumentedOps() {
  std::ifstream page(STOKER_SOURCE_DIR "/docs/pipeline.md");
  std::map<std::string, std::vector<std::string>> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    inside = (inside || line == "<!-- ops: generated -->") && line != "<!-- end of ops -->";
    const std::vector<std::string> cells = absl::StrSplit(line, " | ");
    if (inside && cells.size() == 4) rows[cells[0].substr(2)] = cells;
  }
  return rows;
}

// The value in "`name` = value, …" as texts of numbers or words. Nothing where none is told, or "none".
std::vector<std::string> DocumentedDefault(const std::string& arguments, const std::string& name) {
  const std::string begin = "`" + name + "` = ";
  const size_t at = arguments.find(begin);
  if (at == arguments.npos) return {};
  std::string value = arguments.substr(at + begin.size());
  value = value[0] == '[' ? value.substr(1, value.find(']') - 1) : value.substr(0, value.find_first_of(" ,"));
  if (value == "none" || value == "equal") return {};
  return absl::StrSplit(value, ", ");
}

// The number that "3/4" or "−1" means, in all its digits; another text as it is.
std::string Evaluated(const std::string& documented) {
  const std::string text = absl::StrReplaceAll(documented, {{"−", "-"}});
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('/', 1));
  if (parts.second.empty()) return text;
  return absl::StrFormat("%.17g", std::stod(parts.first) / std::stod(parts.second));
}

TEST(DocumentedOpsTest, ArePlacedWhereTheTableSays) {
  const auto rows = DocumentedOps();
  for (v1::Op op : Examples()) {
    if (op.has_to_dtype()) op.mutable_to_dtype()->set_field("vector");  // What it is of says where it may run.
    ASSERT_TRUE(rows.contains(OpName(op))) << OpName(op);
    const std::string& on_device = rows.at(OpName(op))[2];
    const Placements places = PlacementsOf(op);
    EXPECT_EQ(places.device, on_device != "no") << OpName(op);
    EXPECT_EQ(places.server, on_device != "always") << OpName(op);
  }
}

TEST(DocumentedOpsTest, MeanTheSameWithTheDefaultsOfTheTableWrittenOut) {
  const auto rows = DocumentedOps();
  int defaults = 0;
  for (const v1::Op& op : Examples()) {
    v1::Op full = op;
    const auto& reflection = *full.GetReflection();
    auto& arguments = *reflection.MutableMessage(
        &full, reflection.GetOneofFieldDescriptor(full, full.GetDescriptor()->FindOneofByName("op")));
    for (int i = 0; i < arguments.GetDescriptor()->field_count(); ++i) {
      const auto& field = *arguments.GetDescriptor()->field(i);
      const auto texts = DocumentedDefault(rows.at(OpName(op))[1], field.name());
      if (!texts.empty() && field.is_repeated() && arguments.GetReflection()->FieldSize(arguments, &field) > 0)
        continue;
      for (const std::string& text : texts)
        EXPECT_TRUE(StoreScalar(Evaluated(text), field, arguments).ok()) << OpName(op) << "." << field.name() << text;
      defaults += !texts.empty();
    }
    EXPECT_EQ(WithDefaults(full).ShortDebugString(), WithDefaults(op).ShortDebugString());
  }
  EXPECT_GT(defaults, 40);
}

TEST(DescriptionsTest, AnOwnOpIsANameUntilAServerHasIt) {
  const v1::Op fog = ParseOp("own_op { name: \"fog\" version: 3 }");
  EXPECT_TRUE(ValidateOp(fog).ok());
  EXPECT_EQ(OutputSize(fog, ImageSize{8, 8}), std::nullopt);
  ImageSize size = {8, 8};
  std::vector<OpParameters> drawn;
  EXPECT_THAT(std::string(DrawOp(fog, {}, size, drawn).message()), HasSubstr("OwnOp.name: there is no op 'fog' here"));
  EXPECT_THAT(std::string(ValidateOp(ParseOp("own_op {}")).message()), HasSubstr("OwnOp.name: must be given"));
  EXPECT_THAT(std::string(ValidateOp(ParseOp("own_op { name: \"Fog\" }")).message()),
              HasSubstr("OwnOp.name: has other characters"));
}

}  // namespace
}  // namespace stoker
