// What a pipeline gives from a prepared folder, with real servers and loaders in one process.

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/prepare/prepare.h"
#include "tests/support/cluster.h"
#include "tests/support/photo_folder.h"

namespace stoker {
namespace {

using testing::HasSubstr;

// Resize(64), CenterCrop(48), and after these RandomHorizontalFlip, ColorJitter.
v1::Pipeline Whole() {
  v1::Pipeline pipeline;
  pipeline.add_ops()->mutable_resize()->add_size(64);
  pipeline.add_ops()->mutable_center_crop()->add_size(48);
  pipeline.add_ops()->mutable_random_horizontal_flip();
  auto& jitter = *pipeline.add_ops()->mutable_color_jitter();
  for (auto* argument : {jitter.mutable_brightness(), jitter.mutable_contrast(), jitter.mutable_saturation()})
    argument->Add(0.4);
  jitter.add_hue(0.1);
  return pipeline;
}

// Its first `ops` ops.
v1::Pipeline Prefix(int ops) {
  v1::Pipeline pipeline = Whole();
  pipeline.mutable_ops()->DeleteSubrange(ops, pipeline.ops_size() - ops);
  return pipeline;
}

class PreparedTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "stoker-prepared-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    const PhotoFolderOptions photos = {.classes = 3, .images = 5, .size = {150, 200}};
    ASSERT_TRUE(WritePhotoFolder(folder_ + "/in", photos).ok());
    // One that cannot be decoded, and one that is small already.
    std::filesystem::resize_file(folder_ + "/in/class-01/image-0002.jpg", 1500);
    ASSERT_TRUE(WritePhotoFolder(folder_ + "/small", {.classes = 1, .images = 1, .size = {64, 70}}).ok());
    std::filesystem::rename(folder_ + "/small/class-00/image-0000.jpg", folder_ + "/in/class-02/image-0009.jpg");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void PrepareBy(v1::Prepared mode, const std::string& out) const {
    PrepareOptions options = {.data = folder_ + "/in", .out = folder_ + "/" + out};
    options.mode = std::move(mode);
    const auto report = Prepare(options);
    ASSERT_TRUE(report.ok()) << report.status();
  }

  EpochResult Epoch(const std::string& name, v1::Pipeline pipeline) const {
    v1::ServerConfig config;
    config.set_workers(2);
    config.add_datasets()->mutable_image_folder()->set_path(folder_ + "/" + name);
    Cluster cluster(1, config);
    pipeline.set_bad_samples(v1::BAD_SAMPLES_SUBSTITUTE);
    return RunEpoch({.servers = cluster.addresses(),
                     .pipeline = std::move(pipeline),
                     .batch_size = 4,
                     .seed = 5,
                     .last_batch = LastBatch::kPartial,
                     .span_samples = 2});
  }

  std::string folder_;
};

TEST_F(PreparedTest, APreparedPrefixGivesTheDigestOfTheOriginals) {
  for (auto scaling : {v1::JPEG_SCALING_UNSPECIFIED, v1::JPEG_SCALING_EXACT}) {
    v1::Pipeline whole = Whole(), prefix = Prefix(2);
    whole.set_jpeg_scaling(scaling);
    prefix.set_jpeg_scaling(scaling);
    v1::Prepared mode;
    *mode.mutable_pipeline() = prefix;
    const std::string out = "pixels-" + std::to_string(scaling);
    PrepareBy(mode, out);
    const EpochResult online = Epoch("in", whole), prepared = Epoch(out, whole);
    ASSERT_TRUE(online.status.ok()) << online.status;
    ASSERT_TRUE(prepared.status.ok()) << prepared.status;
    EXPECT_EQ(prepared.digest, online.digest);
    EXPECT_EQ(prepared.sample_ids, online.sample_ids);
  }
}

TEST_F(PreparedTest, TheWholeOfADeterministicPipelineCanBePrepared) {
  v1::Prepared mode;
  *mode.mutable_pipeline() = Prefix(2);
  PrepareBy(mode, "pixels");
  const EpochResult online = Epoch("in", Prefix(2)), prepared = Epoch("pixels", Prefix(2));
  ASSERT_TRUE(prepared.status.ok()) << prepared.status;
  EXPECT_EQ(prepared.digest, online.digest);
}

TEST_F(PreparedTest, APipelineThatBeginsOtherwiseIsRefused) {
  v1::Prepared mode;
  *mode.mutable_pipeline() = Prefix(2);
  PrepareBy(mode, "pixels");
  for (v1::Pipeline other : {Prefix(1), v1::Pipeline()}) {
    if (other.ops_size() > 0) other.add_ops()->mutable_center_crop()->add_size(40);
    const EpochResult epoch = Epoch("pixels", other);
    EXPECT_FALSE(epoch.status.ok());
    EXPECT_THAT(epoch.status.message(), HasSubstr("prepare"));
  }
}

TEST_F(PreparedTest, ALosslessCopyGivesTheDigestOfTheOriginals) {
  v1::Prepared mode;
  mode.mutable_lossless()->set_restart_interval(4);
  PrepareBy(mode, "lossless");
  v1::Pipeline crops;
  crops.add_ops()->mutable_random_resized_crop()->add_size(32);
  crops.add_ops()->mutable_random_horizontal_flip();
  const EpochResult online = Epoch("in", crops), prepared = Epoch("lossless", crops);
  ASSERT_TRUE(prepared.status.ok()) << prepared.status;
  EXPECT_EQ(prepared.digest, online.digest);
}

}  // namespace
}  // namespace stoker
