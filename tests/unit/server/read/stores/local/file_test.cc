#include "server/read/stores/local/file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

TEST(ReadFileTest, ReplacesTheBufferByTheWholeFile) {
  TemporaryFolder folder;
  std::string content;
  for (int i = 0; i < 3'000'000; ++i) content += static_cast<char>(i * 7 + i / 1000);
  folder.Write("large", content);
  folder.Write("empty", "");
  std::vector<uint8_t> bytes = {1, 2, 3};
  ASSERT_TRUE(ReadFile(AT_FDCWD, folder.path("large"), content.size(), bytes).ok());
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), content.begin(), content.end(),
                         [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); }));
  ASSERT_TRUE(ReadFile(AT_FDCWD, folder.path("empty"), 0, bytes).ok());
  EXPECT_TRUE(bytes.empty());
}

// A file of /sys says 4096 bytes and yields fewer, as one does that is cut while it is read.
TEST(ReadFileTest, IsAnErrorWhereTheFileEndsEarly) {
  const std::string path = "/sys/devices/system/cpu/online";
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || status.st_size < 100) GTEST_SKIP() << "no " << path;
  std::vector<uint8_t> bytes;
  const absl::Status read = ReadFile(AT_FDCWD, path, status.st_size, bytes);
  EXPECT_EQ(read.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(read.message()), HasSubstr("it ends after"));
}

TEST(OpenAtTest, DoesNotLeakTheFileToOtherPrograms) {
  const auto file = OpenAt(AT_FDCWD, "/");
  ASSERT_TRUE(file.ok());
  EXPECT_NE(fcntl(file->number(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(OpenAtTest, TellsWhatIsMissingFromWhatIsBroken) {
  TemporaryFolder folder;
  folder.Write("file", "x");
  folder.Link("loop", "loop");
  EXPECT_EQ(OpenAt(AT_FDCWD, folder.path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OpenAt(AT_FDCWD, folder.path("file/below")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OpenAt(AT_FDCWD, folder.path("loop")).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(OpenAt(AT_FDCWD, std::string(5000, 'a')).status().code(), absl::StatusCode::kUnavailable);
}

TEST(WriteFileAtomicallyTest, ReplacesTheFileAndLeavesNothingElse) {
  TemporaryFolder folder;
  folder.Write("file", "old, and longer");
  ASSERT_TRUE(WriteFileAtomically(folder.path("file"), "new").ok());
  EXPECT_EQ(folder.Read("file"), "new");
  const std::filesystem::directory_iterator entries(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

// A reader that has the old file open keeps it whole.
TEST(WriteFileAtomicallyTest, DoesNotTouchTheFileThatItReplaces) {
  TemporaryFolder folder;
  folder.Write("file", "old");
  const auto old = OpenAt(AT_FDCWD, folder.path("file"));
  ASSERT_TRUE(WriteFileAtomically(folder.path("file"), "new").ok());
  char bytes[8];
  EXPECT_EQ(*ReadUpTo(old->number(), sizeof(bytes), bytes), 3);
  EXPECT_EQ(std::string_view(bytes, 3), "old");
}

}  // namespace
}  // namespace stoker
