// stokerd's command line, configuration and talk with systemd, as an operator meets them.

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/certificate.h"
#include "tests/support/cluster.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class StokerdTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "stokerd-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }

  // A configuration whose one dataset has few samples.
  std::string Few() {
    return Write("few.yaml", R"(datasets:
- name: synthetic
  synthetic: {samples: 400, fields: [{name: image, dtype: uint8, shape: [8, 8, 3]}]}
)");
  }

  std::string folder_;
};

TEST_F(StokerdTest, HelpTeaches) {
  const Finished help = RunProgram({"stokerd", "serve", "--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* text : {"--config", "--data", "--synthetic", "--listen", "--memory-limit", "Examples:"})
    EXPECT_THAT(help.out, HasSubstr(text));
}

TEST_F(StokerdTest, CheckNamesATypoWithItsPlaceAndWhatWasMeant) {
  const std::string file = Write("typo.yaml", "datasets:\n  - name: x\n    image_foldr: {path: /data}\n");
  for (const char* command : {"check", "serve"}) {
    const Finished run = RunProgram({"stokerd", command, "--config", file});
    EXPECT_EQ(run.status, 1);
    EXPECT_THAT(run.err, HasSubstr(file + ":3:5: datasets[0].image_foldr: unknown key; did you mean"));
    EXPECT_THAT(run.err, HasSubstr("image_folder"));
  }
}

TEST_F(StokerdTest, SaysWhatIsWrongAndWhatToDo) {
  const auto expect = [](std::vector<std::string> arguments, const std::string& message) {
    arguments.insert(arguments.begin(), {"stokerd", "serve"});
    const Finished run = RunProgram(arguments);
    EXPECT_EQ(run.status, 1);
    EXPECT_THAT(run.err, HasSubstr(message));
  };
  expect({}, "datasets: none is configured; name a folder (--data DIR)");
  expect({"--data", folder_ + "/nothing"}, folder_ + "/nothing");
  expect({"--synthetic", "0x3"}, "0x3");
  expect({"--synthetic", "8x8x3", "--listen", "7077"}, "listen: '7077' is not HOST:PORT");
  expect({"--synthetic", "8x8x3", "--listen", "0.0.0.0:0"}, "insecure");
  expect({"--synthetic", "8x8x3", "--memory-limit", "8 GB!"}, "memory_limit: ");
  expect({"--synthetic", "8x8x3", "--memory-limit", "10MiB"}, "is too little");
  expect({"--synthetic", "8x8x3", "--log-format", "xml"}, "xml");
  expect({"--config", folder_ + "/none.yaml"}, folder_ + "/none.yaml");
}

TEST_F(StokerdTest, CheckReportsADatasetAndItsContent) {
  const std::string file = Write("good.yaml",
                                 "datasets:\n  - name: noise\n    synthetic: {samples: 10, fields: [{name: image, "
                                 "dtype: uint8, shape: [8, 8, 3]}]}\n");
  const Finished run = RunProgram({"stokerd", "check", "--content", "--config", file});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("dataset 'noise'"));
  EXPECT_THAT(run.out, HasSubstr("10 samples read and decoded"));
  EXPECT_THAT(run.out, HasSubstr("content SHA-256 "));
}

TEST_F(StokerdTest, AFlagWinsOverItsVariableAndThatOverTheFile) {
  const std::string file = Write(
      "listen.yaml", "listen: 127.0.0.1:notaport\ndatasets: [{synthetic: {fields: [{name: x, dtype: uint8}]}}]\n");
  StokerdProcess server({"--config", file}, {{"STOKER_LISTEN", "also wrong"}});
  EXPECT_THAT(server.address(), testing::StartsWith("127.0.0.1:"));
  EXPECT_THAT(RunProgram({"stokerd", "serve", "--config", file}, {{"STOKER_LISTEN", "wrong"}}).err,
              HasSubstr("'wrong'"));
}

TEST_F(StokerdTest, LogsAsJsonLinesWhenAsked) {
  StokerdProcess server({"--synthetic", "8x8x3", "--log-format", "json"});
  server.process().Signal(SIGTERM);
  EXPECT_EQ(server.process().Wait(), 0);
  std::istringstream lines(server.process().Stderr());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_THAT(line, testing::MatchesRegex("\\{\"time\":\".*\",\"level\":\".*\",\"message\":\".*\"\\}"));
  EXPECT_GT(count, 1);
}

// Fails the test at a line of `log` that is neither of stokerd's log nor its error.
void ExpectOwnLinesOnly(const std::string& log) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    EXPECT_THAT(line, testing::MatchesRegex("(20[0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9:.]+ [DIWE] .*|stokerd: .*)"));
}

TEST_F(StokerdTest, APortInUseIsSaidInOneCleanLine) {
  StokerdProcess first({"--synthetic", "8x8x3"});
  const Finished second = RunProgram({"stokerd", "serve", "--synthetic", "8x8x3", "--listen", first.address()});
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.err, HasSubstr("stokerd: listen: cannot listen on " + first.address()));
  ExpectOwnLinesOnly(second.err);
  EXPECT_THAT(second.err, Not(HasSubstr("chttp2")));
}

TEST_F(StokerdTest, WhatGrpcSaysIsInTheLogOfThoseWhoDebug) {
  StokerdProcess server({"--synthetic", "8x8x3", "--log-level", "debug"}, {{"GRPC_VERBOSITY", "debug"}});
  server.process().Signal(SIGTERM);
  EXPECT_EQ(server.process().Wait(), 0);
  EXPECT_THAT(server.process().Stderr(), HasSubstr(" D gRPC, "));
  ExpectOwnLinesOnly(server.process().Stderr());
}

TEST_F(StokerdTest, AHandshakeThatFailsPrintsNothingRaw) {
  MakeCertificate(folder_ + "/server");
  StokerdProcess server(
      {"--synthetic", "8x8x3", "--tls-cert", folder_ + "/server.crt", "--tls-key", folder_ + "/server.key"});
  EXPECT_EQ(RunProgram({"stoker", "list", "--servers", server.address(), "--connect-timeout", "0.5"}).status, 1);
  server.process().Signal(SIGTERM);
  EXPECT_EQ(server.process().Wait(), 0);
  ExpectOwnLinesOnly(server.process().Stderr());
}

// A TIFF of 30×20 RGB pixels whose one strip lies past its end.
std::string BrokenTiff() {
  std::string file("II*\0\x08\0\0\0\x0a\0", 10);
  const auto append = [&](uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) file.push_back(static_cast<char>(value >> 8 * i));
  };
  for (const auto& [tag, type, value] : std::initializer_list<std::array<uint32_t, 3>>{{256, 3, 30},
                                                                                       {257, 3, 20},
                                                                                       {258, 3, 8},
                                                                                       {259, 3, 1},
                                                                                       {262, 3, 2},
                                                                                       {273, 4, 9000},
                                                                                       {277, 3, 3},
                                                                                       {278, 3, 20},
                                                                                       {279, 4, 1800},
                                                                                       {284, 3, 1}}) {
    append(tag, 2), append(type, 2), append(1, 4), append(value, 4);
  }
  return file + std::string(4, '\0');
}

TEST_F(StokerdTest, DamagedFilesPrintNothingRaw) {
  std::filesystem::create_directories(folder_ + "/photos/broken");
  Write("photos/broken/a.ppm", "P6\n30 20\n255\nabc");
  Write("photos/broken/b.tif", BrokenTiff());
  std::string bmp("BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x1e\0\0\0\x14\0\0\0\x01\0\x18\0", 30);
  Write("photos/broken/c.bmp", bmp + std::string(24, '\0'));
  StokerdProcess server({"--data", folder_ + "/photos", "--cache-dir", folder_ + "/cache"});
  for (int seed : {1, 2, 3, 4})  // Each begins with another file.
    EXPECT_EQ(RunProgram({"stoker", "digest", "--servers", server.address(), "--seed", std::to_string(seed)}).status,
              1);
  server.process().Signal(SIGTERM);
  EXPECT_EQ(server.process().Wait(), 0);
  const std::string log = server.process().Stderr();
  ExpectOwnLinesOnly(log);
  for (const char* bad : {"a.ppm", "b.tif", "c.bmp"}) EXPECT_THAT(log, HasSubstr(bad));
  const Finished check = RunProgram({"stokerd", "check", "--content", "--data", folder_ + "/photos"});
  for (const char* raw : {"imdecode_", "OpenCV("}) EXPECT_THAT(check.err, Not(HasSubstr(raw)));
}

TEST_F(StokerdTest, StreamsAreOneLineInAllAndLinesOfTheirOwnForThoseWhoDebug) {
  for (const std::string level : {"info", "debug"}) {
    StokerdProcess server({"--config", Few(), "--log-level", level});
    EXPECT_TRUE(RunEpoch({.servers = {server.address()}, .pipeline = v1::Pipeline(), .batch_size = 100}).status.ok());
    server.process().Signal(SIGTERM);
    EXPECT_EQ(server.process().Wait(), 0);
    const std::string log = server.process().Stderr();
    EXPECT_THAT(log, HasSubstr(" I served in all: 1 streams opened, 1 ended, 0 refused, 0 open now; "));
    EXPECT_THAT(log, HasSubstr(" samples, 0 substituted, 0 spans failed"));
    EXPECT_EQ(log.find("stream of dataset 'synthetic' opened") != log.npos, level == "debug") << log;
  }
}

// systemd's end of NOTIFY_SOCKET.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path) : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {.sun_family = AF_UNIX};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (path[0] == '@') address.sun_path[0] = '\0';  // An abstract name: no file.
    const socklen_t size = offsetof(sockaddr_un, sun_path) + path.size() + (path[0] == '@' ? 0 : 1);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0) << path;
  }
  ~NotifySocket() { close(socket_); }

  std::string Await() {
    char message[4096];
    const ssize_t size = recv(socket_, message, sizeof message, 0);
    return {message, static_cast<size_t>(std::max<ssize_t>(size, 0))};
  }

 private:
  const int socket_;
};

TEST_F(StokerdTest, IsReadyForSystemdWhenThePortAnswers) {
  const std::string path = "/tmp/stoker-notify-" + std::to_string(getpid());  // sun_path is short.
  std::filesystem::remove(path);
  NotifySocket systemd(path);
  StokerdProcess server({"--config", Few()}, {{"NOTIFY_SOCKET", path}, {"WATCHDOG_USEC", "200000"}});
  EXPECT_THAT(systemd.Await(), HasSubstr("READY=1\nSTATUS=listening on " + server.address()));
  EXPECT_TRUE(RunEpoch({.servers = {server.address()}, .pipeline = v1::Pipeline(), .batch_size = 100}).status.ok());
  EXPECT_EQ(systemd.Await(), "WATCHDOG=1");
  server.process().Signal(SIGTERM);
  std::string message = "WATCHDOG=1";
  while (message == "WATCHDOG=1") message = systemd.Await();
  EXPECT_THAT(message, HasSubstr("STOPPING=1"));
  EXPECT_EQ(server.process().Wait(), 0);
  std::filesystem::remove(path);
}

TEST_F(StokerdTest, TellsSystemdOfACertificateThatIsNotGood) {
  const std::string certificate = folder_ + "/server", name = "@stoker-notify-" + std::to_string(getpid());
  MakeCertificate(certificate);
  NotifySocket systemd(name);
  StokerdProcess server({"--synthetic", "8x8x3", "--tls-cert", certificate + ".crt", "--tls-key", certificate + ".key"},
                        {{"NOTIFY_SOCKET", name}});
  const std::string listening = "STATUS=listening on " + server.address();
  EXPECT_EQ(systemd.Await(), "READY=1\n" + listening);
  std::ofstream(certificate + ".crt") << "no certificate";
  EXPECT_THAT(systemd.Await(), AllOf(HasSubstr(listening + " with what was read before: "), HasSubstr(certificate)));
  MakeCertificate(certificate);
  EXPECT_EQ(systemd.Await(), listening);
}

TEST_F(StokerdTest, TellsAServiceManagerThatHasNoFile) {
  const std::string name = "@stoker-notify-" + std::to_string(getpid());
  NotifySocket manager(name);
  // Its watchdog is for another process: nothing between.
  StokerdProcess server({"--synthetic", "8x8x3"},
                        {{"NOTIFY_SOCKET", name}, {"WATCHDOG_USEC", "1000"}, {"WATCHDOG_PID", "1"}});
  EXPECT_THAT(manager.Await(), HasSubstr("READY=1"));
  server.process().Signal(SIGTERM);
  EXPECT_THAT(manager.Await(), HasSubstr("STOPPING=1"));
  EXPECT_EQ(server.process().Wait(), 0);
}

// A configuration with one dataset of this name.
std::string OneDataset(const std::string& name) {
  return "datasets: [{name: " + name +
         ", synthetic: {samples: 64, fields: [{name: image, dtype: uint8, shape: [8, 8, 3]}]}}]\n";
}

// A stokerd that logs much, and whose stderr is a pipe of one page.
class StalledLogTest : public StokerdTest {
 protected:
  void SetUp() override {
    StokerdTest::SetUp();
    ASSERT_EQ(pipe(pipe_), 0);
    ASSERT_EQ(fcntl(pipe_[1], F_SETPIPE_SZ, 4096), 4096);
    fcntl(pipe_[0], F_SETFD, FD_CLOEXEC);
    const std::string serve =
        "exec \"$0\" serve --config \"$1\" --listen 127.0.0.1:0 --log-level debug 2>&" + std::to_string(pipe_[1]);
    server_ = std::make_unique<Process>(std::vector<std::string>{"/bin/sh", "-c", serve, ProgramPath("stokerd"),
                                                                 Write("stokerd.yaml", OneDataset("one"))});
    address_ = server_->AwaitLine("listening on ");
    close(pipe_[1]);
  }
  void TearDown() override {
    CloseReader();
    StokerdTest::TearDown();
  }

  void CloseReader() {
    if (pipe_[0] >= 0) close(pipe_[0]);
    pipe_[0] = -1;
  }

  // Makes it log several times what the pipe holds: two lines a stream.
  void ExpectServes() {
    for (int i = 0; i < 60; ++i)
      ASSERT_TRUE(RunEpoch({.servers = {address_}, .pipeline = v1::Pipeline(), .batch_size = 64}).status.ok());
  }

  int pipe_[2] = {-1, -1};
  std::unique_ptr<Process> server_;
  std::string address_;
};

TEST_F(StalledLogTest, AReaderOfItsLogThatStallsStopsNothing) {
  ExpectServes();
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(), 0);
}

TEST_F(StalledLogTest, AReaderOfItsLogThatLeavesStopsNothing) {
  CloseReader();
  ExpectServes();
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(), 0);
}

TEST_F(StokerdTest, ReadsItsConfigurationAgainAtSighup) {
  const std::string file = Write("stokerd.yaml", OneDataset("one") + "workers: 1\n");
  StokerdProcess server({"--config", file});
  const auto reload = [&](const std::string& text, const std::string& said) {
    Write("stokerd.yaml", text);
    server.process().Signal(SIGHUP);
    while (server.process().Stderr().find(said) == std::string::npos) absl::SleepFor(absl::Milliseconds(5));
  };
  const auto datasets = [&] { return RunProgram({"stoker", "list", "--servers", server.address()}).out; };
  EXPECT_THAT(datasets(), HasSubstr("one"));
  reload(OneDataset("two") + "workers: 2\n", "workers: changes take effect");
  EXPECT_THAT(datasets(), AllOf(HasSubstr("two"), Not(HasSubstr("one"))));
  reload(OneDataset("three") + "workrs: 2\n", "is not used: ");
  EXPECT_THAT(server.process().Stderr(), HasSubstr("workrs: unknown key"));
  EXPECT_THAT(datasets(), HasSubstr("two"));
  server.process().Signal(SIGTERM);
  EXPECT_EQ(server.process().Wait(), 0);
}

TEST_F(StokerdTest, NeedsNoServiceManager) {
  for (const std::string& nobody :
       {folder_ + "/nobody", std::string("@"), std::string("relative"), std::string(200, '/')}) {
    StokerdProcess server({"--synthetic", "8x8x3"}, {{"NOTIFY_SOCKET", nobody}});
    server.process().Signal(SIGTERM);
    EXPECT_EQ(server.process().Wait(), 0) << nobody;
  }
}

}  // namespace
}  // namespace stoker
