// `stokerd scan` as its user meets it.

#include <signal.h>
#include <unistd.h>

#include <csetjmp>
#include <cstdio>
// libjpeg's header needs <cstdio> before it.
#include <jpeglib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/photo_folder.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string TextOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr uint64_t kMaxPixels = 500'000;

// The verdict of libjpeg alone about a file: whether it is within the limit and read to its end without an error or a
// warning. Nothing of Stoker's is in it.
bool LibjpegIsContent(const std::string& file) {
  struct Errors {
    jpeg_error_mgr manager;
    std::jmp_buf jump;
  } errors;
  jpeg_decompress_struct codec;
  codec.err = jpeg_std_error(&errors.manager);
  errors.manager.output_message = [](j_common_ptr) {};
  errors.manager.error_exit = [](j_common_ptr common) {
    std::longjmp(reinterpret_cast<Errors*>(common->err)->jump, 1);
  };
  volatile bool content = false;
  if (setjmp(errors.jump) == 0) {
    jpeg_create_decompress(&codec);
    jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_read_header(&codec, TRUE);
    if (uint64_t{codec.image_width} * codec.image_height > kMaxPixels) std::longjmp(errors.jump, 1);
    jpeg_start_decompress(&codec);
    JSAMPARRAY row = codec.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&codec), JPOOL_IMAGE,
                                             codec.output_width * codec.output_components, 1);
    while (codec.output_scanline < codec.output_height) jpeg_read_scanlines(&codec, row, 1);
    jpeg_finish_decompress(&codec);
    content = errors.manager.num_warnings == 0;
  }
  jpeg_destroy_decompress(&codec);
  return content;
}

// Photographs, and in the class "odd" copies of some of them with one fault each.
class ScanCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "stokerd-scan-" + std::to_string(getpid());
    fs::remove_all(folder_);
    ASSERT_TRUE(WritePhotoFolder(Path("data"), {.classes = 3, .images = 40, .size = {90, 120}}).ok());
    Odd("empty", "", "truncated");
    Odd("half", Photo(0).substr(0, Photo(0).size() / 2), "truncated");
    Odd("without-end", Photo(1).substr(0, Photo(1).size() - 2), "truncated");
    Odd("page", "<!DOCTYPE html><title>404</title>", "not-an-image");
    Odd("lossless", WithFrame(Photo(2), 1, '\xc3'), "damaged");
    Odd("fewer-rows", WithFrame(Photo(3), 6, 40), "warning");
    Odd("huge", WithFrame(Photo(4), 5, 127), "over-limits");
    Odd("copy", Photo(5), "duplicate");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  std::string Photo(int number) const { return TextOf(Path(absl::StrCat("data/class-01/image-000", number, ".jpg"))); }

  // The JPEG with another byte at `at` after the start of its frame header.
  static std::string WithFrame(std::string jpeg, size_t at, char byte) {
    jpeg[jpeg.find("\xff\xc0") + at] = byte;
    return jpeg;
  }

  void Odd(const std::string& name, const std::string& bytes, const std::string& kind) {
    const std::string sample = absl::StrCat("odd/", name, ".jpg");
    fs::create_directories(Path("data/odd"));
    std::ofstream(Path("data/" + sample), std::ios::binary) << bytes;
    expected_[sample] = kind;
  }

  std::vector<std::string> Arguments(std::vector<std::string> flags) const {
    std::vector<std::string> arguments = {"stokerd",     "scan",         "--data",
                                          Path("data"),  "--max-pixels", std::to_string(kMaxPixels),
                                          "--cache-dir", Path("cache")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return arguments;
  }

  Finished Scan(const std::vector<std::string>& flags) const { return RunProgram(Arguments(flags)); }

  // Kinds by sample, of a report in JSON lines.
  static std::map<std::string, std::string> KindsIn(const std::string& report) {
    std::map<std::string, std::string> kinds;
    std::istringstream lines(report);
    for (std::string line; std::getline(lines, line);) {
      const auto finding = nlohmann::json::parse(line);
      EXPECT_TRUE(kinds.emplace(finding["sample"], finding["kind"]).second) << line;
    }
    return kinds;
  }

  std::string folder_;
  std::map<std::string, std::string> expected_;  // kinds by sample
};

TEST_F(ScanCommandTest, HelpTeaches) {
  const Finished help = RunProgram({"stokerd", "scan", "--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* text : {"--data", "--config", "--dataset", "--out", "--format", "--max-pixels", "--workers",
                           "Examples:", "goes on where it was", "not-an-image"})
    EXPECT_THAT(help.out, HasSubstr(text));
}

TEST_F(ScanCommandTest, FindsExactlyTheBadOnesAmongPhotographs) {
  const Finished scan = Scan({"--format", "json"});
  EXPECT_EQ(scan.status, 1) << scan.err;
  EXPECT_EQ(KindsIn(scan.out), expected_);
  EXPECT_THAT(scan.err, HasSubstr("128 samples: 3 truncated, 1 not-an-image, 1 damaged, 1 warning, 1 over-limits, 1 "
                                  "duplicate; "));
}

TEST_F(ScanCommandTest, ACleanFolderIsSuccess) {
  fs::remove_all(Path("data/odd"));
  const Finished scan = Scan({});
  EXPECT_EQ(scan.status, 0) << scan.err;
  EXPECT_THAT(scan.out, HasSubstr("120 samples: nothing found; "));
}

TEST_F(ScanCommandTest, WritesTheFormatThatTheFileNameSays) {
  for (const char* name : {"bad.csv", "bad.json", "bad.txt"}) EXPECT_EQ(Scan({"--out", Path(name)}).status, 1) << name;
  EXPECT_THAT(TextOf(Path("bad.csv")), HasSubstr("\n120,odd/copy.jpg,duplicate,,"));
  EXPECT_EQ(KindsIn(TextOf(Path("bad.json"))), expected_);
  EXPECT_THAT(TextOf(Path("bad.txt")), HasSubstr("\ntruncated: odd/empty.jpg (id 121): image: the file is empty\n"));
}

TEST_F(ScanCommandTest, ScansOneDatasetOfAConfiguration) {
  std::ofstream(Path("stokerd.yaml")) << "cache_dir: " << Path("cache") << "\nmax_pixels: 500000\ndatasets:\n"
                                      << "  - {name: one, data: " << Path("data") << "}\n"
                                      << "  - {name: none, data: /no/such/folder}\n"
                                      << "  - {name: both, mix: [{dataset: one}]}\n";
  const std::string config = Path("stokerd.yaml");
  const Finished one = RunProgram({"stokerd", "scan", "--config", config, "--dataset", "both", "--format", "json"});
  EXPECT_EQ(one.status, 1);
  std::map<std::string, std::string> expected;
  for (const auto& [sample, kind] : expected_) expected["one/" + sample] = kind;
  EXPECT_EQ(KindsIn(one.out), expected) << one.err;
  const Finished which = RunProgram({"stokerd", "scan", "--config", config});
  EXPECT_EQ(which.status, 1);
  EXPECT_THAT(which.err, HasSubstr("--dataset is missing: the configuration has one, none, both"));
}

// Kills scans at moments that the state file's size tells, until one comes to its end.
TEST_F(ScanCommandTest, KilledAgainAndAgainItFindsTheSame) {
  for (int i = 0; i < 1500; ++i)
    fs::create_symlink("image-0007.jpg", Path(absl::StrCat("data/class-00/link-", i, ".jpg")));
  const Finished whole = Scan({"--out", Path("whole.json")});
  EXPECT_EQ(whole.status, 1) << whole.err;
  std::vector<std::string> arguments = Arguments({"--out", Path("killed.json"), "--workers", "1"});
  arguments[0] = ProgramPath("stokerd");
  const fs::path state = Path("killed.json.unfinished");
  int kills = 0;
  for (uintmax_t enough = 5000;; enough += 5000) {
    Process scan(arguments);
    std::error_code error;
    while (!scan.Ended() && (!fs::exists(state) || fs::file_size(state, error) < enough))
      absl::SleepFor(absl::Milliseconds(1));
    if (scan.Ended()) {
      EXPECT_EQ(scan.Wait(), 1) << scan.Stderr();
      EXPECT_TRUE(kills == 0 || scan.Stdout().find("of them by an earlier run") != std::string::npos) << scan.Stdout();
      break;
    }
    scan.Signal(SIGKILL);
    EXPECT_EQ(scan.Wait(), -SIGKILL);
    ++kills;
    EXPECT_FALSE(fs::exists(Path("killed.json")));
  }
  EXPECT_GT(kills, 0);
  EXPECT_EQ(TextOf(Path("killed.json")), TextOf(Path("whole.json")));
  EXPECT_FALSE(fs::exists(state));
}

TEST_F(ScanCommandTest, CtrlCEndsItAndTheSameCommandGoesOn) {
  for (int i = 0; i < 20000; ++i)
    fs::create_symlink("image-0007.jpg", Path(absl::StrCat("data/class-00/link-", i, ".jpg")));
  std::vector<std::string> arguments = Arguments({"--out", Path("bad.csv"), "--workers", "1"});
  arguments[0] = ProgramPath("stokerd");
  Process scan(arguments);
  std::error_code error;
  while (!scan.Ended() && (!fs::exists(Path("bad.csv.unfinished")) || fs::file_size(Path("bad.csv.unfinished")) < 100))
    absl::SleepFor(absl::Milliseconds(1));
  scan.Signal(SIGINT);
  EXPECT_EQ(scan.Wait(), 130) << scan.Stderr();
  EXPECT_THAT(scan.Stderr(), HasSubstr("of 20128 samples scanned and "));
  EXPECT_FALSE(fs::exists(Path("bad.csv")));
  EXPECT_TRUE(fs::exists(Path("bad.csv.unfinished")));
}

TEST_F(ScanCommandTest, AnOutputThatCannotBeWrittenIsAnErrorAtOnce) {
  const Finished scan = Scan({"--out", "/proc/none/bad.csv"});
  EXPECT_EQ(scan.status, 1);
  EXPECT_THAT(scan.err, HasSubstr("/proc/none/bad.csv"));
  EXPECT_THAT(Scan({"--format", "xml"}).err, HasSubstr("--format xml: is none of text, json and csv"));
}

// Each file of shared/data/malformed among photographs: exactly those that libjpeg takes without a word are clean.
TEST_F(ScanCommandTest, FindsTheMalformedFiles) {
  const char* data = std::getenv("STOKER_DATA_DIR");
  const fs::path malformed = fs::path(data == nullptr ? STOKER_DATA_DIR : data) / "malformed";
  if (!fs::exists(malformed)) GTEST_SKIP() << malformed << " is not there";
  fs::create_directories(Path("data/malformed"));
  std::map<std::string, std::string> first;  // sample by bytes
  std::set<std::string> bad, files;
  for (const auto& file : fs::directory_iterator(malformed)) files.insert(file.path().filename());
  for (const std::string& file : files) {
    const std::string sample = absl::StrCat("malformed/", file, ".jpg"), bytes = TextOf(malformed / file);
    fs::copy_file(malformed / file, Path("data/" + sample));
    if (!LibjpegIsContent(bytes) || !first.emplace(bytes, sample).second) bad.insert(sample);
  }
  for (const auto& [sample, kind] : expected_) bad.insert(sample);
  const Finished scan = Scan({"--format", "json"});
  EXPECT_EQ(scan.status, 1) << scan.err;
  std::set<std::string> found;
  std::istringstream lines(scan.out);
  for (std::string line; std::getline(lines, line);) found.insert(nlohmann::json::parse(line)["sample"]);
  EXPECT_EQ(found, bad);
}

}  // namespace
}  // namespace stoker
