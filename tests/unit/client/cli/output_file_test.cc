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

TEST_F(OutputFileTest, NoPathIsNothingToCheck) { EXPECT_TRUE(CheckWritable("").ok()); }

}  // namespace
}  // namespace stoker
