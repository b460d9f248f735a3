#include "common/config/watched_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

class WatchedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(testing::TempDir(), "stoker-watched-", getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(Path(name)) << text; }

  std::string folder_;
};

TEST_F(WatchedFileTest, SaysWhenTheContentChanged) {
  Write("a", "one");
  WatchedFile file(Path("a"));
  EXPECT_TRUE(*file.Refresh());
  EXPECT_EQ(file.content(), "one");
  EXPECT_FALSE(*file.Refresh());
  Write("a", "two");  // It is as long as before, and may come within one tick of the file system's clock.
  EXPECT_TRUE(*file.Refresh());
  EXPECT_EQ(file.content(), "two");
}

// Kubernetes replaces a mounted secret by moving a symbolic link to a folder.
TEST_F(WatchedFileTest, FollowsALinkThatMoves) {
  std::filesystem::create_directories(Path("1"));
  std::filesystem::create_directories(Path("2"));
  Write("1/token", "one");
  Write("2/token", "two");
  std::filesystem::create_symlink("1", Path("data"));
  std::filesystem::create_symlink("data/token", Path("token"));
  WatchedFile file(Path("token"));
  EXPECT_TRUE(*file.Refresh());
  std::filesystem::create_symlink("2", Path("new"));
  std::filesystem::rename(Path("new"), Path("data"));
  EXPECT_TRUE(*file.Refresh());
  EXPECT_EQ(file.content(), "two");
}

TEST_F(WatchedFileTest, WhatCannotBeReadLeavesTheContent) {
  Write("a", "one");
  WatchedFile file(Path("a"));
  ASSERT_TRUE(file.Refresh().ok());
  std::filesystem::remove(Path("a"));
  EXPECT_TRUE(absl::IsNotFound(file.Refresh().status()));
  std::filesystem::create_directory(Path("a"));
  EXPECT_TRUE(absl::IsFailedPrecondition(file.Refresh().status()));
  std::filesystem::remove(Path("a"));
  ASSERT_EQ(mkfifo(Path("a").c_str(), 0600), 0);
  EXPECT_THAT(std::string(file.Refresh().status().message()), testing::HasSubstr("is no file"));
  std::filesystem::remove(Path("a"));
  Write("a", std::string(WatchedFile::kMostBytes + 1, 'x'));
  EXPECT_TRUE(absl::IsFailedPrecondition(file.Refresh().status()));
  EXPECT_EQ(file.content(), "one");
}

}  // namespace
}  // namespace stoker
