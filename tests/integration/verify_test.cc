// Replicas that differ, and jobs that have spans made twice to find it.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/main/check.h"
#include "tests/support/cluster.h"
#include "tests/support/photo_folder.h"
#include "tests/support/tcp_proxy.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Overwrites bytes in place. Size and time stay as they were, as where a disk or a copy went wrong.
void Overwrite(const fs::path& path, size_t offset, const std::string& bytes) {
  const auto time = fs::last_write_time(path);
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file << bytes;
  }
  fs::last_write_time(path, time);
}

// Copies of a folder of 40 photographs, one for each server.
class VerifyTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "verify-" + std::to_string(getpid());
    fs::remove_all(folder_);
    for (int copy = 0; copy < 3; ++copy) {
      const auto made = WritePhotoFolder(Copy(copy), {.classes = 2, .images = 20, .size = {120, 160}, .quality = 95});
      ASSERT_TRUE(made.ok()) << made;
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path Copy(int server) const { return absl::StrCat(folder_, "/copy-", server, "/photos"); }

  v1::ServerConfig Config(int server) const {
    v1::ServerConfig config;
    config.set_workers(2);
    config.set_memory_limit("1GiB");
    config.set_max_pixels(1 << 20);
    config.set_cache_dir(folder_ + "/cache");
    config.add_datasets()->mutable_image_folder()->set_path(Copy(server));
    return config;
  }

  Cluster Servers(int servers, const std::string& span_cache = "") const {
    std::vector<v1::ServerConfig> configs;
    for (int server = 0; server < servers; ++server) {
      configs.push_back(Config(server));
      configs.back().set_span_cache(span_cache);
    }
    return Cluster(configs);
  }

  static LoaderOptions Job(const Cluster& cluster, double verify) {
    LoaderOptions options;
    options.servers = cluster.addresses();
    options.pipeline.emplace().add_ops()->mutable_center_crop()->add_size(96);
    options.batch_size = 5;
    options.span_samples = 2;
    options.last_batch = LastBatch::kPartial;
    options.verify = verify;
    return options;
  }

  // Iterates until an epoch fails. Of three servers the one that differs may make no span that has the sample, neither
  // first nor as a check, which happens to one epoch of three.
  static absl::Status RunUntilItFails(const LoaderOptions& job) {
    auto loader = *Loader::Create(job);
    absl::Status status;
    for (int epoch = 0; epoch < 100 && status.ok(); ++epoch) status = RunEpoch(*loader).status;
    return status;
  }

  // 2 KiB in the middle of a file become others.
  void Damage(int server) const {
    const fs::path path = Copy(server) / kDamaged;
    const size_t size = fs::file_size(path);
    ASSERT_GT(size, 6000u);
    std::string bytes = ReadFile(path).substr(size / 2, 2048);
    std::reverse(bytes.begin(), bytes.end());
    Overwrite(path, size / 2, bytes);
  }

  // A file becomes another image of as many bytes.
  void Replace(int server) const {
    const fs::path path = Copy(server) / kDamaged;
    for (const auto& other : fs::directory_iterator(Copy(server) / "class-00")) {
      std::string bytes = ReadFile(other);
      if (bytes.size() >= fs::file_size(path)) continue;
      bytes.resize(fs::file_size(path));  // What follows the end of a JPEG is not looked at.
      return Overwrite(path, 0, bytes);
    }
    FAIL() << "no image is smaller than " << path;
  }

  static constexpr char kDamaged[] = "class-01/image-0007.jpg";
  static constexpr char kSample[] = "sample 'class-01/image-0007.jpg' (id 27, epoch ";
  std::string folder_;
};

TEST_F(VerifyTest, ServersThatAgreeGiveTheSameDigestAndEachSpanIsVerified) {
  Cluster one = Servers(1), two = Servers(2);
  const EpochResult expected = RunEpoch(Job(one, 1));
  ASSERT_TRUE(expected.status.ok()) << expected.status;
  auto loader = *Loader::Create(Job(two, 1));
  const EpochResult result = RunEpoch(*loader);
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.digest, expected.digest);
  const LoaderStats stats = loader->stats();
  EXPECT_GE(stats.verified_spans, 24u) << "40 samples in spans of at most 2, cut at batches of 5";
  EXPECT_EQ(stats.differing_spans, 0u);
  EXPECT_EQ(stats.unverified_spans, 0u);
}

TEST_F(VerifyTest, OneServerAloneIsNotAskedTwice) {
  Cluster one = Servers(1);
  auto loader = *Loader::Create(Job(one, 1));
  EXPECT_TRUE(RunEpoch(*loader).status.ok());
  EXPECT_EQ(loader->stats().verified_spans, 0u);
}

TEST_F(VerifyTest, WithoutItNothingIsMadeTwice) {
  Cluster two = Servers(2);
  auto loader = *Loader::Create(Job(two, 0));
  EXPECT_TRUE(RunEpoch(*loader).status.ok());
  EXPECT_EQ(loader->stats().verified_spans, 0u);
}

TEST_F(VerifyTest, ADamagedFileOnOneOfThreeServersIsNamed) {
  Damage(1);
  Cluster three = Servers(3);
  const absl::Status status = RunUntilItFails(Job(three, 1));
  ASSERT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), StartsWith(three.addresses()[1]));
  EXPECT_THAT(std::string(status.message()), HasSubstr(kSample));
}

TEST_F(VerifyTest, AReplacedFileOnOneOfThreeServersIsNamed) {
  Replace(2);
  Cluster three = Servers(3);
  const absl::Status status = RunUntilItFails(Job(three, 1));
  ASSERT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), StartsWith(three.addresses()[2] + " makes other bytes of " + kSample));
  EXPECT_THAT(std::string(status.message()), HasSubstr(three.addresses()[0]));
  EXPECT_THAT(std::string(status.message()), HasSubstr(three.addresses()[1]));
}

TEST_F(VerifyTest, ADamagedFileOnOneOfTwoServersIsNamedWithinAnEpoch) {
  Damage(0);
  Cluster two = Servers(2);
  const absl::Status status = RunEpoch(Job(two, 1)).status;
  ASSERT_TRUE(absl::IsDataLoss(status)) << status;
  for (const std::string& server : two.addresses()) EXPECT_THAT(std::string(status.message()), HasSubstr(server));
  EXPECT_THAT(std::string(status.message()), HasSubstr(kSample));
}

TEST_F(VerifyTest, OfTwoServersBothAreNamed) {
  Replace(1);
  Cluster two = Servers(2);
  const absl::Status status = RunEpoch(Job(two, 1)).status;
  ASSERT_TRUE(absl::IsDataLoss(status)) << status;
  for (const std::string& server : two.addresses()) EXPECT_THAT(std::string(status.message()), HasSubstr(server));
  EXPECT_THAT(std::string(status.message()), HasSubstr(kSample));
  EXPECT_THAT(std::string(status.message()), HasSubstr("there is no third server"));
}

TEST_F(VerifyTest, BatchesDoNotWaitForChecksButAnEpochsEndDoes) {
  Cluster two = Servers(2);
  TcpProxy proxy(two.addresses()[1]);
  LoaderOptions job = Job(two, 1);
  job.servers = {two.addresses()[0], proxy.address()};
  job.prefetch = 2;
  job.span_deadline = absl::Minutes(2);  // Silence for a while is not taken for a fault.
  auto loader = *Loader::Create(job);
  const auto connected = [&] {
    const auto servers = loader->stats().servers;
    return servers.size() == 2 && servers[0].connected && servers[1].connected;
  };
  while (!connected()) absl::SleepFor(absl::Milliseconds(1));
  for (int batch = 0; batch < 8; ++batch) {
    if (batch == 1) proxy.Set({.hold_answers = true});
    const auto next = loader->Next();
    ASSERT_TRUE(next.ok()) << next.status();
    ASSERT_TRUE(next->has_value());
  }
  EXPECT_TRUE(absl::IsDeadlineExceeded(loader->Await(absl::Milliseconds(20))));
  proxy.Heal();
  const auto end = loader->Next();
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_FALSE(end->has_value());
  EXPECT_GE(loader->stats().verified_spans, 24u);
}

TEST_F(VerifyTest, AServersCacheDoesNotHideWhatItWouldMakeNow) {
  Cluster two = Servers(2, "64MiB");
  for (const std::string& server : two.addresses()) {
    LoaderOptions alone = Job(two, 0);
    alone.servers = {server};
    ASSERT_TRUE(RunEpoch(alone).status.ok());
  }
  Replace(0);
  Replace(1);
  // Each server's cache has the epoch as it was.
  const absl::Status status = RunEpoch(Job(two, 1)).status;
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
}

TEST_F(VerifyTest, AWarningLetsTheJobGoOn) {
  Replace(2);
  Cluster three = Servers(3);
  LoaderOptions job = Job(three, 1);
  job.verify_policy = VerifyPolicy::kWarn;
  auto loader = *Loader::Create(job);
  for (int epoch = 0; epoch < 100 && loader->stats().differing_spans == 0; ++epoch) {
    const EpochResult result = RunEpoch(*loader);
    ASSERT_TRUE(result.status.ok()) << result.status;
    ASSERT_EQ(result.positions.size(), 40u);
  }
  const LoaderStats stats = loader->stats();
  ASSERT_EQ(stats.warnings.size(), stats.differing_spans) << "spans of the next epoch may count already";
  EXPECT_THAT(stats.warnings, testing::Each(HasSubstr(three.addresses()[2] + " makes other bytes of " + kSample)));
}

TEST_F(VerifyTest, AServerAloneInFindingASampleBadIsNamed) {
  Overwrite(Copy(1) / kDamaged, 0, std::string(fs::file_size(Copy(1) / kDamaged), 'x'));
  for (const double share : {1.0, 0.001}) {
    Cluster two = Servers(2);
    LoaderOptions job = Job(two, share);
    job.verify_policy = VerifyPolicy::kWarn;
    auto loader = *Loader::Create(job);
    // Where it is the other server that is asked for the span, a share of 0.001 does not ask this one.
    for (int epoch = 0; epoch < 64 && loader->stats().differing_spans == 0; ++epoch) {
      const EpochResult result = RunEpoch(*loader);
      ASSERT_TRUE(result.status.ok()) << result.status;
    }
    ASSERT_FALSE(loader->stats().differences.empty()) << share;
    EXPECT_THAT(loader->stats().differences[0], StartsWith(two.addresses()[1] + " finds the bytes of sample"));
    EXPECT_THAT(loader->stats().differences[0], HasSubstr("class-01/image-0007.jpg"));
  }
}

TEST_F(VerifyTest, ASampleThatIsBadEverywhereIsSaidToBeSo) {
  for (int copy = 0; copy < 2; ++copy)
    Overwrite(Copy(copy) / kDamaged, 0, std::string(fs::file_size(Copy(copy) / kDamaged), 'x'));
  Cluster two = Servers(2);
  const absl::Status status = RunEpoch(Job(two, 1)).status;
  ASSERT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), StartsWith("sample 'class-01/image-0007.jpg'"));
}

// ---- fingerprint: content ----

class ContentTest : public VerifyTest {
 protected:
  // `knowing` servers know their content, those after them do not.
  Cluster Servers(int servers, int knowing) const {
    std::vector<v1::ServerConfig> configs;
    for (int server = 0; server < servers; ++server)
      configs.push_back(server < knowing ? Knowing(server) : Config(server));
    return Cluster(configs);
  }

  v1::ServerConfig Knowing(int server) const {
    v1::ServerConfig config = Config(server);
    config.mutable_datasets(0)->set_fingerprint(v1::FINGERPRINT_OF_CONTENT);
    return config;
  }

  // What `stokerd check` prints, and its status.
  static std::pair<std::string, absl::Status> Checked(const v1::ServerConfig& config, const ContentCheck& content) {
    testing::internal::CaptureStdout();
    const absl::Status status = Check(config, content);
    return {testing::internal::GetCapturedStdout(), status};
  }
};

TEST_F(ContentTest, CopiesThatDifferAreRefusedWhenAJobOpensAndTheServersNamed) {
  Damage(1);
  Cluster two = Servers(2, 2);
  const auto loader = Loader::Create(Job(two, 0));
  ASSERT_TRUE(absl::IsFailedPrecondition(loader.status())) << loader.status();
  EXPECT_THAT(std::string(loader.status().message()), HasSubstr("its copy of the dataset has other bytes"));
  for (const std::string& server : two.addresses())
    EXPECT_THAT(std::string(loader.status().message()), HasSubstr(server));
}

TEST_F(ContentTest, AReplacedFileIsRefusedToo) {
  Replace(0);
  Cluster two = Servers(2, 2);
  EXPECT_TRUE(absl::IsFailedPrecondition(Loader::Create(Job(two, 0)).status()));
}

TEST_F(ContentTest, ItIsComparedOnlyWhereBothSidesHaveIt) {
  Damage(2);
  Cluster three = Servers(3, 2);  // The one that differs does not know it.
  EXPECT_TRUE(Loader::Create(Job(three, 0)).ok());
}

TEST_F(ContentTest, OneThatKnowsNothingDoesNotHideThatOthersDiffer) {
  Damage(1);
  std::vector<v1::ServerConfig> configs = {Config(2), Knowing(0), Knowing(1), Config(2)};
  Cluster four(configs);
  EXPECT_TRUE(absl::IsFailedPrecondition(Loader::Create(Job(four, 0)).status()));
}

TEST_F(ContentTest, AFileThatChangesWhileItIsServedIsMadeByAnotherServer) {
  Cluster two = Servers(2, 2), one = Servers(1, 1);
  const std::string digest = RunEpoch(Job(one, 0)).digest;
  Damage(1);
  const EpochResult result = RunEpoch(Job(two, 0));
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.digest, digest);
}

TEST_F(ContentTest, AFileThatChangedWhileNoServerRanIsNamed) {
  { Cluster first = Servers(1, 1); }
  Replace(0);
  Cluster one = Servers(1, 1);
  const absl::Status status = RunEpoch(Job(one, 0)).status;
  ASSERT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("class-01/image-0007.jpg: changed since it was indexed"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(one.addresses()[0]));
}

TEST_F(ContentTest, CheckComparesWithTheIndex) {
  EXPECT_TRUE(Checked(Knowing(0), {.read_all = true}).second.ok());
  Damage(0);
  const auto [printed, status] = Checked(Knowing(0), {.read_all = true});
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("1 of 40 samples"));
  EXPECT_THAT(printed,
              HasSubstr("sample 'class-01/image-0007.jpg' (id 27): photos: class-01/image-0007.jpg: changed since"));
}

TEST_F(ContentTest, CheckNamesTheSamplesThatDifferBetweenMachines) {
  const std::string file = folder_ + "/hashes";
  ASSERT_TRUE(Checked(Config(0), {.save = file}).second.ok());
  EXPECT_TRUE(Checked(Config(1), {.against = file}).second.ok());
  Replace(1);
  const auto [printed, status] = Checked(Config(1), {.against = file});
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(printed, HasSubstr("sample 'class-01/image-0007.jpg' (id 27): its bytes are not those"));
  EXPECT_THAT(printed, testing::Not(HasSubstr("image-0006")));
  std::ofstream(file) << "something else\n";
  EXPECT_TRUE(absl::IsInvalidArgument(Checked(Config(1), {.against = file}).second));
}

}  // namespace
}  // namespace stoker
