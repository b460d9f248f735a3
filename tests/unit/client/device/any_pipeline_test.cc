// Pipelines of random ops: refused with a reason, or they run and give what their fields say.

#include <numeric>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/device/device.h"
#include "common/fields/schema.h"
#include "common/pipeline/pipeline.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

class RandomPipelines {
 public:
  explicit RandomPipelines(uint32_t seed) : random_(seed) {}

  int64_t Between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_() % static_cast<uint64_t>(most - least + 1));
  }

  // At most `most` ops in a likely order: uint8 ops, floats, what may follow.
  std::string Pipeline(int most) {
    std::string text;
    for (int64_t i = Between(0, most); i > 0; --i)
      absl::StrAppend(&text, "ops { placement: PLACEMENT_DEVICE ", Any(2), " } ");
    const char* const dtypes[] = {"UINT8", "FLOAT32", "FLOAT16", "BFLOAT16"};
    absl::StrAppend(&text, "ops { to_dtype { dtype: DTYPE_", dtypes[Between(0, 3)], " } } ");
    for (int64_t i = Between(0, 3); i > 0; --i)
      absl::StrAppend(&text, "ops { placement: PLACEMENT_DEVICE ", Late(), " } ");
    return text;
  }

 private:
  std::string Number() { return absl::StrCat(Between(1, 12)); }
  std::string Interpolation() { return absl::StrCat("interpolation: ", Between(0, 10) == 0 ? 4 : Between(0, 3)); }
  std::string Fill() { return Between(0, 1) == 0 ? absl::StrCat("fill: ", Between(0, 255)) : "fill: [1, 2, 3]"; }

  std::string Any(int depth) {
    switch (Between(0, depth > 0 ? 21 : 19)) {
      case 0:
        return absl::StrCat("random_resized_crop { size: [", Number(), ",", Number(), "] ", Interpolation(), " }");
      case 1: return absl::StrCat("resize { size: ", Number(), " ", Interpolation(), " }");
      case 2: return absl::StrCat("center_crop { size: [", Number(), ",", Number(), "] }");
      case 3:
        return absl::StrCat("random_crop { size: [", Number(), ",", Number(), "] padding: ", Between(0, 9),
                            " pad_if_needed: ", Between(0, 1), " ", Fill(), " }");
      case 4:
        return absl::StrCat("pad { padding: [", Between(0, 6), ",", Between(0, 6), "] padding_mode: ", Between(0, 4),
                            " ", Fill(), " }");
      case 5: return absl::StrCat("random_rotation { degrees: 180 ", Interpolation(), " ", Fill(), " }");
      case 6:
        return absl::StrCat("random_affine { degrees: 9 translate: [1, 1] scale: [0.001, 9] shear: 89 ", Fill(), " }");
      case 7: return "random_horizontal_flip {}";
      case 8: return "random_vertical_flip {}";
      case 9: return "color_jitter { brightness: 0.9 contrast: 2 saturation: 9 hue: 0.5 }";
      case 10: return "adjust_contrast { contrast_factor: 1000 }";
      case 11: return absl::StrCat("gaussian_blur { kernel_size: ", 2 * Between(0, 6) + 1, " sigma: [0.001, 900] }");
      case 12: return absl::StrCat("random_mask { ratio: ", Between(1, 10) * 0.1, " }");
      case 13: return absl::StrCat("random_erasing { value: ", Between(0, 255), " p: 1 scale: [0.001, 1] }");
      case 14: return absl::StrCat("random_posterize { bits: ", Between(0, 8), " }");
      case 15: return absl::StrCat("random_solarize { threshold: ", Between(0, 256), " }");
      case 16: return "random_equalize {}";
      case 17: return "random_autocontrast { p: 0.8 }";
      case 18: return absl::StrCat("random_adjust_sharpness { sharpness_factor: ", Between(0, 9), " }");
      case 19: return absl::StrCat("rand_augment { num_ops: ", Between(0, 3), " magnitude: 30 ", Fill(), " }");
      case 20:
        return absl::StrCat("random_apply { transforms { ", Any(depth - 1), " } transforms { ", Any(depth - 1), " } }");
      default:
        return absl::StrCat("random_choice { transforms { ", Any(depth - 1), " } transforms { ", Any(depth - 1),
                            " } }");
    }
  }

  std::string Late() {
    switch (Between(0, 11)) {
      case 9: return "label_smoothing { smoothing: 0.25 }";
      case 10: return "cut_mix { per_sample: true }";
      case 11: return "one_hot { num_classes: 5 }";
      case 0: return "normalize { mean: 0.5 std: 0.25 }";
      case 1: return Between(0, 1) == 0 ? "random_erasing { value: -3.5 }" : "random_erasing { noise: true }";
      case 2: return "mix_up { num_classes: 5 alpha: 0.001 }";
      case 3: return "cut_mix { num_classes: 5 alpha: 1000 }";
      case 4: return "one_hot { num_classes: 5 dtype: DTYPE_INT64 }";
      case 5: return "to_memory_format {}";
      case 6: return "random_vertical_flip {}";
      case 7:
        return "random_choice { transforms { cut_mix { num_classes: 5 } } transforms { mix_up { num_classes: 5 } } }";
      default: return Any(1);
    }
  }

  std::mt19937 random_;
};

TEST(AnyPipelineTest, IsRefusedWithAReasonOrRuns) {
  int ran = 0, refused = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    RandomPipelines random(seed);
    const int64_t channels[] = {1, 3, 3, 3, 4};
    const std::vector<int64_t> shape = {random.Between(1, 12), random.Between(1, 12), channels[random.Between(0, 4)]};
    v1::Field image, label;
    image.set_name("image"), image.set_dtype(v1::DTYPE_UINT8);
    for (int64_t extent : shape) image.add_shape(extent);
    label.set_name("label"), label.set_dtype(v1::DTYPE_UINT8);
    const std::string text = random.Pipeline(5);
    v1::Pipeline spec;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &spec)) << text;
    const auto pipeline = DevicePipeline::Create(spec, {image, label});
    if (!pipeline.ok()) {
      ASSERT_TRUE(absl::StartsWith(pipeline.status().message(), "pipeline.ops[")) << pipeline.status();
      ++refused;
      continue;
    }
    const int64_t rows = random.Between(0, 3);
    std::vector<uint64_t> positions(rows);
    std::iota(positions.begin(), positions.end(), seed);
    std::vector<uint8_t> images(rows * shape[0] * shape[1] * shape[2]), labels(rows);
    for (uint8_t& value : images) value = static_cast<uint8_t>(random.Between(0, 255));
    for (uint8_t& value : labels) value = static_cast<uint8_t>(random.Between(0, 4));
    const auto tensors = HostDevice()->Submit(*pipeline, {seed, 0, positions, {images, labels}, nullptr});
    ASSERT_TRUE(tensors.ok()) << tensors.status() << text;
    for (size_t i = 0; i < tensors->size(); ++i) {
      const auto bytes = ByteSize(pipeline->fields()[i]);
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      ASSERT_EQ((*tensors)[i].bytes, *bytes * rows) << text;
    }
    ++ran;
  }
  EXPECT_GT(ran, 500);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace stoker
