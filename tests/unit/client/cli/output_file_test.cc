#include "client/cli/output_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

// A folder that goes with the test.
class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() {
    std::string name = testing::TempDir() + "output_file_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~OutputFileTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(OutputFileTest, WritesAWholeFileOverAnother) {
  const std::string path = folder_ / "file";
  for (const std::string& bytes : {std::string("longer\0text", 11), std::string("short")}) {
    ASSERT_TRUE(CheckWritable(path).ok());
    ASSERT_TRUE(WriteFile(path, bytes).ok());
    std::ifstream file(path, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), bytes);
  }
}

TEST_F(OutputFileTest, CheckingLeavesNothingBehind) {
  EXPECT_TRUE(CheckWritable(folder_ / "file").ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(OutputFileTest, NamesThePathThatCannotBeWritten) {
  for (const std::string& path : {(folder_ / "no" / "file").string(), folder_.string()}) {
    for (const absl::Status& status : {CheckWritable(path), WriteFile(path, "x")}) {
      EXPECT_FALSE(status.ok());
      EXPECT_THAT(std::string(status.message()), testing::StartsWith("cannot write " + path));
    }
  }
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(OutputFileTest, ReplacesAFileAndLeavesNothingBesideIt) {
  for (const std::string& bytes : {std::string("longer\0text", 11), std::string("short"), std::string()}) {
    ASSERT_TRUE(CheckReplaceable(folder_ / "file").ok());
    ASSERT_TRUE(ReplaceFile(folder_ / "file", bytes).ok());
    EXPECT_EQ(Read(folder_ / "file"), bytes);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(OutputFileTest, ReplacesWhatALinkLeadsTo) {
  std::filesystem::create_directory(folder_ / "there");
  std::filesystem::create_symlink("there/file", folder_ / "link");
  for (const char* bytes : {"new", "again"}) {
    ASSERT_TRUE(CheckReplaceable(folder_ / "link").ok());
    ASSERT_TRUE(ReplaceFile(folder_ / "link", bytes).ok());
    EXPECT_EQ(Read(folder_ / "there" / "file"), bytes);
  }
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
}

TEST_F(OutputFileTest, NamesThePathThatCannotBeReplaced) {
  for (const std::string& path : {(folder_ / "no" / "file").string(), folder_.string(), std::string("/dev/null")}) {
    const absl::Status status = CheckReplaceable(path);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), testing::StartsWith("cannot write " + path));
  }
  EXPECT_FALSE(ReplaceFile(folder_ / "no" / "file", "x").ok());
  EXPECT_FALSE(ReplaceFile(folder_, "x").ok());
}

TEST_F(OutputFileTest, NoPathIsNothingToCheck) { EXPECT_TRUE(CheckWritable("").ok()); }

}  // namespace
}  // namespace stoker
