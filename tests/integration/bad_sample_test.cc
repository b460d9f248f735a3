// Damaged, vanished and changed files, through real servers.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"
#include "tests/support/photo_folder.h"

namespace stoker {
namespace {

using testing::HasSubstr;

class BadSampleTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "bad-sample-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    const absl::Status made = WritePhotoFolder(folder_ + "/photos", {.classes = 2, .images = 10, .size = {48, 64}});
    ASSERT_TRUE(made.ok()) << made;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ + "/photos"))
      if (entry.is_regular_file()) files_.push_back(entry.path());
    std::sort(files_.begin(), files_.end());
    ASSERT_EQ(files_.size(), 20);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  v1::ServerConfig Config() const {
    v1::ServerConfig config;
    config.set_workers(2);
    config.set_memory_limit("1GiB");
    config.set_max_pixels(1 << 20);
    config.add_datasets()->mutable_image_folder()->set_path(folder_ + "/photos");
    return config;
  }

  LoaderOptions Job(const Cluster& cluster) const {
    LoaderOptions options;
    options.servers = cluster.addresses();
    options.batch_size = 5;
    options.span_samples = 4;
    options.last_batch = LastBatch::kPartial;
    return options;
  }

  std::string NameOf(size_t file) const { return std::filesystem::relative(files_[file], folder_ + "/photos"); }

  void Overwrite(size_t file, const std::string& bytes) { std::ofstream(files_[file], std::ios::binary) << bytes; }

  // Overwrites a file by its first half.
  void Truncate(size_t file) {
    std::filesystem::resize_file(files_[file], std::filesystem::file_size(files_[file]) / 2);
  }

  std::string folder_;
  std::vector<std::string> files_;
};

TEST_F(BadSampleTest, WholeFoldersAreServed) {
  Cluster cluster(1, Config());
  const EpochResult epoch = RunEpoch(Job(cluster));
  EXPECT_TRUE(epoch.status.ok()) << epoch.status;
  EXPECT_EQ(epoch.sample_ids.size(), 20);
}

TEST_F(BadSampleTest, ATruncatedFileEndsTheEpochAndIsNamed) {
  Truncate(7);
  Cluster cluster(2, Config());
  const EpochResult epoch = RunEpoch(Job(cluster));
  EXPECT_TRUE(absl::IsDataLoss(epoch.status)) << epoch.status;
  EXPECT_THAT(epoch.status.message(), HasSubstr(NameOf(7)));
}

TEST_F(BadSampleTest, AnotherEpochMayBeTriedAfterABadSample) {
  Truncate(7);
  Cluster cluster(1, Config());
  auto loader = Loader::Create(Job(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  const EpochResult first = RunEpoch(**loader);
  ASSERT_TRUE(absl::IsDataLoss(first.status)) << first.status;
  (*loader)->SetEpoch(0);
  EXPECT_EQ(RunEpoch(**loader).sample_ids, first.sample_ids) << "up to the bad one, again";
}

TEST_F(BadSampleTest, AFileThatIsNoImageIsNamed) {
  Overwrite(3, "#!/bin/sh\n");
  Cluster cluster(1, Config());
  const EpochResult epoch = RunEpoch(Job(cluster));
  EXPECT_TRUE(absl::IsDataLoss(epoch.status)) << epoch.status;
  EXPECT_THAT(epoch.status.message(), HasSubstr(NameOf(3)));
  EXPECT_THAT(epoch.status.message(), HasSubstr("not a JPEG, PNG, WebP, BMP, PNM or TIFF file"));
}

TEST_F(BadSampleTest, ABombIsRefusedFromItsHeader) {
  // Start of image, a baseline frame header that claims 65500×65500, start of scan.
  Overwrite(3, std::string("\xff\xd8\xff\xc0\x00\x11\x08\xff\xdc\xff\xdc\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01"
                           "\xff\xda\x00\x0c\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00",
                           35));
  Cluster cluster(1, Config());
  const EpochResult epoch = RunEpoch(Job(cluster));
  EXPECT_TRUE(absl::IsDataLoss(epoch.status)) << epoch.status;
  EXPECT_THAT(epoch.status.message(), HasSubstr(NameOf(3)));
  EXPECT_THAT(epoch.status.message(), HasSubstr("65500"));
}

TEST_F(BadSampleTest, SubstitutesAreTheSameEverywhereCountedAndNamed) {
  Truncate(7);
  Overwrite(12, "not an image");
  std::set<std::string> digests;
  for (int servers : {1, 2}) {
    Cluster cluster(servers, Config());
    LoaderOptions job = Job(cluster);
    job.pipeline = v1::Pipeline();
    job.pipeline->add_ops()->mutable_random_resized_crop()->add_size(32);
    job.pipeline->set_bad_samples(v1::BAD_SAMPLES_SUBSTITUTE);
    job.span_samples = servers;
    auto loader = Loader::Create(job);
    ASSERT_TRUE(loader.ok()) << loader.status();
    const EpochResult epoch = RunEpoch(**loader);
    ASSERT_TRUE(epoch.status.ok()) << epoch.status;
    digests.insert(epoch.digest);
    EXPECT_EQ(epoch.sample_ids.size(), 20);
    EXPECT_EQ(std::count(epoch.sample_ids.begin(), epoch.sample_ids.end(), 7), 0);
    EXPECT_EQ((*loader)->stats().substituted, 2);

    (*loader)->SetEpoch(0);
    std::vector<Substituted> substituted;
    for (auto batch = (*loader)->Next(); batch.ok() && batch->has_value(); batch = (*loader)->Next())
      substituted.insert(substituted.end(), (*batch)->substituted().begin(), (*batch)->substituted().end());
    ASSERT_EQ(substituted.size(), 2);
    for (const Substituted& bad : substituted) {
      EXPECT_THAT(bad.bad_sample_id, testing::AnyOf(7, 12));
      EXPECT_EQ(bad.bad_sample_name, NameOf(bad.bad_sample_id));
      // The next position's own sample and draws stand in.
      EXPECT_NE(epoch.sample_ids[bad.position], bad.bad_sample_id);
      EXPECT_EQ(epoch.sample_ids[bad.position], epoch.sample_ids[(bad.position + 1) % 20]);
    }
  }
  EXPECT_EQ(digests.size(), 1);
}

TEST_F(BadSampleTest, AVanishedFileIsTheMachinesFaultAndNeverSubstituted) {
  Cluster cluster(1, Config());
  std::filesystem::remove(files_[5]);
  LoaderOptions job = Job(cluster);
  job.pipeline = v1::Pipeline();
  job.pipeline->add_ops()->mutable_random_resized_crop()->add_size(32);
  job.pipeline->set_bad_samples(v1::BAD_SAMPLES_SUBSTITUTE);
  const EpochResult epoch = RunEpoch(job);
  EXPECT_TRUE(absl::IsUnavailable(epoch.status)) << epoch.status;
  EXPECT_THAT(epoch.status.message(), HasSubstr("every server failed"));
  EXPECT_THAT(epoch.status.message(), HasSubstr(NameOf(5)));
  EXPECT_THAT(epoch.status.message(), HasSubstr(cluster.addresses()[0]));
}

TEST_F(BadSampleTest, AFileThatVanishedOnOneServerIsMadeByAnother) {
  std::filesystem::create_directories(folder_ + "/copy");
  std::filesystem::copy(folder_ + "/photos", folder_ + "/copy/photos", std::filesystem::copy_options::recursive);
  v1::ServerConfig other = Config();
  other.mutable_datasets(0)->mutable_image_folder()->set_path(folder_ + "/copy/photos");
  Cluster a(1, Config()), b(1, other);
  const std::string digest = RunEpoch(Job(b)).digest;
  for (size_t file = 0; file < 20; ++file) std::filesystem::remove(files_[file]);
  LoaderOptions job = Job(a);
  job.servers.push_back(b.addresses()[0]);
  const EpochResult epoch = RunEpoch(job);
  EXPECT_TRUE(epoch.status.ok()) << epoch.status;
  EXPECT_EQ(epoch.digest, digest);
}

TEST_F(BadSampleTest, AFileThatGrewIsSaidToHaveChanged) {
  Cluster cluster(1, Config());
  std::ofstream(files_[2], std::ios::binary | std::ios::app) << "tail";
  const EpochResult epoch = RunEpoch(Job(cluster));
  EXPECT_TRUE(absl::IsUnavailable(epoch.status)) << epoch.status;
  EXPECT_THAT(epoch.status.message(), HasSubstr("changed since it was indexed"));
}

}  // namespace
}  // namespace stoker
