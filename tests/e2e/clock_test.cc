// Somebody sets the wall's clock of all machines while a job runs: nothing happens.

#include "absl/time/clock.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

#if defined(STOKER_SANITIZED) || defined(__clang__)
constexpr bool kCanPreload = false;  // Sanitizers want to come first, and replace the same functions.
#else
constexpr bool kCanPreload = true;
#endif

class ClockTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kCanPreload) GTEST_SKIP() << "a sanitizer replaces the clock's functions itself";
    folder_ = absl::StrCat(testing::TempDir(), "stoker-clock-", getpid());
    std::filesystem::create_directory(folder_);
    MoveClock(0);
  }
  ~ClockTest() override { std::filesystem::remove_all(folder_); }

  // Moves the clock of all processes that run in Environment(), from now on.
  void MoveClock(int64_t seconds) {
    std::fstream file(ClockFile(), std::ios::in | std::ios::out | std::ios::binary);
    if (!file.is_open()) file.open(ClockFile(), std::ios::out | std::ios::binary);
    file.write(reinterpret_cast<const char*>(&seconds), sizeof seconds);
  }

  std::map<std::string, std::string> Environment() const {
    return {{"LD_PRELOAD", STOKER_MOVED_CLOCK_LIBRARY}, {"STOKER_MOVED_CLOCK", ClockFile()}};
  }

  // A server at `address` whose samples take `sleep_us` each.
  std::unique_ptr<Process> Serve(const std::string& address, int sleep_us) {
    const std::string config = folder_ + "/stokerd.yaml";
    std::ofstream(config) << "listen: " << address << "\nworkers: 2\nlog: {level: debug}\n"
                          << "datasets: [{synthetic: {samples: 400, sleep_us: " << sleep_us
                          << ", fields: [{name: number, dtype: int32}]}}]\n";
    return std::make_unique<Process>(std::vector<std::string>{ProgramPath("stokerd"), "serve", "--config", config},
                                     Environment());
  }

  std::vector<std::string> Digest(const std::string& address) const {
    return {ProgramPath("stoker"), "digest", "--servers",  address,   "--batch-size", "4",
            "--span-samples",      "4",      "--pipeline", Pipeline()};
  }

  std::string Pipeline() const {
    const std::string path = folder_ + "/pipeline.yaml";
    std::ofstream(path) << "ops: []\n";
    return path;
  }

  // What the digest of an epoch is, where nobody touches the clock.
  std::string ExpectedDigest() {
    const auto server = Serve("127.0.0.1:0", 0);
    Process job(Digest(server->AwaitLine("listening on ")));
    AwaitEnd(job, *server);
    return job.Stdout();
  }

  // Waits for the job's end. Where it never ends, the test says what the job and its server told, in place of ending
  // without a word when its time is up.
  static void AwaitEnd(Process& job, const Process& server) {
    const absl::Time deadline = absl::Now() + absl::Minutes(4);
    while (!job.Ended() && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(20));
    ASSERT_TRUE(job.Ended()) << "the job hangs. It said:\n" << job.Stderr() << "and its server:\n" << server.Stderr();
    EXPECT_EQ(job.Wait(), 0) << job.Stderr();
  }

  // Runs a job, and moves the clock under it: while spans come, and again while the server is away and each of the
  // job's threads waits for something.
  void ExpectNothingHappens(int64_t seconds) {
    const std::string expected = ExpectedDigest();
    auto server = Serve("127.0.0.1:0", 20'000);
    const std::string address = server->AwaitLine("listening on ");
    Process job(Digest(address), Environment());
    while (!job.Ended() && !absl::StrContains(server->Stderr(), "opened")) absl::SleepFor(absl::Milliseconds(5));
    MoveClock(seconds);
    absl::SleepFor(absl::Milliseconds(500));  // So that it asks for more by the clock of now.
    ASSERT_FALSE(job.Ended()) << job.Stderr();
    server->Signal(SIGKILL);
    server->Wait();
    absl::SleepFor(absl::Seconds(1));  // So that it finds nobody there, and waits to try again.
    MoveClock(2 * seconds);
    server = Serve(address, 20'000);
    server->AwaitLine("listening on ");
    ASSERT_NO_FATAL_FAILURE(AwaitEnd(job, *server));
    EXPECT_EQ(job.Stdout(), expected);
    server->Signal(SIGTERM);
    EXPECT_EQ(server->Wait(), 0);
  }

 private:
  std::string ClockFile() const { return folder_ + "/clock"; }

  std::string folder_;
};

TEST_F(ClockTest, AnHourForwardUnderAJobWhoseServerRestartsChangesNothing) { ExpectNothingHappens(3600); }
TEST_F(ClockTest, AnHourBackUnderAJobWhoseServerRestartsChangesNothing) { ExpectNothingHappens(-3600); }

}  // namespace
}  // namespace stoker
