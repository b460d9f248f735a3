#include "server/read/formats/folder/folder_walk.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/formats/folder/class_walk.h"
#include "server/read/stores/local/file.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<FolderListing> Walk(const TemporaryFolder& folder, WalkOptions options = {}) {
  const auto descriptor = OpenAt(AT_FDCWD, folder.path(), O_DIRECTORY);
  return WalkImageFolder(folder.path(), descriptor->number(), options);
}

std::vector<std::string> Paths(const FolderIndex& index) {
  std::vector<std::string> paths;
  for (uint64_t id = 0; id < index.files.size(); ++id) paths.push_back(index.Path(id));
  return paths;
}

std::vector<std::string> Paths(const absl::StatusOr<FolderListing>& listing) {
  EXPECT_TRUE(listing.ok()) << listing.status();
  return listing.ok() ? Paths(listing->index) : std::vector<std::string>();
}

std::string Error(const absl::StatusOr<FolderListing>& listing) {
  return listing.ok() ? "OK" : std::string(listing.status().message());
}

TEST(FolderWalkTest, OrdersClassesAndTheirFilesBytewise) {
  TemporaryFolder folder;
  // '-' (0x2d) sorts before '/' (0x2f) and 'B' before 'a'; 'ä' is two bytes above all ASCII.
  for (const char* path : {"b/1.jpg", "a/2.jpg", "a/10.jpg", "a/ä.jpg", "a/Z.jpg", "a-b/1.jpg", "B/1.jpg", "ä/1.jpg"})
    folder.Write(path, "x");
  const auto listing = Walk(folder);
  EXPECT_THAT(Paths(listing),
              ElementsAre("B/1.jpg", "a/10.jpg", "a/2.jpg", "a/Z.jpg", "a/ä.jpg", "a-b/1.jpg", "b/1.jpg", "ä/1.jpg"));
  std::vector<int64_t> labels;
  for (uint64_t id = 0; id < 8; ++id) labels.push_back(listing->index.Label(id));
  EXPECT_THAT(labels, ElementsAre(0, 1, 1, 1, 1, 2, 3, 4));
  EXPECT_TRUE(listing->index.IsWellFormed());
}

TEST(FolderWalkTest, FindsFilesAtAnyDepth) {
  TemporaryFolder folder;
  for (const char* path : {"a/z.jpg", "a/sub/y.jpg", "a/sub/deeper/x.jpg", "a/sub-2/w.jpg"}) folder.Write(path, "x");
  EXPECT_THAT(Paths(Walk(folder)), ElementsAre("a/sub-2/w.jpg", "a/sub/deeper/x.jpg", "a/sub/y.jpg", "a/z.jpg"));
}

TEST(FolderWalkTest, TakesExtensionsInAnyCaseAndHiddenFiles) {
  TemporaryFolder folder;
  for (const char* name : {"1.jpg", "2.JPEG", "3.Png", "4.webP", ".5.jpg", ".jpg"})
    folder.Write(absl::StrCat("a/", name), "");
  folder.Write(".hidden/6.jpg", "");
  EXPECT_THAT(Paths(Walk(folder)),
              ElementsAre(".hidden/6.jpg", "a/.5.jpg", "a/.jpg", "a/1.jpg", "a/2.JPEG", "a/3.Png", "a/4.webP"));
}

TEST(FolderWalkTest, CountsWhatItSkipsAndNamesTheFirst) {
  TemporaryFolder folder;
  for (const char* path : {"a/1.jpg", "b/1.jpg", "b/x.gif", "b/sub/notes.txt", "b/jpg", "in-the-root.txt"})
    folder.Write(path, "x");
  const auto listing = Walk(folder);
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_EQ(listing->index.skipped_files, 3);
  EXPECT_EQ(listing->index.skipped_example, "b/jpg");
  EXPECT_EQ(listing->index.SkippedNote(),
            "skipped 3 files that are not JPEG, PNG, WebP, BMP, PNM or TIFF, such as 'b/jpg'");
}

TEST(FolderWalkTest, RecordsSizes) {
  TemporaryFolder folder;
  folder.Write("a/1.jpg", "");
  folder.Write("a/2.jpg", std::string(70'000, 'x'));
  const auto listing = Walk(folder);
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_THAT(listing->index.files.sizes, ElementsAre(0, 70'000));
}

TEST(FolderWalkTest, RecordsEveryDirectoryWithItsTime) {
  TemporaryFolder folder;
  folder.Write("a/sub/1.jpg", "x");
  folder.MakeFolder("a/empty");
  folder.Age(1'234'567'890);
  folder.SetTime("a/sub", 1'111'111'111);
  const auto listing = Walk(folder);
  ASSERT_TRUE(listing.ok()) << listing.status();
  std::vector<std::pair<std::string, int64_t>> found;
  for (const auto& directory : listing->directories) found.emplace_back(directory.path, directory.modified.seconds);
  std::sort(found.begin(), found.end());
  EXPECT_THAT(found, ElementsAre(std::pair(".", 1'234'567'890), std::pair("a", 1'234'567'890),
                                 std::pair("a/empty", 1'234'567'890), std::pair("a/sub", 1'111'111'111)));
  EXPECT_GT(listing->began_seconds, 1'234'567'890);
}

TEST(FolderWalkTest, ListsTheSameWithAnyNumberOfThreads) {
  TemporaryFolder folder;
  for (int label = 0; label < 20; ++label)
    for (int i = 0; i < 30; ++i) folder.Write(absl::StrCat("class", label, "/", i, ".jpg"), std::string(i, 'x'));
  const auto alone = Walk(folder);
  WalkOptions options;
  options.threads = 8;
  const auto together = Walk(folder, options);
  EXPECT_EQ(Paths(alone), Paths(together));
  EXPECT_EQ(alone->fingerprint, together->fingerprint);
  EXPECT_EQ(alone->directories.size(), together->directories.size());
}

TEST(FolderWalkTest, ReportsProgressUpToTheNumberOfSamples) {
  TemporaryFolder folder;
  for (int i = 0; i < 1500; ++i) folder.Write(absl::StrCat(i % 3 == 0 ? "a" : "b", "/", i, ".jpg"), "");
  std::vector<uint64_t> reports;
  WalkOptions options;
  options.threads = 2;
  options.progress = [&](uint64_t files) { reports.push_back(files); };
  ASSERT_TRUE(Walk(folder, options).ok());
  EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back(), 1500);
}

TEST(FolderWalkTest, KeepsNamesOfAnyBytes) {
  TemporaryFolder folder;
  folder.Write("a\nb/new\nline \x01\xff.jpg", "x");
  EXPECT_THAT(Paths(Walk(folder)), ElementsAre("a\nb/new\nline \x01\xff.jpg"));
}

TEST(FolderWalkTest, FollowsLinksToFilesAndFoldersElsewhere) {
  TemporaryFolder store, folder;
  store.Write("images/1.jpg", "12345");
  folder.Write("a/0.jpg", "x");
  folder.Link(store.path("images/1.jpg"), "a/2.jpg");
  folder.Link(store.path("images"), "b");
  folder.Link("../a", "b-target");  // Dangling in the root: no class.
  folder.MakeFolder("c");
  folder.Link("../a", "c/sub");
  const auto listing = Walk(folder);
  EXPECT_THAT(Paths(listing), ElementsAre("a/0.jpg", "a/2.jpg", "b/1.jpg", "c/sub/0.jpg", "c/sub/2.jpg"));
  EXPECT_EQ(listing->index.files.sizes[1], 5);
}

TEST(FolderWalkTest, RefusesALinkThatLeadsBack) {
  for (const char* target : {".", "..", "../..", "../../a"}) {
    TemporaryFolder folder;
    folder.Write("a/sub/1.jpg", "x");
    folder.Link(target, "a/sub/loop");
    const auto listing = Walk(folder);
    EXPECT_THAT(Error(listing), AllOf(HasSubstr(folder.path("a/sub/loop")), HasSubstr("leads back"))) << target;
    EXPECT_EQ(listing.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(FolderWalkTest, RefusesAnImageThatIsADanglingLinkButNotOtherFiles) {
  TemporaryFolder folder;
  folder.Write("a/1.jpg", "x");
  folder.Link("nowhere", "a/notes");
  EXPECT_EQ(Walk(folder)->index.skipped_files, 1);
  folder.Link("nowhere", "a/2.jpg");
  const auto listing = Walk(folder);
  EXPECT_THAT(Error(listing), AllOf(HasSubstr(folder.path("a/2.jpg")), HasSubstr("leads nowhere")));
  EXPECT_EQ(listing.status().code(), absl::StatusCode::kNotFound);
}

TEST(FolderWalkTest, SkipsFifosWithoutWaitingForThem) {
  TemporaryFolder folder;
  folder.Write("a/1.jpg", "x");
  ASSERT_EQ(mkfifo(folder.path("a/2.jpg").c_str(), 0600), 0);
  const auto listing = Walk(folder);
  EXPECT_THAT(Paths(listing), ElementsAre("a/1.jpg"));
  EXPECT_EQ(listing->index.skipped_files, 1);
}

TEST(FolderWalkTest, DescendsIntoAFolderThatIsNamedLikeAnImage) {
  TemporaryFolder folder;
  folder.Write("a/1.jpg/2.jpg", "x");
  EXPECT_THAT(Paths(Walk(folder)), ElementsAre("a/1.jpg/2.jpg"));
}

TEST(FolderWalkTest, RefusesAHugeFile) {
  TemporaryFolder folder;
  folder.Write("a/1.jpg", "x");
  std::filesystem::resize_file(folder.path("a/1.jpg"), kMaxImageFileBytes);
  EXPECT_TRUE(Walk(folder).ok());
  std::filesystem::resize_file(folder.path("a/1.jpg"), kMaxImageFileBytes + 1);  // Sparse.
  EXPECT_THAT(Error(Walk(folder)), AllOf(HasSubstr(folder.path("a/1.jpg")), HasSubstr("268435457 bytes")));
}

TEST(FolderWalkTest, SaysWhatIsExpectedWhereThereIsNoClassFolder) {
  TemporaryFolder folder;
  folder.Write("1.jpg", "x");
  EXPECT_THAT(Error(Walk(folder)),
              AllOf(HasSubstr(folder.path()), HasSubstr("no class folders"), HasSubstr("PATH/CLASS/IMAGE.jpg")));
}

TEST(FolderWalkTest, NamesAClassWithoutImages) {
  TemporaryFolder folder;
  folder.Write("a/1.jpg", "x");
  folder.Write("b/1.gif", "x");
  EXPECT_THAT(Error(Walk(folder)), AllOf(HasSubstr("class folder 'b' without"), HasSubstr("such as 'b/1.gif'")));
  folder.MakeFolder("c\n");
  folder.MakeFolder("d");
  EXPECT_THAT(Error(Walk(folder)), HasSubstr("class folder 'b' and 2 more without"));
  std::filesystem::remove_all(folder.path("b"));
  EXPECT_THAT(Error(Walk(folder)), AllOf(HasSubstr("class folder 'c\\x0a' and 1 more"), Not(HasSubstr("\n"))));
}

TEST(FolderWalkTest, SaysWhereNoClassHasAnImage) {
  TemporaryFolder folder;
  folder.Write("a/1.gif", "x");
  folder.MakeFolder("b");
  EXPECT_THAT(Error(Walk(folder)), AllOf(HasSubstr("no class folder holds"), HasSubstr("a/1.gif")));
}

// The layout that folder_index.h gives, hashed by another implementation of SHA-256.
TEST(FolderFingerprintTest, HasItsDocumentedLayout) {
  TemporaryFolder folder;
  folder.Write("cat/1.jpg", "12345");
  folder.Write("cat/sub/2.png", "");
  folder.Write("dog/1.webp", "1");
  const auto listing = Walk(folder);
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_EQ(absl::BytesToHexString(listing->fingerprint),
            "067ae8f4405c3034f683307e4d9175f406fdf95232bbf2bad4489944a37ae8dc");
}

TEST(FolderFingerprintTest, IgnoresPlacesTimesAndTheOrderOfWriting) {
  TemporaryFolder one, other;
  const std::vector<std::string> files = {"a/1.jpg", "a/2.jpg", "b/1.jpg", "b/sub/2.jpg"};
  for (size_t i = 0; i < files.size(); ++i) {
    one.Write(files[i], "12345");
    other.Write(files[files.size() - 1 - i], "54321");
  }
  one.Age();
  EXPECT_EQ(Walk(one)->fingerprint, Walk(other)->fingerprint);
}

TEST(FolderFingerprintTest, ChangesWithNameSizeAndLabel) {
  const auto fingerprint = [](std::initializer_list<std::pair<const char*, const char*>> files) {
    TemporaryFolder folder;
    for (const auto& [name, content] : files) folder.Write(name, content);
    const auto listing = Walk(folder);
    EXPECT_TRUE(listing.ok()) << listing.status();
    return listing->fingerprint;
  };
  const std::string reference = fingerprint({{"a/1.jpg", "x"}, {"b/2.jpg", "x"}});
  EXPECT_EQ(reference, fingerprint({{"a/1.jpg", "y"}, {"b/2.jpg", "z"}}));
  EXPECT_NE(reference, fingerprint({{"a/1.jpg", "x"}, {"b/3.jpg", "x"}}));
  EXPECT_NE(reference, fingerprint({{"a/1.jpg", "x"}, {"b/2.jpg", "xx"}}));
  EXPECT_NE(reference, fingerprint({{"a/1.jpg", "x"}, {"aa/1.jpg", "x"}, {"b/2.jpg", "x"}}));
  // A label alone: the same names and sizes, grouped otherwise.
  FolderIndex index;
  index.files.Add("1.jpg", 1);
  index.files.Add("2.jpg", 1);
  index.classes = {{"a", 2}};
  FolderIndex relabelled = index;
  relabelled.classes = {{"", 0}, {"a", 2}};
  EXPECT_NE(FolderFingerprint(index), FolderFingerprint(relabelled));
}

TEST(FolderIndexTest, HoldsAboutTheBytesOfItsNames) {
  TemporaryFolder folder;
  for (int i = 0; i < 1000; ++i) folder.Write(absl::StrCat("a/", 1000 + i, ".jpg"), "");
  const auto listing = Walk(folder);
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_GE(listing->index.resident_bytes(), 1000 * (8 + 16));
  EXPECT_LT(listing->index.resident_bytes(), 1000 * (8 + 16) + 1000);
}

}  // namespace
}  // namespace stoker
