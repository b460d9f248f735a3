// Real stokerd processes that are killed, starved and told to stop.

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"
#include "tests/support/certificate.h"
#include "tests/support/cluster.h"
#include "tests/support/hostile_clients.h"
#include "tests/support/photo_folder.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

class FaultsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new std::string(testing::TempDir() + "stoker-faults-" + std::to_string(getpid()));
    const absl::Status made = WritePhotoFolder(*folder_ + "/photos", {.classes = 3, .images = 40, .size = {96, 128}});
    ASSERT_TRUE(made.ok()) << made;
  }
  static void TearDownTestSuite() {
    std::filesystem::remove_all(*folder_);
    delete folder_;
  }

  static std::vector<std::string> Flags(const std::string& workers = "1") {
    return {"--data",      *folder_ + "/photos", "--workers",   workers,
            "--cache-dir", *folder_ + "/cache",  "--log-level", "warning"};
  }

  static LoaderOptions Job(const std::vector<std::string>& servers) {
    LoaderOptions options;
    options.servers = servers;
    options.batch_size = 10;
    options.span_samples = 4;
    options.last_batch = LastBatch::kPartial;
    options.span_deadline = absl::Minutes(2);  // A span that comes late is not lost, however slow the machine.
    return options;
  }

  static std::string DigestFrom(const std::vector<std::string>& servers) {
    const EpochResult epoch = RunEpoch(Job(servers));
    EXPECT_TRUE(epoch.status.ok()) << epoch.status;
    EXPECT_EQ(epoch.positions.size(), 120);
    return epoch.digest;
  }

  static std::string* folder_;
};

std::string* FaultsTest::folder_ = nullptr;

TEST_F(FaultsTest, OneOfThreeServersKilledInMidEpochChangesNothing) {
  StokerdProcess a(Flags()), b(Flags("2")), c(Flags());
  const std::string digest = DigestFrom({a.address()});
  EXPECT_EQ(DigestFrom({a.address(), b.address(), c.address()}), digest);

  auto loader = Loader::Create(Job({a.address(), b.address(), c.address()}));
  ASSERT_TRUE(loader.ok()) << loader.status();
  ASSERT_TRUE((*loader)->Next().ok());
  b.process().Signal(SIGKILL);
  EXPECT_EQ(b.process().Wait(), -SIGKILL);
  EXPECT_EQ(RunEpoch(**loader).sample_ids.size(), 110);
  (*loader)->SetEpoch(0);
  EXPECT_EQ(RunEpoch(**loader).digest, digest);
}

TEST_F(FaultsTest, CpusWithoutVectorInstructionsMakeTheSameBytes) {
  std::set<std::string> digests;
  const std::map<std::string, std::string> environments[] = {
      {},
      {{"GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4,-SSE4_2,-SSE4_1,-ERMS"}},
      {{"OPENCV_CPU_DISABLE", "AVX512_SKX,AVX2,AVX,FMA3,FP16,SSE4_2,SSE4_1,SSSE3,SSE3"}},
      {{"JSIMD_FORCENONE", "1"}},
  };
  for (const auto& environment : environments) {
    StokerdProcess server(Flags(), environment);
    digests.insert(DigestFrom({server.address()}));
  }
  EXPECT_EQ(digests.size(), 1);
}

TEST_F(FaultsTest, SigtermFinishesWhatIsOwedAndExitsCleanly) {
  StokerdProcess a(Flags()), b(Flags());
  auto loader = Loader::Create(Job({a.address(), b.address()}));
  ASSERT_TRUE(loader.ok()) << loader.status();
  ASSERT_TRUE((*loader)->Next().ok());
  a.process().Signal(SIGTERM);
  EXPECT_EQ(RunEpoch(**loader).sample_ids.size(), 110);
  EXPECT_EQ(a.process().Wait(), 0) << a.process().Stderr();
  EXPECT_EQ((*loader)->stats().retried_spans, 0);
}

TEST_F(FaultsTest, SigtermDrainsThoughTheTlsKeyIsGoneSinceTheStart) {
  const std::string prefix = *folder_ + "/rotated";
  MakeCertificate(prefix);
  std::vector<std::string> flags = Flags();
  for (const std::string& flag : {"--tls-cert=" + prefix + ".crt", "--tls-key=" + prefix + ".key"})
    flags.push_back(flag);
  StokerdProcess a(flags), b(flags);
  LoaderOptions job = Job({a.address(), b.address()});
  job.tls_ca_file = prefix + ".crt";
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  ASSERT_TRUE((*loader)->Next().ok());
  ASSERT_TRUE(std::filesystem::remove(prefix + ".key"));
  a.process().Signal(SIGTERM);
  EXPECT_EQ(RunEpoch(**loader).sample_ids.size(), 110);
  EXPECT_EQ(a.process().Wait(), 0) << a.process().Stderr();
  EXPECT_EQ((*loader)->stats().retried_spans, 0);
}

// A server of made-up samples of 1.5 MB.
std::vector<std::string> LargeSamples(const std::string& file, const std::string& memory) {
  std::ofstream(file) << "{memory_limit: " << memory
                      << ", max_pixels: 1048576, workers: 2, log: {level: error}, datasets: [{synthetic: {fields: [{"
                         "name: image, dtype: uint8, shape: [512, 1024, 3]}]}}]}";
  return {"--config", file};
}

TEST_F(FaultsTest, MemoryStaysUnderItsLimitWithReadersThatStall) {
  constexpr uint64_t kLimit = uint64_t{512} << 20;
  StokerdProcess server(LargeSamples(*folder_ + "/memory.yaml", "512MiB"));
  std::vector<std::unique_ptr<StalledReader>> stalled;
  for (int i = 0; i < 2; ++i) {
    stalled.push_back(std::make_unique<StalledReader>(server.address(), "synthetic", /*wants=*/500));
    EXPECT_TRUE(stalled.back()->opened());
  }
  // An epoch's half beside 1.5 GB that nobody reads.
  LoaderOptions job = Job({server.address()});
  job.pipeline = v1::Pipeline();
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  for (int batch = 0; batch < 100; ++batch) {
    auto next = (*loader)->Next();
    ASSERT_TRUE(next.ok()) << next.status();
  }
  EXPECT_LT(server.process().PeakMemory(), kLimit);
  EXPECT_GT(server.process().PeakMemory(), kLimit / 4) << "the stalled streams took so little that this shows nothing";
}

TEST_F(FaultsTest, AJobGoesOnAmongClientsThatNeverReadOrMeanHarm) {
  StokerdProcess server(LargeSamples(*folder_ + "/crowd.yaml", "6GiB"));
  std::vector<std::unique_ptr<HostileClient>> hostile;
  for (int i = 0; i < 16; ++i)
    hostile.push_back(std::make_unique<HostileClient>(
        server.address(), "synthetic", static_cast<HostileClient::Kind>(i % HostileClient::kKinds), 500, i));
  std::vector<std::unique_ptr<StalledReader>> stalled;
  for (int i = 0; i < 64; ++i) {
    stalled.push_back(std::make_unique<StalledReader>(server.address(), "synthetic", /*wants=*/8));
    EXPECT_TRUE(stalled.back()->opened());
  }
  LoaderOptions job = Job({server.address()});
  job.pipeline = v1::Pipeline();
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  for (int batch = 0; batch < 20; ++batch) {
    auto next = (*loader)->Next();
    ASSERT_TRUE(next.ok()) << next.status();
  }
  for (const auto& client : hostile)
    while (client->messages() == 0) absl::SleepFor(absl::Milliseconds(1));  // Each has done its worst, or will.
  hostile.clear();
  EXPECT_LT(server.process().PeakMemory(), uint64_t{6} << 30);
  stalled.clear();
  server.process().Signal(SIGTERM);
  EXPECT_EQ(server.process().Wait(), 0) << server.process().Stderr();
}

TEST_F(FaultsTest, MalformedFilesCrashNothing) {
  const char* data = std::getenv("STOKER_DATA_DIR");
  const std::filesystem::path malformed = std::filesystem::path(data == nullptr ? STOKER_DATA_DIR : data) / "malformed";
  if (!std::filesystem::exists(malformed)) GTEST_SKIP() << malformed << " is not there";
  // All in one class, under names that an ImageFolder takes.
  const std::string folder = *folder_ + "/malformed/class";
  std::filesystem::create_directories(folder);
  uint64_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(malformed))
    std::filesystem::copy_file(file, folder + "/" + std::to_string(files++) + ".jpg");
  StokerdProcess server({"--data", *folder_ + "/malformed", "--log-level", "error", "--memory-limit", "2GiB"});
  auto stub = v1::DataService::NewStub(grpc::CreateChannel(server.address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  auto stream = stub->Stream(&context);
  v1::StreamRequest request;
  request.mutable_open()->set_dataset("malformed");
  ASSERT_TRUE(stream->Write(request));
  v1::StreamResponse response;
  ASSERT_TRUE(stream->Read(&response) && response.has_opened());
  uint64_t bad = 0;
  for (uint64_t start = 0; start < files; ++start) {
    request.mutable_want()->set_start(start);
    request.mutable_want()->set_count(1);
    ASSERT_TRUE(stream->Write(request));
    ASSERT_TRUE(stream->Read(&response)) << server.process().Stderr();
    if (!response.span().header().has_error()) continue;
    ++bad;
    EXPECT_EQ(response.span().header().error().kind(), v1::ERROR_KIND_SAMPLE)
        << response.span().header().error().message();
    EXPECT_THAT(response.span().header().error().message(), testing::HasSubstr("class/"));
  }
  EXPECT_GT(bad, 0);
  EXPECT_LT(server.process().PeakMemory(), uint64_t{2} << 30);
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

}  // namespace
}  // namespace stoker
