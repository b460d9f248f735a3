// stokerd's command line, configuration and talk with systemd, as an operator meets them.

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

using testing::HasSubstr;

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
  StokerdProcess server({"--synthetic", "8x8x3"}, {{"NOTIFY_SOCKET", path}, {"WATCHDOG_USEC", "200000"}});
  EXPECT_THAT(systemd.Await(), HasSubstr("READY=1\nSTATUS=listening on " + server.address()));
  EXPECT_TRUE(RunEpoch({.servers = {server.address()}, .pipeline = v1::Pipeline(), .batch_size = 1 << 19}).status.ok());
  EXPECT_EQ(systemd.Await(), "WATCHDOG=1");
  server.process().Signal(SIGTERM);
  std::string message = "WATCHDOG=1";
  while (message == "WATCHDOG=1") message = systemd.Await();
  EXPECT_THAT(message, HasSubstr("STOPPING=1"));
  EXPECT_EQ(server.process().Wait(), 0);
  std::filesystem::remove(path);
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
