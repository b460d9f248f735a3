// `stoker bench|digest --state FILE`: what is left undone by one run is done by the next.

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/read/synthetic/synthetic.h"
#include "tests/support/cluster.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr uint64_t kSamples = 100;

// Made-up samples, of which only so many can be read until the gate is opened. Thread-safe.
class GatedDataset final : public Dataset {
 public:
  GatedDataset(std::shared_ptr<const Dataset> samples, uint64_t reads) : samples_(std::move(samples)), reads_(reads) {}

  // Waits until a read waits.
  void AwaitGate() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&waits_));
  }
  void Open() {
    absl::MutexLock lock(&mutex_);
    open_ = true;
  }

  uint64_t size() const override { return samples_->size(); }
  const SourceSchema& schema() const override { return samples_->schema(); }
  const std::string& fingerprint() const override { return samples_->fingerprint(); }
  uint64_t resident_bytes() const override { return samples_->resident_bytes(); }
  std::string description() const override { return samples_->description(); }
  std::string SampleName(uint64_t id) const override { return samples_->SampleName(id); }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override {
    absl::MutexLock lock(&mutex_);
    if (reads_ > 0) {
      --reads_;
    } else {
      waits_ = true;
      mutex_.Await(absl::Condition(&open_));
    }
    return samples_->Read(id, sample);
  }

 private:
  const std::shared_ptr<const Dataset> samples_;
  mutable absl::Mutex mutex_;
  mutable uint64_t reads_ ABSL_GUARDED_BY(mutex_);
  mutable bool waits_ ABSL_GUARDED_BY(mutex_) = false;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

class StateTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "stoker-state-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/as-it-is.yaml") << "ops: []\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  static nlohmann::json Parse(const std::string& path) {
    std::ifstream file(path);
    return nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  }

  // {epoch, position}
  std::vector<uint64_t> Place(const std::string& name) const {
    const nlohmann::json state = Parse(Path(name));
    return state.contains("position") ? std::vector<uint64_t>{state["epoch"], state["position"]}
                                      : std::vector<uint64_t>{};
  }

  // The arguments of a command that reads batches of 10 from `server`.
  std::vector<std::string> Command(const std::string& command, const std::string& server,
                                   const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {
        "stoker",       command, "--servers",      server, "--pipeline", Path("as-it-is.yaml"),
        "--batch-size", "10",    "--span-samples", "5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  Finished Run(const std::string& command, const std::string& server, const std::vector<std::string>& more) const {
    return RunProgram(Command(command, server, more));
  }

  std::string folder_;
};

// A server of samples behind a gate.
struct GatedServer {
  explicit GatedServer(uint64_t reads) {
    v1::ServerConfig config = SyntheticConfig(kSamples);
    config.set_listen("127.0.0.1:0");
    dataset = std::make_shared<GatedDataset>(*Synthetic::Create(config.datasets(0).synthetic()), reads);
    server = *Server::Start(config, *Resolve(config), {{"synthetic", dataset}});
  }
  ~GatedServer() { dataset->Open(); }

  std::shared_ptr<GatedDataset> dataset;
  std::unique_ptr<Server> server;
};

// Starts a command, interrupts it while a read waits for the gate, and returns what became of it.
Finished Interrupt(GatedServer& gated, std::vector<std::string> arguments) {
  arguments[0] = ProgramPath(arguments[0]);
  Process process(std::move(arguments));
  gated.dataset->AwaitGate();
  process.Signal(SIGINT);
  const int status = process.Wait();
  gated.dataset->Open();
  return {status, process.Stdout(), process.Stderr()};
}

TEST_F(StateTest, BenchGoesOnWhereItsLastRunStopped) {
  const Cluster cluster(1, SyntheticConfig(kSamples));
  const std::vector<std::string> flags = {"--batches", "4",          "--state", Path("job.state"),
                                          "--json",    Path("json"), "--quiet", "--seed=7"};
  const std::vector<std::vector<uint64_t>> places = {{0, 40}, {0, 80}, {1, 20}};
  for (const auto& place : places) {
    const Finished run = Run("bench", cluster.addresses()[0], flags);
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(Place("job.state"), place);
    EXPECT_EQ(Parse(Path("json"))["samples"], 40);
    EXPECT_EQ(Parse(Path("json"))["state"]["to"]["position"], place[1]);
  }
  EXPECT_EQ(Parse(Path("json"))["state"]["from"], nlohmann::json({{"epoch", 0}, {"position", 80}}));

  // Without --batches: the rest of the epoch. Of a loader it is the state as well.
  EXPECT_THAT(Run("bench", cluster.addresses()[0], {"--state", Path("job.state"), "--seed=7"}).out,
              HasSubstr(Path("job.state") + ": from epoch 1, position 20, to epoch 2, position 0"));
  Run("bench", cluster.addresses()[0], flags);
  LoaderOptions job;
  job.servers = cluster.addresses();
  job.pipeline = v1::Pipeline();
  job.batch_size = 10;
  job.seed = 7;
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  std::ifstream file(Path("job.state"));
  ASSERT_TRUE((*loader)->Restore({std::istreambuf_iterator<char>(file), {}}).ok());
  EXPECT_EQ(RunEpoch(**loader).positions.front(), 40);
}

TEST_F(StateTest, AnInterruptedBenchLeavesItsStateAndTheDigestSoFar) {
  const Cluster cluster(1, SyntheticConfig(kSamples));
  const std::string whole = Run("digest", cluster.addresses()[0], {}).out;
  ASSERT_EQ(whole.size(), 65);
  // A batch ahead: while the fifth one's samples are read, the third one was handed out.
  GatedServer gated(40);
  const Finished run = Interrupt(
      gated, Command("bench", gated.server->address(), {"--digest", "--prefetch", "1", "--state", Path("job.state")}));
  EXPECT_EQ(run.status, 128 + SIGINT) << run.err;
  EXPECT_THAT(run.out, HasSubstr("(interrupted)"));
  const std::vector<uint64_t> place = Place("job.state");
  ASSERT_EQ(place.size(), 2);
  EXPECT_EQ(place[0], 0);
  EXPECT_GE(place[1], 30);
  EXPECT_LT(place[1], kSamples);
  std::filesystem::copy_file(Path("job.state"), Path("copy.state"));

  // Both commands go on with the digest.
  const Finished bench = Run("bench", cluster.addresses()[0], {"--digest", "--state", Path("job.state")});
  EXPECT_EQ(bench.status, 0) << bench.err;
  EXPECT_THAT(bench.out, HasSubstr(whole));
  const Finished digest = Run("digest", cluster.addresses()[0], {"--state", Path("copy.state")});
  EXPECT_EQ(digest.status, 0) << digest.err;
  EXPECT_EQ(digest.out, whole);
  EXPECT_EQ(Place("job.state"), (std::vector<uint64_t>{1, 0}));
  EXPECT_EQ(Place("copy.state"), (std::vector<uint64_t>{1, 0}));
}

TEST_F(StateTest, AnInterruptedDigestGoesOnAndThenTakesTheNextEpoch) {
  const Cluster cluster(1, SyntheticConfig(kSamples));
  GatedServer gated(60);
  const Finished run =
      Interrupt(gated, Command("digest", gated.server->address(), {"--epoch", "3", "--state", Path("state")}));
  EXPECT_EQ(run.status, 128 + SIGINT) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("the same command goes on from position "));
  for (const char* epoch : {"3", "4"}) {
    const Finished again = Run("digest", cluster.addresses()[0], {"--state", Path("state")});
    EXPECT_EQ(again.out, Run("digest", cluster.addresses()[0], {"--epoch", epoch}).out) << again.err;
    EXPECT_THAT(again.err, HasSubstr(std::string("of epoch ") + epoch));
  }
  const Finished other = Run("digest", cluster.addresses()[0], {"--state", Path("state"), "--epoch", "3"});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("stands in epoch 5; leave out --epoch or --state"));
}

TEST_F(StateTest, SaysWhatIsWrongWithAFileAndLeavesItAlone) {
  const Cluster cluster(1, SyntheticConfig(kSamples));
  const std::string& server = cluster.addresses()[0];
  const std::string state = Path("job.state");
  ASSERT_EQ(Run("bench", server, {"--batches", "4", "--state", state}).status, 0);
  const std::string before = Parse(state).dump();
  const auto expect = [&](const std::string& command, std::vector<std::string> flags, const std::string& file,
                          const std::string& message) {
    flags.insert(flags.end(), {"--state", file});
    const Finished run = Run(command, server, flags);
    EXPECT_EQ(run.status, 1) << message;
    EXPECT_THAT(run.err, testing::AllOf(HasSubstr("--state " + file + ": "), HasSubstr(message)));
  };
  expect("bench", {"--seed", "8"}, state, "its seed is 0, and this loader's is 8");
  expect("bench", {"--digest"}, state, "stands at position 40 of epoch 0 and has no digest of what lies before");
  expect("digest", {}, state, "stands at position 40 of epoch 0 and has no digest of what lies before");
  expect("bench", {}, folder_, "cannot write");
  expect("bench", {}, Path("no/folder"), "cannot write");
  expect("bench", {}, "/dev/null", "no regular file");
  std::ofstream(Path("empty")).flush();
  expect("bench", {}, Path("empty"), "it is no JSON object");
  std::ofstream(Path("large")) << std::string(1 << 20, ' ');
  expect("digest", {}, Path("large"), "too large");
  nlohmann::json other = Parse(state);
  for (const char* digest : {"sha256 40 1 2 3", "md5"}) {
    other["digest"] = digest;
    std::ofstream(Path("digest")) << other;
    expect("digest", {}, Path("digest"), "that this build does not understand");
  }
  EXPECT_EQ(Parse(state).dump(), before);
}

}  // namespace
}  // namespace stoker
