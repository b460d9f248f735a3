#include "client/receive/resolve.h"

#include <netdb.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "client/receive/look_up.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

absl::StatusOr<std::vector<std::string>> ResolveText(const std::string& text) {
  return Resolve(*ParseServerName(text));
}

TEST(ResolveTest, TellsANameThatIsNotThereFromAResolverThatIsNot) {
  EXPECT_TRUE(absl::IsNotFound(LookUpError(EAI_NONAME)));
  EXPECT_EQ(LookUpError(EAI_NONAME).message(), "name not found");
  for (int code : {EAI_AGAIN, EAI_FAIL, EAI_MEMORY}) EXPECT_TRUE(absl::IsUnavailable(LookUpError(code)));
  EXPECT_THAT(LookUpError(EAI_AGAIN).message(), HasSubstr("cannot be looked up now (Temporary failure"));
}

TEST(ResolveTest, ANameThatCannotBeIsNotFound) {
  const auto found = ResolveText("dns:///" + std::string(70, 'x'));
  EXPECT_TRUE(absl::IsNotFound(found.status())) << found.status();
}

TEST(ResolveTest, AListThatIsNotThereIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(ResolveText("file:/nowhere/servers").status()));
  EXPECT_TRUE(absl::IsUnavailable(ResolveText("file:/").status())) << "a folder is there, but is no list";
}

TEST(ResolveTest, AListNamesTheEntryAtFault) {
  const std::string path = testing::TempDir() + "stoker-resolve-list";
  std::ofstream(path) << "127.0.0.1:1\nhost:port\n";
  const auto found = ResolveText("file:" + path);
  EXPECT_TRUE(absl::IsUnavailable(found.status())) << "somebody may be writing it";
  EXPECT_THAT(found.status().message(), HasSubstr("'host:port' is no server"));
  std::ofstream(path) << "dns:///" << std::string(70, 'x') << "\n";
  EXPECT_THAT(ResolveText("file:" + path).status().message(), HasSubstr("x: name not found"));
  std::filesystem::remove(path);
}

TEST(ResolveTest, AListHasABoundHoweverItsLinesAre) {
  const std::string path = testing::TempDir() + "stoker-resolve-long-list";
  const auto error = [&] { return ResolveText("file:" + path).status(); };
  // A line of a gigabyte, of which the disk has nothing.
  std::ofstream(path) << "127.0.0.1:1";
  std::filesystem::resize_file(path, uint64_t{1} << 30);
  EXPECT_TRUE(absl::IsUnavailable(error())) << error();
  EXPECT_THAT(error().message(), HasSubstr("more than 1048576 bytes"));
  std::ofstream(path) << std::string(1 << 19, 'x');
  EXPECT_LT(error().message().size(), 200) << error();
  std::ofstream many(path);
  for (int port = 1; port <= 4097; ++port) many << "127.0.0.1:" << port << "\n";
  many.close();
  EXPECT_THAT(error().message(), HasSubstr("more than 4096 servers"));
  std::filesystem::remove(path);
}

TEST(ResolveTest, APipeIsNoListAndNotWaitedFor) {
  const std::string path = testing::TempDir() + "stoker-resolve-pipe";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(absl::IsUnavailable(ResolveText("file:" + path).status()));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace stoker
