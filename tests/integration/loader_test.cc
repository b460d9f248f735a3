// What a loader says and does when things are not as they should be.

#include "client/loader/loader.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "client/loader/epoch_digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"

namespace stoker {
namespace {

using testing::HasSubstr;

LoaderOptions LoaderJob(const Cluster& cluster) {
  LoaderOptions options;
  options.servers = cluster.addresses();
  options.pipeline = v1::Pipeline();
  options.batch_size = 16;
  options.last_batch = LastBatch::kPartial;
  return options;
}

absl::Status CreateStatus(const LoaderOptions& options) { return Loader::Create(options).status(); }

TEST(LoaderTest, SaysThatNoServerAnswers) {
  LoaderOptions job;
  auto client = Client::Create({.servers = {"127.0.0.1:1"}, .connect_timeout = absl::Milliseconds(200)});
  job.client = *client;
  job.dataset = "x";
  job.batch_size = 1;
  const absl::Status status = CreateStatus(job);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(status.message(), HasSubstr("is stokerd running there?"));
}

TEST(LoaderTest, RefusesServersThatCannotBe) {
  for (const char* server : {"", "host:port", "a:7:7", "host:0", "host:99999", "http://host:1", "unix:"})
    EXPECT_TRUE(absl::IsInvalidArgument(Client::Create({.servers = {server}}).status())) << server;
  for (const char* server :
       {"host", "host:1", "[::1]:7", "dns:///pods:7077", "unix:/run/stoker.sock", "file:/etc/stoker/servers"})
    EXPECT_TRUE(Client::Create({.servers = {server}}).ok()) << server;
}

TEST(LoaderTest, RefusesTooManyConnections) {
  for (int connections : {0, 17})
    EXPECT_THAT(Client::Create({.servers = {"a"}, .connections = connections}).status().message(),
                HasSubstr("connections: "));
}

// More than the streams that a server allows on one connection: each has its own.
TEST(LoaderTest, AProcessMayHaveManyRanks) {
  constexpr int kRanks = 20;
  v1::ServerConfig config = SyntheticConfig(200);
  config.set_memory_limit("2GiB");  // For as many streams.
  Cluster cluster(1, config);
  std::vector<std::unique_ptr<Loader>> loaders;
  for (int rank = 0; rank < kRanks; ++rank) {
    LoaderOptions job = LoaderJob(cluster);
    job.batch_size = 5;
    job.rank = rank;
    job.world_size = kRanks;
    auto loader = Loader::Create(job);
    ASSERT_TRUE(loader.ok()) << loader.status();
    loaders.push_back(*std::move(loader));
  }
  std::set<uint64_t> sample_ids;
  for (const auto& loader : loaders)
    for (uint64_t id : RunEpoch(*loader).sample_ids) sample_ids.insert(id);
  EXPECT_EQ(sample_ids.size(), 200);
}

TEST(LoaderTest, NamesWhatIsWrongWithAJob) {
  Cluster cluster(1, SyntheticConfig(100));
  const auto expect = [&](auto change, const std::string& message) {
    LoaderOptions job = LoaderJob(cluster);
    change(job);
    EXPECT_THAT(CreateStatus(job).message(), HasSubstr(message));
  };
  expect([](auto& job) { job.dataset = "imagenet"; }, "no dataset 'imagenet' is configured here; there are: synthetic");
  expect([](auto& job) { job.dataset = "../etc"; }, "'../etc' is not a dataset's name");
  expect([](auto& job) { job.dataset = std::string("a\0\n", 3); }, "'a\\x00\\n' is not a dataset's name");
  expect([](auto& job) { job.batch_size = 0; }, "batch_size: must be at least 1");
  expect([](auto& job) { job.rank = job.world_size = 1; }, "rank: 1 is not below world_size 1");
  expect([](auto& job) { job.rank = 1; }, "rank and world_size (or RANK and WORLD_SIZE): give both or none");
  expect([](auto& job) { job.span_deadline = absl::ZeroDuration(); }, "span_deadline: must be above 0");
  expect([](auto& job) { job.pipeline.reset(), job.pipeline_name = "train"; }, "no pipeline 'train' is offered here");
  expect([](auto& job) { job.pipeline->add_ops(); }, "pipeline.ops[0]: no op, or one that this build does not know");
  expect([](auto& job) { job.pipeline->add_ops()->mutable_random_crop(); }, "pipeline.ops[0]: RandomCrop.size");
  expect([](auto& job) { job.shuffle.set_block_samples(8); }, "shuffle.block_samples");
  expect([](auto& job) { job.batch_size = 101, job.last_batch = LastBatch::kDrop; }, "do not fill one batch of 101");
}

TEST(LoaderTest, RankAndWorldSizeComeFromTheEnvironmentWhereTheyAreNotGiven) {
  Cluster cluster(1, SyntheticConfig(96));
  setenv("RANK", "2", 1);
  setenv("WORLD_SIZE", "3", 1);
  const EpochResult from_environment = RunEpoch(LoaderJob(cluster));
  LoaderOptions job = LoaderJob(cluster);
  job.rank = 0, job.world_size = 1;
  EXPECT_EQ(RunEpoch(job).positions.size(), 96);
  setenv("RANK", "two", 1);
  EXPECT_THAT(CreateStatus(LoaderJob(cluster)).message(), HasSubstr("RANK='two' in the environment is no number"));
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
  job.rank = 2, job.world_size = 3;
  EXPECT_EQ(from_environment.positions, RunEpoch(job).positions);
}

TEST(LoaderTest, AFileListsTheServersAndIsReadAgain) {
  Cluster cluster(2, SyntheticConfig(3000));
  const std::string list = testing::TempDir() + "stoker-servers-" + std::to_string(getpid());
  std::ofstream(list) << "# one so far\n\n" << cluster.addresses()[0] << "  # the first\n";
  LoaderOptions job = LoaderJob(cluster);
  job.servers = {"file:" + list};
  job.prefetch = 1;
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  ASSERT_TRUE((*loader)->Next().ok());
  std::ofstream(list) << cluster.addresses()[1] << "\n";
  // The epoch goes on for as long as it takes the client to look again.
  const auto uses_the_second = [&] {
    for (const auto& server : (*loader)->stats().servers)
      if (server.address == cluster.addresses()[1] && server.spans > 0) return true;
    return false;
  };
  while (!uses_the_second()) ASSERT_TRUE((*loader)->Next().ok());
  std::filesystem::remove(list);
  EXPECT_TRUE((*loader)->Next().ok()) << "a list that is gone changes nothing";
}

TEST(LoaderTest, ACropThatNoImageFitsEndsTheEpochAndNamesTheOp) {
  Cluster cluster(2, SyntheticConfig(100));
  LoaderOptions job = LoaderJob(cluster);
  job.pipeline->add_ops()->mutable_random_crop()->add_size(64);
  job.pipeline->set_bad_samples(v1::BAD_SAMPLES_SUBSTITUTE);  // It is the pipeline's fault, and no sample's.
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  const auto batch = (*loader)->Next();
  EXPECT_TRUE(absl::IsFailedPrecondition(batch.status())) << batch.status();
  EXPECT_THAT(batch.status().message(), HasSubstr("pipeline.ops[0]: RandomCrop.size: an image of 12×16"));
  EXPECT_EQ((*loader)->Next().status(), batch.status()) << "errors are sticky";
}

TEST(LoaderTest, RefusesServersThatDisagreeAboutTheDataset) {
  Cluster a(1, SyntheticConfig(100)), b(1, SyntheticConfig(101));
  LoaderOptions job = LoaderJob(a);
  job.servers.push_back(b.addresses()[0]);
  const absl::Status status = CreateStatus(job);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr(a.addresses()[0]));
  EXPECT_THAT(status.message(), HasSubstr(b.addresses()[0]));
  EXPECT_THAT(status.message(), HasSubstr("fingerprint"));
}

TEST(LoaderTest, DoesNotUseAServerThatComesLaterWithAnotherDataset) {
  Cluster good(1, SyntheticConfig(500));
  auto other = std::make_unique<Cluster>(1, SyntheticConfig(500));
  LoaderOptions job = LoaderJob(good);
  job.servers.push_back(other->addresses()[0]);
  other->Stop(0);  // It keeps its port in mind, and comes back with another dataset there.
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  v1::ServerConfig config = SyntheticConfig(501);
  config.set_listen(other->addresses()[0]);
  auto wrong = Server::Start(config);
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  std::string problems;
  while (problems.find("copy of the dataset differs") == std::string::npos)
    for (const auto& server : (*loader)->stats().servers)
      if (server.address == other->addresses()[0]) problems = server.problem;
  EXPECT_TRUE(RunEpoch(**loader).status.ok());
}

TEST(LoaderTest, SaysAtOnceThatTheOnlyServerCameBackWithOtherDataAndGoesOnWithTheRight) {
  auto cluster = std::make_unique<Cluster>(1, SyntheticConfig(500));
  LoaderOptions job = LoaderJob(*cluster);
  job.progress_timeout = absl::InfiniteDuration();
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  const std::string expected = RunEpoch(**loader).digest;
  cluster->Stop(0);
  v1::ServerConfig config = SyntheticConfig(501);
  config.set_listen(cluster->addresses()[0]);
  auto wrong = Server::Start(config);
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  (*loader)->SetEpoch(5);
  absl::Status status;
  while (status.ok()) status = (*loader)->Next().status();  // What had come before is handed out.
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr(cluster->addresses()[0] + ": its copy of the dataset differs"));
  wrong->reset();
  cluster->Restart(0);
  // The loader may yet find nobody there, but no other data.
  (*loader)->SetEpoch(0);
  EXPECT_EQ(RunEpoch(**loader).digest, expected);
}

TEST(LoaderTest, TakesTheOnlyDatasetWhereNoneIsNamed) {
  Cluster one(1, SyntheticConfig(10));
  EXPECT_TRUE(CreateStatus(LoaderJob(one)).ok());
  v1::ServerConfig config = SyntheticConfig(10);
  *config.add_datasets() = config.datasets(0);
  config.mutable_datasets(1)->set_name("second");
  Cluster two(1, config);
  EXPECT_THAT(CreateStatus(LoaderJob(two)).message(), HasSubstr("the servers have 2: second, synthetic"));
}

TEST(LoaderTest, UsesAPipelineThatServersOffer) {
  v1::ServerConfig config = SyntheticConfig(10);
  (*config.mutable_pipelines())["tiny"].add_ops()->mutable_center_crop()->add_size(4);
  Cluster cluster(1, config);
  LoaderOptions job = LoaderJob(cluster);
  job.pipeline.reset();
  job.pipeline_name = "tiny";
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  EXPECT_EQ((*loader)->description().sample_bytes(), 4 * 4 * 3 + 4);
}

TEST(LoaderTest, FindsServersByName) {
  Cluster cluster(1, SyntheticConfig(50));
  const std::string port = cluster.addresses()[0].substr(cluster.addresses()[0].rfind(':'));
  LoaderOptions job = LoaderJob(cluster);
  job.servers = {"dns:///localhost" + port};
  EXPECT_EQ(RunEpoch(job).sample_ids.size(), 50);
}

TEST(LoaderTest, ReachesAServerOnItsHostThroughASocketFile) {
  const std::string path = "/tmp/stoker-loader-test-" + std::to_string(getpid());  // Such paths are short.
  v1::ServerConfig config = SyntheticConfig(50);
  config.set_listen("unix:" + path);
  auto server = Server::Start(config);
  ASSERT_TRUE(server.ok()) << server.status();
  LoaderOptions job;
  job.servers = {(*server)->address()};
  job.pipeline = v1::Pipeline();
  job.batch_size = 10;
  EXPECT_EQ(RunEpoch(job).sample_ids.size(), 50);
}

TEST(LoaderTest, TrainingAndValidationShareAClient) {
  Cluster cluster(2, SyntheticConfig(200));
  LoaderOptions train = LoaderJob(cluster), validation = LoaderJob(cluster);
  auto client = Client::Create({.servers = cluster.addresses()});
  train.client = validation.client = *client;
  train.servers = validation.servers = {};
  validation.shuffle.set_mode(v1::SHUFFLE_MODE_NONE);
  auto a = Loader::Create(train), b = Loader::Create(validation);
  ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
  EXPECT_TRUE((*a)->Next().ok());
  EXPECT_EQ(RunEpoch(**b).sample_ids.size(), 200);
  EXPECT_EQ(RunEpoch(**a).sample_ids.size(), 200 - 16);
}

TEST(LoaderTest, CancelWakesAWaitingNext) {
  Cluster cluster(1, SyntheticConfig(100));
  auto loader = Loader::Create(LoaderJob(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  cluster.Stop(0);  // Nothing comes, however late it is cancelled.
  std::thread canceller([&] { (*loader)->Cancel(); });
  EXPECT_TRUE(absl::IsCancelled((*loader)->Next().status()));
  canceller.join();
  EXPECT_TRUE(absl::IsCancelled((*loader)->Next().status()));
}

TEST(LoaderTest, NothingArrivingEndsTheWaitAndTellsAboutServers) {
  v1::ServerConfig config = SyntheticConfig(100);
  Cluster cluster(1, config);
  LoaderOptions job = LoaderJob(cluster);
  job.progress_timeout = absl::Milliseconds(300);
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  cluster.Stop(0);
  absl::Status status;
  while (status.ok()) status = (*loader)->Next().status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr(cluster.addresses()[0]));
}

TEST(LoaderTest, AnErrorLeavesTheStateAtTheLastGoodBatchAndRestoringGoesOn) {
  v1::ServerConfig config = SyntheticConfig(300);
  Cluster cluster(1, config);
  LoaderOptions job = LoaderJob(cluster);
  job.progress_timeout = absl::Seconds(2);
  job.prefetch = 1;
  auto loader = Loader::Create(job);
  std::vector<uint64_t> ids;
  {
    auto batch = (*loader)->Next();
    while (absl::IsDeadlineExceeded(batch.status())) {  // On a machine that does nothing for so long.
      ASSERT_TRUE((*loader)->Restore((*loader)->State()).ok());
      batch = (*loader)->Next();
    }
    ASSERT_TRUE(batch.ok()) << batch.status();
    ids = (*batch)->sample_ids();
  }
  cluster.Stop(0);
  absl::Status status;
  while (status.ok()) {
    auto batch = (*loader)->Next();
    status = batch.status();
    if (batch.ok()) ids.insert(ids.end(), (*batch)->sample_ids().begin(), (*batch)->sample_ids().end());
  }
  cluster.Restart(0);
  while (!status.ok()) {  // Until it is connected again.
    ASSERT_TRUE((*loader)->Restore((*loader)->State()).ok());
    const auto rest = RunEpoch(**loader);
    status = rest.status;
    ids.insert(ids.end(), rest.sample_ids.begin(), rest.sample_ids.end());
  }
  job.progress_timeout = absl::Seconds(60);
  EXPECT_EQ(ids, RunEpoch(job).sample_ids);
}

TEST(LoaderTest, RefusesAStateOfAnotherJobAndSaysWhatDiffers) {
  Cluster cluster(1, SyntheticConfig(100)), other(1, SyntheticConfig(101));
  auto loader = Loader::Create(LoaderJob(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  const auto expect = [&](const LoaderOptions& job, const std::string& message) {
    auto another = Loader::Create(job);
    ASSERT_TRUE(another.ok()) << another.status();
    const absl::Status status = (*loader)->Restore((*another)->State());
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(status.message(), HasSubstr(message));
  };
  LoaderOptions job = LoaderJob(cluster);
  job.seed = 1;
  expect(job, "its seed is 1, and this loader's is 0");
  job = LoaderJob(cluster);
  job.shuffle.set_mode(v1::SHUFFLE_MODE_NONE);
  expect(job, "its shuffle is 'none', and this loader's is 'full'");
  job = LoaderJob(cluster);
  job.pipeline->add_ops()->mutable_center_crop()->add_size(8);
  expect(job, "its pipeline has CenterCrop as ops[0], and this loader's ends before it");
  expect(LoaderJob(other), "it is of dataset 'synthetic' with 101 samples (fingerprint ");
  for (const char* text : {"", "{}", "[1]", "{\"version\": 2}", "{\"version\": 1}", "\xff"})
    EXPECT_TRUE(absl::IsInvalidArgument((*loader)->Restore(text))) << text;
}

// The pipeline's images as the servers made them, whatever was kept since.
TEST(LoaderTest, ACallerMayKeepEveryBatch) {
  Cluster cluster(1, SyntheticConfig(300));
  LoaderOptions job = LoaderJob(cluster);
  job.prefetch = 1;
  auto loader = Loader::Create(job), again = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  std::vector<Batch> kept;
  for (auto batch = (*loader)->Next(); batch.ok() && *batch; batch = (*loader)->Next()) kept.push_back(**batch);
  ASSERT_EQ(kept.size(), (*loader)->batches_per_epoch());
  EpochDigest early, late;
  for (auto batch = (*again)->Next(); batch.ok() && *batch; batch = (*again)->Next())
    ASSERT_TRUE(early.Add(**batch).ok());
  for (const Batch& batch : kept) ASSERT_TRUE(late.Add(batch).ok());
  EXPECT_EQ(late.Hex(), early.Hex());
}

TEST(LoaderTest, ADigestSavedInTheMiddleGoesOnToTheSameNumber) {
  Cluster cluster(1, SyntheticConfig(300));
  auto loader = Loader::Create(LoaderJob(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  EpochDigest whole;
  std::unique_ptr<EpochDigest> part = std::make_unique<EpochDigest>();
  for (auto batch = (*loader)->Next(); batch.ok() && *batch; batch = (*loader)->Next()) {
    ASSERT_TRUE(whole.Add(**batch).ok());
    ASSERT_TRUE(part->Add(**batch).ok());
    const std::string saved = part->Save();
    part = std::make_unique<EpochDigest>();
    for (const std::string& wrong : {std::string(), saved + "0", saved.substr(0, saved.size() - 2), "x" + saved})
      EXPECT_TRUE(absl::IsInvalidArgument(part->Resume(wrong))) << wrong;
    ASSERT_TRUE(part->Resume(saved).ok()) << saved;
    EXPECT_EQ(part->samples(), whole.samples());
  }
  EXPECT_GT(whole.samples(), 0);
  EXPECT_EQ(part->Hex(), whole.Hex());
}

TEST(LoaderTest, AwaitHasItsEndWhereACallerKeepsAllBatches) {
  Cluster cluster(1, SyntheticConfig(300));
  LoaderOptions job = LoaderJob(cluster);
  job.prefetch = 1;
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  std::vector<Batch> kept;
  while (kept.size() < 3) kept.push_back(**(*loader)->Next());  // As many as there are slabs.
  cluster.Stop(0);
  EXPECT_TRUE(absl::IsDeadlineExceeded((*loader)->Await(absl::ZeroDuration())));
}

TEST(LoaderTest, AwaitSaysWhetherNextWouldWait) {
  v1::ServerConfig config = SyntheticConfig(300);
  config.mutable_datasets(0)->mutable_synthetic()->set_sleep_us(20'000);
  Cluster cluster(1, config);
  auto loader = Loader::Create(LoaderJob(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  EXPECT_TRUE(absl::IsDeadlineExceeded((*loader)->Await(absl::ZeroDuration())));
  EXPECT_TRUE((*loader)->Await(absl::InfiniteDuration()).ok());
  EXPECT_TRUE((*loader)->Next().ok());
  (*loader)->Cancel();
  EXPECT_TRUE((*loader)->Await(absl::InfiniteDuration()).ok()) << "Next() would return at once";
}

TEST(LoaderTest, BatchesOutliveTheirLoader) {
  Cluster cluster(1, SyntheticConfig(100));
  auto loader = Loader::Create(LoaderJob(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  auto batch = (*loader)->Next();
  const std::string before(static_cast<const char*>((*batch)->tensors()[0].data), (*batch)->tensors()[0].bytes);
  loader->reset();
  EXPECT_EQ(std::string(static_cast<const char*>((*batch)->tensors()[0].data), before.size()), before);
}

TEST(LoaderTest, ADrainingServerGivesWhatItOwesAndOthersGoOn) {
  v1::ServerConfig config = SyntheticConfig(3000);
  config.mutable_datasets(0)->mutable_synthetic()->set_sleep_us(100);
  Cluster cluster(2, config);
  LoaderOptions job = LoaderJob(cluster);
  job.span_samples = 8;
  job.span_deadline = absl::Minutes(2);  // What comes late is not asked for again.
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  ASSERT_TRUE((*loader)->Next().ok());
  std::thread drain([&] { EXPECT_TRUE(cluster.server(0).Drain()) << "a stream was cut off"; });
  const EpochResult rest = RunEpoch(**loader);
  drain.join();
  EXPECT_TRUE(rest.status.ok()) << rest.status;
  EXPECT_EQ(rest.sample_ids.size(), 3000 - 16);
  EXPECT_EQ((*loader)->stats().retried_spans, 0) << "a drained server takes nothing back";
}

TEST(LoaderTest, RestoringOtherPixelsIsAsked) {
  Cluster cluster(1, SyntheticConfig(100));
  auto loader = Loader::Create(LoaderJob(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  std::string state = (*loader)->State();
  const std::string key = "\"pixel_version\":2";
  ASSERT_NE(state.find(key), std::string::npos) << state;
  state.replace(state.find(key), key.size(), "\"pixel_version\":3");
  EXPECT_TRUE(absl::IsFailedPrecondition((*loader)->Restore(state)));
  EXPECT_TRUE((*loader)->Restore(state, /*accept_other_pixels=*/true).ok());
}

}  // namespace
}  // namespace stoker
