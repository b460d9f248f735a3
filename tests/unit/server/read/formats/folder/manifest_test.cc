#include "server/read/formats/folder/manifest.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/formats/folder/manifest_format.h"
#include "server/read/stores/local/file.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"
#include "xxhash.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kRoot = "/data/train";

FolderListing SmallListing() {
  FolderListing listing;
  listing.began_seconds = 1'700'000'000;
  listing.directories = {{".", {1'600'000'000, 1}}, {"cat", {1'600'000'001, 2}}, {"dog", {-5, 999'999'999}}};
  listing.index.files.Add("1.jpg", 5, 1'700'000'001);
  listing.index.files.Add("sub/new\nline.png", 0);
  listing.index.files.Add("1.webp", 268'435'456);
  listing.index.classes = {{"cat", 2}, {"dog", 3}};
  listing.index.skipped_files = 7;
  listing.index.skipped_example = "cat/notes.txt";
  listing.fingerprint = FolderFingerprint(listing.index);
  return listing;
}

void ExpectEqual(const FolderListing& a, const FolderListing& b) {
  EXPECT_EQ(SerializeManifest(kRoot, a), SerializeManifest(kRoot, b));
  ASSERT_EQ(a.index.files.size(), b.index.files.size());
  for (uint64_t id = 0; id < a.index.files.size(); ++id) {
    EXPECT_EQ(a.index.Path(id), b.index.Path(id));
    EXPECT_EQ(a.index.Label(id), b.index.Label(id));
    EXPECT_EQ(a.index.files.sizes[id], b.index.files.sizes[id]);
    EXPECT_EQ(a.index.files.modified[id], b.index.files.modified[id]);
  }
  EXPECT_EQ(a.fingerprint, b.fingerprint);
  EXPECT_EQ(a.directories.size(), b.directories.size());
}

// With the checksum that its bytes call for.
std::string Resealed(std::string manifest) {
  const uint64_t checksum = XXH3_64bits(manifest.data(), manifest.size() - 8);
  std::memcpy(manifest.data() + manifest.size() - 8, &checksum, 8);
  return manifest;
}

absl::StatusCode ParseCode(const std::string& bytes) { return ParseManifest(bytes, kRoot).status().code(); }

TEST(ManifestTest, GivesBackWhatWasPutIn) {
  const auto parsed = ParseManifest(SerializeManifest(kRoot, SmallListing()), kRoot);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ExpectEqual(*parsed, SmallListing());
  EXPECT_EQ(parsed->began_seconds, 1'700'000'000);
  EXPECT_EQ(parsed->directories[2].path, "dog");
  EXPECT_EQ(parsed->directories[2].modified, (FileTime{-5, 999'999'999}));
  EXPECT_EQ(parsed->index.skipped_files, 7);
  EXPECT_EQ(parsed->index.skipped_example, "cat/notes.txt");
}

TEST(ManifestTest, BeginsAsDocumented) {
  const std::string manifest = SerializeManifest("/r", SmallListing());
  EXPECT_EQ(manifest.substr(0, 24), std::string("STOKER MANIFEST\n\2\0\0\0\0\0\0\0", 24));
  uint64_t file_bytes;
  std::memcpy(&file_bytes, manifest.data() + 24, 8);
  EXPECT_EQ(file_bytes, manifest.size());
  EXPECT_EQ(manifest.substr(32, 10), std::string("\2\0\0\0\0\0\0\0/r", 10));
}

TEST(ManifestTest, IsRefusedWithAnyBitFlipped) {
  const std::string manifest = SerializeManifest(kRoot, SmallListing());
  for (size_t i = 0; i < manifest.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = manifest;
      damaged[i] ^= 1 << bit;
      ASSERT_EQ(ParseCode(damaged), absl::StatusCode::kDataLoss) << "byte " << i << ", bit " << bit;
    }
  }
}

TEST(ManifestTest, IsRefusedCutOrExtendedAtAnyLength) {
  const std::string manifest = SerializeManifest(kRoot, SmallListing());
  for (size_t length = 0; length < manifest.size(); ++length)
    ASSERT_EQ(ParseCode(manifest.substr(0, length)), absl::StatusCode::kDataLoss) << length;
  EXPECT_EQ(ParseCode(manifest + '\0'), absl::StatusCode::kDataLoss);
}

// A forged manifest may say other things than the folder, but nothing that breaks the index.
TEST(ManifestTest, YieldsAWellFormedIndexOrNoneWhateverItsBytesWhereTheChecksumIsRight) {
  const std::string manifest = SerializeManifest(kRoot, SmallListing());
  int accepted = 0, refused = 0;
  for (size_t i = 0; i + 8 < manifest.size(); ++i) {
    for (int value : {0x00, 0x01, 0x2e, 0x2f, 0x7f, 0x80, 0xff}) {
      std::string forged = manifest;
      forged[i] = static_cast<char>(value);
      const auto parsed = ParseManifest(Resealed(forged), kRoot);
      ++(parsed.ok() ? accepted : refused);
      if (!parsed.ok()) continue;
      ASSERT_TRUE(parsed->index.IsWellFormed()) << "byte " << i;
      for (uint64_t id = 0; id < parsed->index.files.size(); ++id) {
        ASSERT_LT(parsed->index.Label(id), 2);
        ASSERT_FALSE(absl::StrContains("/" + parsed->index.Path(id) + "/", "/../")) << "byte " << i;
      }
      IsSettled(*parsed);
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
}

TEST(ManifestTest, CannotNameFilesOutsideOfTheFolder) {
  for (const char* path : {"../1.jpg", "sub/../../1.jpg", "/etc/1.jpg", "..", ".", "a//b.jpg", "./1.jpg", "sub/", ""}) {
    FolderListing listing = SmallListing();
    listing.index.files = FileList();
    listing.index.files.Add(path, 1);
    listing.index.classes = {{"cat", 1}};
    EXPECT_EQ(ParseCode(SerializeManifest(kRoot, listing)), absl::StatusCode::kDataLoss) << path;
  }
  for (const char* name : {"..", ".", "", "/", "a/b", "/etc"}) {
    FolderListing listing = SmallListing();
    listing.index.classes = {{name, 3}};
    EXPECT_EQ(ParseCode(SerializeManifest(kRoot, listing)), absl::StatusCode::kDataLoss) << name;
  }
}

TEST(ManifestTest, IsRefusedOutOfOrder) {
  FolderListing listing = SmallListing();
  listing.index.classes = {{"dog", 2}, {"cat", 3}};
  EXPECT_EQ(ParseCode(SerializeManifest(kRoot, listing)), absl::StatusCode::kDataLoss);
  listing.index.classes = {{"cat", 2}, {"cat", 3}};
  EXPECT_EQ(ParseCode(SerializeManifest(kRoot, listing)), absl::StatusCode::kDataLoss);
  listing.index.classes = {{"cat", 3}};  // "1.jpg", "sub/…", "1.webp"
  EXPECT_EQ(ParseCode(SerializeManifest(kRoot, listing)), absl::StatusCode::kDataLoss);
}

TEST(ManifestTest, OfAnotherRootIsRefused) {
  const std::string manifest = SerializeManifest("/data/val", SmallListing());
  EXPECT_EQ(ParseCode(manifest), absl::StatusCode::kFailedPrecondition);
}

TEST(ManifestFileTest, IsWrittenWholeAndReadBack) {
  TemporaryFolder cache;
  const std::string path = ManifestPath(cache.path("new/deep"), kRoot);
  ASSERT_TRUE(StoreManifest(path, kRoot, SmallListing()).ok());
  const auto loaded = LoadManifest(path, kRoot);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ExpectEqual(*loaded, SmallListing());
  FolderListing second = SmallListing();
  second.index.skipped_files = 8;
  ASSERT_TRUE(StoreManifest(path, kRoot, second).ok());
  EXPECT_EQ(LoadManifest(path, kRoot)->index.skipped_files, 8);
  const std::filesystem::directory_iterator entries(cache.path("new/deep"));
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "a temporary file was left";
}

TEST(ManifestFileTest, HasANameOfItsOwnForEachRoot) {
  EXPECT_NE(ManifestPath("/cache", "/data/train"), ManifestPath("/cache", "/data/val"));
  EXPECT_EQ(std::filesystem::path(ManifestPath("/cache", "/data/train")).parent_path(), "/cache");
}

TEST(ManifestFileTest, SaysWhyItCannotBeWritten) {
  TemporaryFolder cache;
  cache.Write("file", "x");
  const std::string below_a_file = cache.path("file/m");
  const absl::Status below = StoreManifest(below_a_file, kRoot, SmallListing());
  EXPECT_THAT(std::string(below.message()), AllOf(HasSubstr("cannot write"), HasSubstr(below_a_file)));
  cache.MakeFolder("taken/by/a/folder");
  EXPECT_EQ(StoreManifest(cache.path("taken"), kRoot, SmallListing()).code(), absl::StatusCode::kUnavailable);
  const std::filesystem::directory_iterator entries(cache.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 2) << "a temporary file was left";
}

TEST(ManifestFileTest, IsNotFoundDamagedOrAFifoWithoutWaiting) {
  TemporaryFolder cache;
  EXPECT_EQ(LoadManifest(cache.path("none"), kRoot).status().code(), absl::StatusCode::kNotFound);
  cache.Write("empty", "");
  EXPECT_EQ(LoadManifest(cache.path("empty"), kRoot).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(LoadManifest(cache.path(), kRoot).ok());
  ASSERT_EQ(mkfifo(cache.path("fifo").c_str(), 0600), 0);
  EXPECT_FALSE(LoadManifest(cache.path("fifo"), kRoot).ok());
  cache.Write("huge", "STOKER MANIFEST?");
  std::filesystem::resize_file(cache.path("huge"), uint64_t{1} << 42);  // Sparse; must not be allocated.
  EXPECT_EQ(LoadManifest(cache.path("huge"), kRoot).status().code(), absl::StatusCode::kDataLoss);
}

TEST(ManifestTrustTest, IsSettledWhereEveryDirectoryIsOlderThanTheCoarsestStep) {
  FolderListing listing;
  listing.began_seconds = 1000;
  listing.directories = {{".", {1, 0}}, {"a", {997, 999'999'999}}};
  EXPECT_TRUE(IsSettled(listing));
  listing.directories[1].modified = {998, 0};
  EXPECT_FALSE(IsSettled(listing));
  listing.directories[1].modified = {1'000'000, 0};  // From a clock that is ahead.
  EXPECT_FALSE(IsSettled(listing));
}

TEST(ManifestTrustTest, IsUnchangedWhileEveryDirectoryKeepsItsTime) {
  TemporaryFolder folder;
  folder.Write("a/sub/1.jpg", "x");
  folder.Age(1'000'000'000);
  const auto descriptor = OpenAt(AT_FDCWD, folder.path(), O_DIRECTORY);
  FolderListing listing;
  for (const char* path : {".", "a", "a/sub"}) listing.directories.push_back({path, {1'000'000'000, 0}});
  const int root = descriptor->number();
  EXPECT_TRUE(IsUnchanged(listing, root));
  for (const char* path : {".", "a", "a/sub"}) {
    folder.SetTime(path, 999'999'999);  // Any other time counts, an earlier one too.
    EXPECT_FALSE(IsUnchanged(listing, root)) << path;
    folder.SetTime(path, 1'000'000'000);
    EXPECT_TRUE(IsUnchanged(listing, root));
  }
  std::filesystem::rename(folder.path("a/sub"), folder.path("a/sub2"));
  folder.SetTime("a", 1'000'000'000);
  EXPECT_FALSE(IsUnchanged(listing, root)) << "a directory is missing";
}

}  // namespace
}  // namespace stoker
