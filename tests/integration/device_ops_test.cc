// Each op on the device against itself on the server: the same draws, hence the same image but for what is said here.
//
// Bounds are in levels of 0 to 255, over paintings with fine detail. Ops that are exact: crops, pads, flips, erasing,
// masks, colors, blur, sharpness, turns to the nearest pixel, and resizes that weigh more than four pixels. The others
// differ in what one gather per pixel cannot do:
//
// - Resizing without antialias is the same triangle, in other arithmetic: a level.
// - Turning with bilinear truncates there and rounds here: a level.
// - Several at once are interpolated once, on the server one after the other.

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/loader/loader.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"
#include "tests/support/photo_folder.h"

namespace stoker {
namespace {

v1::ServerConfig PhotoConfig(const std::string& folder) {
  v1::ServerConfig config = SyntheticConfig(1);
  config.clear_datasets();
  auto& dataset = *config.add_datasets();
  dataset.set_name("photos");
  dataset.mutable_image_folder()->set_path(folder);
  return config;
}

class DeviceOpsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = absl::StrCat(testing::TempDir(), "device-ops-", getpid());
    ASSERT_TRUE(WritePhotoFolder(folder_, {.classes = 2, .images = 12, .size = {90, 120}}).ok());  // 24 paintings.
    cluster_ = new Cluster(1, PhotoConfig(folder_));
  }
  static void TearDownTestSuite() {
    delete cluster_;
    std::filesystem::remove_all(folder_);
  }

  // All images of an epoch under `ops`, the last `moved` of them on the device.
  static std::vector<uint8_t> Images(std::vector<std::string> ops, size_t moved) {
    ops.insert(ops.begin(), "resize { size: [72, 96] }");
    for (size_t i = ops.size() - moved; i < ops.size(); ++i) ops[i] = "placement: PLACEMENT_DEVICE " + ops[i];
    LoaderOptions job;
    job.servers = cluster_->addresses();
    job.batch_size = 8;
    job.seed = 11;
    job.pipeline.emplace();
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        absl::StrJoin(ops, "",
                      [](std::string* out, const std::string& op) { absl::StrAppend(out, "ops { ", op, " } "); }),
        &*job.pipeline));
    auto loader = Loader::Create(job);
    EXPECT_TRUE(loader.ok()) << loader.status();
    std::vector<uint8_t> images;
    while (loader.ok()) {
      auto batch = (*loader)->Next();
      EXPECT_TRUE(batch.ok()) << batch.status();
      if (!batch.ok() || !batch->has_value()) break;
      const Tensor& image = (*batch)->tensors()[0];
      const auto* bytes = static_cast<const uint8_t*>(image.data);
      images.insert(images.end(), bytes, bytes + image.bytes);
    }
    EXPECT_FALSE(images.empty());
    return images;
  }

  struct Difference {
    int most = 0;
    double mean = 0, changed = 0;  // Of levels; of values that differ, as a share.
  };

  static Difference Moved(const std::vector<std::string>& ops) {
    const std::vector<uint8_t> server = Images(ops, 0), device = Images(ops, ops.size());
    EXPECT_EQ(server.size(), device.size());
    Difference difference;
    for (size_t i = 0; i < server.size() && i < device.size(); ++i) {
      const int levels = std::abs(server[i] - device[i]);
      difference.most = std::max(difference.most, levels);
      difference.mean += levels;
      difference.changed += levels != 0;
    }
    difference.mean /= static_cast<double>(server.size());
    difference.changed /= static_cast<double>(server.size());
    // That the ops do something at all.
    EXPECT_NE(server, Images({}, 0)) << absl::StrJoin(ops, ", ");
    return difference;
  }

  static inline std::string folder_;
  static inline Cluster* cluster_ = nullptr;
};

TEST_F(DeviceOpsTest, ExactOpsAreTheSameToTheBit) {
  const std::vector<std::string> each[] = {
      {"random_horizontal_flip {}"},
      {"random_vertical_flip {}"},
      {"random_crop { size: 64 }"},
      {"random_crop { size: [72, 96] padding: 8 fill: [9, 80, 200] }"},
      {"center_crop { size: 40 }"},
      {"center_crop { size: 120 }"},
      {"pad { padding: [3, 5, 7, 1] fill: 17 }"},
      {"pad { padding: 9 padding_mode: PADDING_MODE_EDGE }"},
      {"pad { padding: 9 padding_mode: PADDING_MODE_REFLECT }"},
      {"pad { padding: 9 padding_mode: PADDING_MODE_SYMMETRIC }"},
      {"random_erasing { p: 0.8 value: [1, 2, 3] }"},
      {"random_mask { ratio: 0.1 }"},
      {"random_mask { ratio: 0.4 dilate: false }"},
      {"gaussian_blur { kernel_size: 3 }"},
      {"gaussian_blur { kernel_size: [9, 23] sigma: [0.5, 4] }"},
      {"color_jitter { brightness: 0.5 contrast: 0.5 saturation: 0.5 hue: 0.3 }"},
      {"adjust_brightness { brightness_factor: 1.7 }"},
      {"adjust_contrast { contrast_factor: 0.3 }"},
      {"adjust_saturation { saturation_factor: 2.5 }"},
      {"adjust_hue { hue_factor: -0.2 }"},
      {"grayscale { num_output_channels: 3 }"},
      {"random_grayscale { p: 0.5 }"},
      {"random_posterize { bits: 3 }"},
      {"random_solarize { threshold: 90.5 }"},
      {"random_invert {}"},
      {"random_equalize { p: 0.7 }"},
      {"adjust_contrast { contrast_factor: 0.4 }", "random_autocontrast { p: 0.7 }"},
      {"adjust_brightness { brightness_factor: 0.2 }", "random_equalize { p: 1 }", "random_autocontrast { p: 1 }",
       "random_solarize { threshold: 128 }"},
      {"random_adjust_sharpness { sharpness_factor: 0 }"},
      {"random_adjust_sharpness { sharpness_factor: 2.7 p: 0.8 }"},
      {"random_crop { size: 48 padding: 12 }", "random_horizontal_flip {}", "random_vertical_flip {}",
       "color_jitter { contrast: 0.5 hue: 0.1 }", "adjust_contrast { contrast_factor: 1.5 }", "random_grayscale {}",
       "gaussian_blur { kernel_size: 5 }", "random_erasing {}", "random_mask { ratio: 0.02 }",
       "random_horizontal_flip {}"},
      {"random_apply { p: 0.7 transforms { color_jitter { brightness: 0.4 } } transforms { gaussian_blur { "
       "kernel_size: "
       "3 } } }",
       "random_choice { transforms { random_horizontal_flip { p: 1 } } transforms { random_solarize { threshold: 128 "
       "p: "
       "1 } } }"},
  };
  for (const std::vector<std::string>& ops : each) EXPECT_EQ(Moved(ops).most, 0) << absl::StrJoin(ops, ", ");
}

TEST_F(DeviceOpsTest, ResizesThatWeighMorePixelsAreTheSameToTheBit) {
  const std::string bicubic = "interpolation: INTERPOLATION_BICUBIC";
  const std::vector<std::string> each[] = {
      {"resize { size: [64, 86] }"},
      {"resize { size: [48, 64] }"},
      {"resize { size: [100, 133] }"},
      {"resize { size: [30, 200] }"},
      {"resize { size: [2, 3] }"},  // More than 32 pixels for one.
      {"resize { size: [48, 64] " + bicubic + " }"},
      {"resize { size: [100, 33] " + bicubic + " }"},
      {"resize { size: [1, 1] " + bicubic + " }"},
      {"resize { size: [100, 33] " + bicubic + " antialias: false }"},
      {"resize { size: 31 " + bicubic + " antialias: false }"},
      {"random_resized_crop { size: 64 }"},
      {"random_resized_crop { size: [7, 3] scale: [0.5, 1] ratio: [0.2, 5] }"},
      {"random_resized_crop { size: [64, 40] " + bicubic + " }", "random_horizontal_flip {}"},
      {"random_horizontal_flip {}", "center_crop { size: 50 }", "random_resized_crop { size: 50 }",
       "color_jitter { contrast: 0.5 }", "resize { size: 23 }", "random_vertical_flip {}"},
      {"random_apply { transforms { random_resized_crop { size: [72, 96] } } transforms { random_invert {} } }"},
  };
  for (const std::vector<std::string>& ops : each) EXPECT_EQ(Moved(ops).most, 0) << absl::StrJoin(ops, ", ");
}

TEST_F(DeviceOpsTest, ResizesWithoutAFilterAgreeWithinALevel) {
  for (const char* op : {"resize { size: [30, 50] antialias: false }", "resize { size: [100, 133] antialias: false }",
                         "resize { size: [72, 200] antialias: false }",
                         "random_resized_crop { size: 64 scale: [0.3, 1] antialias: false }"})
    EXPECT_LE(Moved({op}).most, 1) << op;
}

// A crop after a resize hides none of the pixels that its border was made of.
TEST_F(DeviceOpsTest, CropsOfResizedImagesAgreeWithinALevel) {
  const std::string enlarge = "resize { size: [144, 192] antialias: false }";
  const std::vector<std::string> each[] = {
      {enlarge, "center_crop { size: 71 }"},
      {enlarge, "center_crop { size: [160, 64] }"},
      {enlarge, "random_crop { size: 64 }"},
      {enlarge, "random_crop { size: 140 padding: 30 fill: [9, 80, 200] }"},
      {enlarge, "center_crop { size: 80 }", "pad { padding: 5 fill: 200 }"},
      {enlarge, "random_horizontal_flip {}", "random_crop { size: 90 }", "random_crop { size: [140, 64] padding: 30 }"},
      {"center_crop { size: 60 }", enlarge, "center_crop { size: 80 }", "center_crop { size: 40 }"},
      {"random_resized_crop { size: 100 scale: [0.1, 1] antialias: false }", "random_crop { size: 64 }"},
  };
  for (const std::vector<std::string>& ops : each) EXPECT_LE(Moved(ops).most, 1) << absl::StrJoin(ops, ", ");
}

// Where a center falls on the border of two pixels, the server, which adds up steps as Pillow does, may take the one
// before: here in the middle row and column, and in a few of a drawn crop.
TEST_F(DeviceOpsTest, NearestResizesTakeTheSamePixelsButForBorders) {
  for (const char* op : {"resize { size: [32, 64] interpolation: INTERPOLATION_NEAREST }",
                         "resize { size: [40, 160] interpolation: INTERPOLATION_NEAREST }"})
    EXPECT_EQ(Moved({op}).most, 0) << op;
  EXPECT_LE(Moved({"resize { size: [31, 53] interpolation: INTERPOLATION_NEAREST }"}).changed, 1.0 / 31 + 1.0 / 53);
  EXPECT_LE(Moved({"random_resized_crop { size: 64 interpolation: INTERPOLATION_NEAREST }"}).changed, 0.01);
}

TEST_F(DeviceOpsTest, TurnsToTheNearestPixelAreTheSameToTheBit) {
  const std::string turn = "random_rotation { degrees: 30 fill: [5, 90, 160] }";
  const std::vector<std::string> each[] = {
      {turn},
      {"random_affine { degrees: 20 translate: [0.2, 0.1] scale: [0.7, 1.4] shear: 10 }"},
      {"random_affine { degrees: 0 shear: [20, 20] fill: 70 }"},
      {"random_crop { size: [50, 61] }", turn, "random_horizontal_flip {}", "center_crop { size: 40 }",
       "random_vertical_flip {}"},
      {"random_resized_crop { size: 50 }", turn, "random_crop { size: 33 }", "random_horizontal_flip {}"},
  };
  for (const std::vector<std::string>& ops : each) EXPECT_EQ(Moved(ops).most, 0) << absl::StrJoin(ops, ", ");
}

TEST_F(DeviceOpsTest, BilinearTurnsAgreeWithinALevel) {
  const std::string bilinear[] = {"random_rotation { degrees: 30 interpolation: INTERPOLATION_BILINEAR }",
                                  "random_affine { degrees: 20 translate: [0.2, 0.1] scale: [0.7, 1.4] shear: 10 "
                                  "interpolation: INTERPOLATION_BILINEAR fill: 128 }"};
  for (const std::string& op : bilinear) EXPECT_LE(Moved({op}).most, 1) << op;
}

TEST_F(DeviceOpsTest, PoliciesAreTheSameToTheBit) {
  const std::string nearest[] = {
      "rand_augment {}",
      "rand_augment { num_ops: 5 magnitude: 25 fill: [9, 80, 200] }",
      "trivial_augment_wide {}",
      "auto_augment {}",
      "auto_augment { policy: AUTO_AUGMENT_POLICY_CIFAR10 }",
      "auto_augment { policy: AUTO_AUGMENT_POLICY_SVHN }",
      "random_apply { p: 0.8 transforms { rand_augment {} } transforms { random_horizontal_flip {} } }",
      "random_choice { transforms { trivial_augment_wide {} } transforms { random_equalize { p: 1 } } }",
  };
  for (const std::string& op : nearest) EXPECT_EQ(Moved({op}).most, 0) << op;
}

TEST_F(DeviceOpsTest, OneGatherStandsForAChainOfGeometricOps) {
  const Difference difference =
      Moved({"random_crop { size: 70 }", "resize { size: [80, 80] antialias: false }",
             "random_rotation { degrees: 15 interpolation: INTERPOLATION_BILINEAR }", "random_horizontal_flip {}"});
  EXPECT_LE(difference.mean, 2);
}

// Maps that lie on an image, in a dataset of random values.
class DeviceMapsTest : public testing::Test {
 protected:
  static v1::ServerConfig Config() {
    v1::ServerConfig config = SyntheticConfig(24);
    auto& synthetic = *config.mutable_datasets(0)->mutable_synthetic();
    const auto add = [&synthetic](const char* name, v1::Dtype dtype, v1::FieldKind kind) {
      auto& map = *synthetic.add_fields();
      map.set_name(name), map.set_dtype(dtype), map.set_kind(kind);
      for (int extent : {16, 12}) map.add_shape(extent);
    };
    add("labels", v1::DTYPE_UINT8, v1::FIELD_KIND_LABEL_MAP);
    add("many", v1::DTYPE_INT16, v1::FIELD_KIND_LABEL_MAP);
    add("mask", v1::DTYPE_UINT8, v1::FIELD_KIND_BINARY_MAP);
    return config;
  }

  // The maps of an epoch under `ops`, the last `moved` of them on the device: three vectors of bytes.
  std::vector<std::vector<uint8_t>> Maps(std::vector<std::string> ops, size_t moved) {
    ops.insert(ops.begin(), "random_vertical_flip {}");
    for (size_t i = ops.size() - moved; i < ops.size(); ++i) ops[i] = "placement: PLACEMENT_DEVICE " + ops[i];
    LoaderOptions job;
    job.servers = cluster_.addresses();
    job.batch_size = 8;
    job.seed = 11;
    job.pipeline.emplace();
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        absl::StrCat("ops { ", absl::StrJoin(ops, " } ops { "), " }"), &*job.pipeline));
    auto loader = Loader::Create(job);
    EXPECT_TRUE(loader.ok()) << loader.status();
    std::vector<std::vector<uint8_t>> maps(3);
    while (loader.ok()) {
      auto batch = (*loader)->Next();
      EXPECT_TRUE(batch.ok()) << batch.status();
      if (!batch.ok() || !batch->has_value()) break;
      const std::string names[] = {"labels", "many", "mask"};
      for (const Tensor& tensor : (*batch)->tensors())
        for (size_t i = 0; i < maps.size(); ++i) {
          const auto* bytes = static_cast<const uint8_t*>(tensor.data);
          if (tensor.name == names[i]) maps[i].insert(maps[i].end(), bytes, bytes + tensor.bytes);
        }
    }
    for (const std::vector<uint8_t>& map : maps) EXPECT_FALSE(map.empty());
    return maps;
  }

  Cluster cluster_{1, Config()};
};

TEST_F(DeviceMapsTest, MapsMoveAsOnTheServer) {
  const std::vector<std::string> each[] = {
      {"random_horizontal_flip {}"},
      {"random_crop { size: 9 }", "random_horizontal_flip {}", "color_jitter { hue: 0.2 }", "random_vertical_flip {}"},
      {"pad { padding: [2, 3] map_fill: 200 }", "random_crop { size: [14, 9] padding: 6 map_fill: 9 }"},
      {"pad { padding: 5 padding_mode: PADDING_MODE_REFLECT }", "gaussian_blur { kernel_size: 3 }"},
      {"resize { size: [32, 36] }", "center_crop { size: 11 }"},
      {"resize { size: [8, 4] interpolation: INTERPOLATION_BICUBIC }", "random_horizontal_flip {}"},
      {"random_choice { transforms { random_horizontal_flip { p: 1 } } transforms { random_crop { size: [16, 12] "
       "padding: 4 map_fill: 3 } } transforms { random_invert {} } }"},
      {"random_rotation { degrees: 30 map_fill: 255 interpolation: INTERPOLATION_BILINEAR }"},
      {"rand_augment { num_ops: 3 magnitude: 20 map_fill: 7 }", "trivial_augment_wide {}", "random_vertical_flip {}"},
  };
  for (const std::vector<std::string>& ops : each)
    EXPECT_EQ(Maps(ops, ops.size()), Maps(ops, 0)) << absl::StrJoin(ops, ", ");
}

// Nearest resizes take the pixel before where a center falls on the border of two, on the server.
TEST_F(DeviceMapsTest, ResizedMapsDifferInFewValues) {
  for (const std::string op :
       {"random_resized_crop { size: 24 }", "random_resized_crop { size: 7 antialias: false }"}) {
    const auto device = Maps({op}, 1), server = Maps({op}, 0);
    for (size_t i = 0; i < server.size(); ++i) {
      ASSERT_EQ(device[i].size(), server[i].size());
      double changed = 0;
      for (size_t at = 0; at < server[i].size(); ++at) changed += server[i][at] != device[i][at];
      EXPECT_LE(changed / static_cast<double>(server[i].size()), 0.02) << op;
    }
  }
}

TEST_F(DeviceOpsTest, DescribeRefusesWhatNoDeviceCanRun) {
  LoaderOptions job;
  job.servers = cluster_->addresses();
  job.batch_size = 8;
  job.pipeline.emplace();
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "ops { resize { size: [32, 32] } } ops { placement: PLACEMENT_DEVICE random_crop { size: 40 } }",
      &*job.pipeline));
  const absl::Status status = Loader::Create(job).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(status.message().find("pipeline.ops[1]: RandomCrop.size: an image of 32×32"), std::string::npos) << status;
}

}  // namespace
}  // namespace stoker
