// `stokerd index` as its user meets it.

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/http_server.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A tar file of one sample: a member .cls.
std::string TarOf(const std::string& key) {
  std::string header(512, '\0');
  const auto put = [&](size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  put(0, key + ".cls");
  put(100, "0000644");
  put(124, "00000000001");
  put(136, "00000000000");
  put(148, "        ");
  put(156, "0");
  put(257, "ustar");
  put(263, "00");
  int sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(148, absl::StrFormat("%06o", sum) + std::string("\0 ", 2));
  return header + "7" + std::string(511, '\0') + std::string(1024, '\0');
}

class IndexCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "stokerd-index-" + std::to_string(getpid());
    fs::remove_all(folder_);
    fs::create_directories(Path("data"));
    for (const char* name : {"0", "1", "2"})
      std::ofstream(Path(absl::StrCat("data/", name, ".tar")), std::ios::binary) << TarOf(name);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  static Finished Index(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"stokerd", "index"});
    return RunProgram(flags);
  }

  std::string folder_;
};

TEST_F(IndexCommandTest, HelpTeaches) {
  const Finished help = Index({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* text : {"--data", "--config", "--dataset", "--output", "--threads", "Examples:", "stoker.index",
                           "upload it", "slash at its end"})
    EXPECT_THAT(help.out, HasSubstr(text));
  EXPECT_THAT(RunProgram({"stokerd", "--help"}).out, HasSubstr("stokerd index --data"));
}

TEST_F(IndexCommandTest, WritesTheIndexBesideTheShards) {
  const Finished index = Index({"--data", Path("data")});
  EXPECT_EQ(index.status, 0) << index.err;
  EXPECT_THAT(index.out, HasSubstr("data/stoker.index: 3 samples in 3 shards"));
  EXPECT_THAT(index.out, Not(HasSubstr("upload")));
  EXPECT_EQ(std::distance(fs::directory_iterator(Path("data")), fs::directory_iterator()), 4);
  const std::string first = ReadText(Path("data/stoker.index"));
  EXPECT_EQ(Index({"--data", Path("data")}).status, 0);
  EXPECT_EQ(ReadText(Path("data/stoker.index")), first) << "it is no shard of the next one";
  const Finished check = RunProgram({"stokerd", "check", "--data", Path("data"), "--cache-dir", Path("cache")});
  EXPECT_EQ(check.status, 0) << check.err;
  EXPECT_THAT(check.out + check.err, Not(HasSubstr("not used")));
  EXPECT_FALSE(fs::exists(Path("cache"))) << "what lies beside the shards is not kept once more";
}

TEST_F(IndexCommandTest, WhatLiesElsewhereIsWrittenToAFileToUpload) {
  HttpServer server([&](const HttpServer::Request& request) {
    const std::string path = Path("data/" + request.target.substr(request.target.rfind('/') + 1));
    return fs::is_regular_file(path) ? ServeObject(request, ReadText(path)) : HttpServer::Reply{.status = 404};
  });
  const std::string url = server.url() + "/train/{0..2}.tar";
  const Finished without = Index({"--data", url});
  EXPECT_EQ(without.status, 1);
  EXPECT_THAT(without.err, HasSubstr("/stoker.index cannot be written to from here: give --output FILE"));
  const Finished index = Index({"--data", url, "--output", Path("data/stoker.index")});
  EXPECT_EQ(index.status, 0) << index.err;
  EXPECT_THAT(index.out, HasSubstr("upload it as " + server.url() + "/train/stoker.index"));
  // It is there now.
  const Finished check =
      RunProgram({"stokerd", "check", "--data", server.url() + "/train/", "--cache-dir", Path("cache")});
  EXPECT_EQ(check.status, 0) << check.err;
}

TEST_F(IndexCommandTest, IndexesOneDatasetOfAConfiguration) {
  std::ofstream(Path("stokerd.yaml")) << "datasets:\n"
                                      << "  - {name: one, webdataset: {path: " << Path("data")
                                      << ", fields: {number: cls}}}\n"
                                      << "  - {name: none, data: /no/such/folder}\n";
  const std::string config = Path("stokerd.yaml");
  const Finished one = Index({"--config", config, "--dataset", "one", "--output", Path("out.index")});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("upload it as "));
  EXPECT_FALSE(fs::exists(Path("data/stoker.index")));
  EXPECT_THAT(ReadText(Path("out.index")), HasSubstr("number=cls"));
  const Finished which = Index({"--config", config});
  EXPECT_EQ(which.status, 1);
  EXPECT_THAT(which.err, HasSubstr("--dataset is missing: the configuration has one, none"));
  EXPECT_THAT(Index({}).err, HasSubstr("--data PATH, or --config FILE"));
}

TEST_F(IndexCommandTest, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(Index({"--data", Path("none")}).err, HasSubstr("none"));
  const Finished nowhere = Index({"--data", Path("data"), "--output", "/proc/none/x"});
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("cannot write /proc/none/x"));
  std::ofstream(Path("data/3.tar"), std::ios::binary) << std::string(1024, 'x');
  const Finished damaged = Index({"--data", Path("data")});
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.err, HasSubstr("3.tar"));
  EXPECT_FALSE(fs::exists(Path("data/stoker.index")));
}

// The server answers nothing about the third shard until the command was told to stop.
TEST_F(IndexCommandTest, CtrlCEndsItAndNothingIsWritten) {
  std::atomic<bool> asked = false, stopped = false;
  HttpServer server([&](const HttpServer::Request& request) {
    const std::string path = Path("data" + request.target);
    if (!fs::is_regular_file(path)) return HttpServer::Reply{.status = 404};
    if (request.method == "GET" && request.target == "/1.tar") {
      asked = true;
      while (!stopped) usleep(1000);
    }
    return ServeObject(request, ReadText(path));
  });
  Process index({ProgramPath("stokerd"), "index", "--data", server.url() + "/{0..2}.tar", "--threads", "1", "--output",
                 Path("out.index")});
  while (!asked && !index.Ended()) usleep(1000);
  index.Signal(SIGINT);
  // The signal is taken before anything is answered: the process has one thread that waits for it, and one that reads.
  stopped = true;
  EXPECT_EQ(index.Wait(), 130) << index.Stderr();
  EXPECT_THAT(index.Stderr(), HasSubstr("stopped; nothing was written"));
  EXPECT_FALSE(fs::exists(Path("out.index")));
}

}  // namespace
}  // namespace stoker
