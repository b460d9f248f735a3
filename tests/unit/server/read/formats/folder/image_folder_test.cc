#include "server/read/formats/folder/image_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/formats/folder/manifest.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

absl::StatusOr<std::unique_ptr<ImageFolder>> Open(const std::string& path, const std::string& cache_dir = "") {
  v1::ImageFolder config;
  config.set_path(path);
  ImageFolder::Options options;
  options.name = "pets";
  options.cache_dir = cache_dir;
  options.threads = 2;
  return ImageFolder::Open(config, options);
}

std::string Text(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

int64_t LabelOf(const SampleBytes& sample) {
  int64_t label = -1;
  EXPECT_EQ(sample.fields[1].size(), sizeof(label));
  std::memcpy(&label, sample.fields[1].data(), sizeof(label));
  return label;
}

std::string OpenError(const std::string& path) {
  const auto folder = Open(path);
  return folder.ok() ? "OK" : std::string(folder.status().message());
}

class ImageFolderTest : public testing::Test {
 protected:
  ImageFolderTest() {
    folder_.Write("cat/1.jpg", "first cat");
    folder_.Write("cat/2.jpg", "second cat, longer");
    folder_.Write("dog/1.png", "dog");
    for (const char* file : {"cat/1.jpg", "cat/2.jpg", "dog/1.png"}) folder_.SetTime(file, kWritten);
    folder_.Age();
  }

  static constexpr time_t kWritten = 1'500'000'000;

  TemporaryFolder folder_, cache_;
};

TEST_F(ImageFolderTest, YieldsEachFileWithItsLabel) {
  const auto dataset = Open(folder_.path());
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  ASSERT_EQ((*dataset)->size(), 3);
  SampleBytes sample;  // Reused, as workers do.
  const std::vector<std::string> contents = {"first cat", "second cat, longer", "dog"};
  for (uint64_t id : {0, 1, 2, 0}) {
    ASSERT_TRUE((*dataset)->Read(id, sample).ok());
    ASSERT_EQ(sample.fields.size(), 2);
    EXPECT_EQ(Text(sample.fields[0]), contents[id]);
    EXPECT_EQ(LabelOf(sample), id == 2 ? 1 : 0);
  }
}

TEST_F(ImageFolderTest, DescribesItself) {
  const auto dataset = Open(folder_.path());
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  const SourceSchema& schema = (*dataset)->schema();
  ASSERT_EQ(schema.size(), 2);
  EXPECT_EQ(schema[0].name, "image");
  EXPECT_EQ(schema[0].kind, SourceField::Kind::kEncodedImage);
  EXPECT_EQ(schema[1].name, "label");
  EXPECT_EQ(schema[1].kind, SourceField::Kind::kDense);
  EXPECT_EQ(schema[1].dtype, v1::DTYPE_INT64);
  EXPECT_THAT(schema[1].shape, IsEmpty());
  EXPECT_EQ((*dataset)->fingerprint().size(), 32);
  EXPECT_EQ((*dataset)->description(), absl::StrCat("image folder ", folder_.path(), ", 2 classes"));
  EXPECT_GT((*dataset)->resident_bytes(), sizeof(ImageFolder) + 3 * 12);
  EXPECT_THAT((*dataset)->warnings(), IsEmpty());
}

TEST_F(ImageFolderTest, NamesSamplesInPrintableText) {
  folder_.Write("cat/new\nline\xff.jpg", "x");
  const auto dataset = Open(folder_.path());
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ((*dataset)->SampleName(0), "cat/1.jpg");
  EXPECT_EQ((*dataset)->SampleName(2), "cat/new\\x0aline\\xff.jpg");
  SampleBytes sample;
  ASSERT_TRUE((*dataset)->Read(2, sample).ok());
  EXPECT_EQ(Text(sample.fields[0]), "x");
  std::filesystem::remove(folder_.path("cat/new\nline\xff.jpg"));
  const std::string error((*dataset)->Read(2, sample).message());
  EXPECT_THAT(error, AllOf(HasSubstr("cat/new\\x0aline\\xff.jpg"), Not(HasSubstr("\n"))));
}

TEST_F(ImageFolderTest, WarnsOfWhatItSkipped) {
  folder_.Write("dog/notes.txt", "x");
  const auto dataset = Open(folder_.path());
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ((*dataset)->skipped_files(), 1);
  EXPECT_EQ((*dataset)->skipped_example(), "dog/notes.txt");
  EXPECT_THAT((*dataset)->warnings(), ElementsAre(HasSubstr("skipped 1 files")));
}

TEST_F(ImageFolderTest, SaysWhatIsWrongWithAPath) {
  EXPECT_THAT(OpenError(""), HasSubstr("image_folder.path: missing"));
  EXPECT_THAT(OpenError(folder_.path("bird")), AllOf(HasSubstr(folder_.path("bird")), HasSubstr("No such file")));
  EXPECT_THAT(
      OpenError(folder_.path("cat/1.jpg")),
      AllOf(HasSubstr(folder_.path("cat/1.jpg")), HasSubstr("Not a directory"), HasSubstr("expected a folder")));
  EXPECT_THAT(OpenError(folder_.path("cat")), HasSubstr("no class folders"));
  EXPECT_THAT(OpenError(folder_.path("cat\n")), AllOf(HasSubstr("cat\\x0a"), Not(HasSubstr("\n"))));
  EXPECT_EQ(Open(folder_.path("bird")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Open(folder_.path("cat/1.jpg")).status().code(), absl::StatusCode::kInvalidArgument);
}

// Every error of Read blames this machine and names the sample; the dataset goes on.
class ImageFolderReadTest : public ImageFolderTest {
 protected:
  ImageFolderReadTest() : dataset_(Open(folder_.path(), cache_.path())) {}

  absl::Status Read() {
    SampleBytes sample;
    const absl::Status other = (*dataset_)->Read(2, sample);
    EXPECT_TRUE(other.ok()) << other;
    return (*dataset_)->Read(0, sample);
  }

  absl::StatusOr<std::unique_ptr<ImageFolder>> dataset_;
};

TEST_F(ImageFolderReadTest, NamesAFileThatVanished) {
  std::filesystem::remove(folder_.path("cat/1.jpg"));
  EXPECT_EQ(Read(), absl::NotFoundError("pets: cat/1.jpg: cannot open: No such file or directory"));
  std::filesystem::remove_all(folder_.path("cat"));
  EXPECT_EQ(Read().code(), absl::StatusCode::kNotFound);
}

TEST_F(ImageFolderReadTest, NamesAFileWhoseSizeChanged) {
  folder_.Write("cat/1.jpg", "first");
  const absl::Status shorter = Read();
  EXPECT_EQ(shorter.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(shorter.message()),
              HasSubstr("pets: cat/1.jpg: changed since it was indexed: 9 bytes then, 5 now; restore it, or restart"));
  folder_.Write("cat/1.jpg", "first cat!");
  EXPECT_THAT(std::string(Read().message()), HasSubstr("9 bytes then, 10 now"));
  folder_.Write("cat/1.jpg", "first cat");
  folder_.SetTime("cat/1.jpg", kWritten);
  EXPECT_TRUE(Read().ok());
}

TEST_F(ImageFolderReadTest, NamesAFileThatWasWrittenToWithAsManyBytes) {
  folder_.Write("cat/1.jpg", "FIRST CAT");
  const absl::Status status = Read();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pets: cat/1.jpg: changed since it was indexed: it was written to"));
}

TEST_F(ImageFolderReadTest, AManifestKeepsTheTimesOfFiles) {
  dataset_ = Open(folder_.path(), cache_.path());
  EXPECT_TRUE(Read().ok());
  folder_.SetTime("cat/1.jpg", kWritten + 1);
  dataset_ = Open(folder_.path(), cache_.path());
  EXPECT_FALSE(Read().ok());
  dataset_ = Open(folder_.path(), cache_.path());
  EXPECT_TRUE(Read().ok()) << "that failure dropped the manifest";
}

TEST_F(ImageFolderReadTest, TimesAreNoPartOfTheFingerprint) {
  const std::string fingerprint = (*dataset_)->fingerprint();
  folder_.SetTime("cat/1.jpg", kWritten + 1);
  EXPECT_EQ((*Open(folder_.path()))->fingerprint(), fingerprint);
}

TEST_F(ImageFolderReadTest, RefusesWhatIsNoLongerAFileWithoutWaiting) {
  std::filesystem::remove(folder_.path("cat/1.jpg"));
  ASSERT_EQ(mkfifo(folder_.path("cat/1.jpg").c_str(), 0600), 0);
  const absl::Status fifo = Read();
  EXPECT_EQ(fifo.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(fifo.message()), HasSubstr("cat/1.jpg: changed since it was indexed: is not a regular file"));
  std::filesystem::remove(folder_.path("cat/1.jpg"));
  folder_.Link("/dev/zero", "cat/1.jpg");
  EXPECT_EQ(Read().code(), absl::StatusCode::kUnavailable);
  std::filesystem::remove(folder_.path("cat/1.jpg"));
  folder_.MakeFolder("cat/1.jpg");
  EXPECT_EQ(Read().code(), absl::StatusCode::kUnavailable);
}

TEST_F(ImageFolderReadTest, BlamesTheMachineForALinkThatLeadsToItself) {
  std::filesystem::remove(folder_.path("cat/1.jpg"));
  folder_.Link("1.jpg", "cat/1.jpg");
  EXPECT_EQ(Read().code(), absl::StatusCode::kUnavailable);
}

TEST_F(ImageFolderReadTest, StaysWithTheFolderThatWasOpened) {
  TemporaryFolder other;
  const std::string aside = other.path("aside");
  std::filesystem::rename(folder_.path(), aside);
  std::filesystem::create_directories(folder_.path("cat"));
  folder_.Write("cat/1.jpg", "FIRST CAT");
  SampleBytes sample;
  ASSERT_TRUE((*dataset_)->Read(0, sample).ok());
  EXPECT_EQ(Text(sample.fields[0]), "first cat");
}

TEST_F(ImageFolderReadTest, DropsTheManifestOnceAFileChangedInPlace) {
  const std::string manifest = ManifestPath(cache_.path(), folder_.path());
  ASSERT_TRUE(std::filesystem::exists(manifest));
  folder_.Write("cat/1.jpg", "in place, so that no directory's time tells");
  folder_.Age();
  EXPECT_FALSE(Read().ok());
  EXPECT_FALSE(std::filesystem::exists(manifest));
  const auto reopened = Open(folder_.path(), cache_.path());
  ASSERT_TRUE(reopened.ok());
  SampleBytes sample;
  EXPECT_TRUE((*reopened)->Read(0, sample).ok());
}

// Whether a folder was opened by its manifest shows in what it knows of a file that changed in place: by the manifest
// it still expects the old size.
class ImageFolderManifestTest : public ImageFolderTest {
 protected:
  ImageFolderManifestTest() {
    EXPECT_TRUE(Open(folder_.path(), cache_.path()).ok());
    folder_.Write("dog/1.png", "another size");
  }

  std::string manifest() const { return ManifestPath(cache_.path(), folder_.path()); }

  bool OpensByManifest() const {
    const auto dataset = Open(folder_.path(), cache_.path());
    EXPECT_TRUE(dataset.ok()) << dataset.status();
    SampleBytes sample;
    return !(*dataset)->Read((*dataset)->size() - 1, sample).ok();
  }

  std::string File() const { return std::filesystem::path(manifest()).filename(); }
};

TEST_F(ImageFolderManifestTest, IsTrustedWhileDirectoryTimesMatch) { EXPECT_TRUE(OpensByManifest()); }

TEST_F(ImageFolderManifestTest, GivesTheSameDatasetAsAWalk) {
  folder_.Write("dog/1.png", "dog");
  folder_.SetTime("dog/1.png", kWritten);
  const auto walked = Open(folder_.path()), loaded = Open(folder_.path(), cache_.path());
  ASSERT_TRUE(walked.ok() && loaded.ok());
  EXPECT_EQ((*walked)->fingerprint(), (*loaded)->fingerprint());
  ASSERT_EQ((*walked)->size(), (*loaded)->size());
  for (uint64_t id = 0; id < (*walked)->size(); ++id) {
    EXPECT_EQ((*walked)->SampleName(id), (*loaded)->SampleName(id));
    SampleBytes a, b;
    EXPECT_TRUE((*walked)->Read(id, a).ok() && (*loaded)->Read(id, b).ok());
    EXPECT_EQ(a.fields, b.fields);
  }
}

TEST_F(ImageFolderManifestTest, IsNotUsedOnceAFileWasAddedRemovedOrRenamed) {
  folder_.Write("cat/3.jpg", "x");
  EXPECT_FALSE(OpensByManifest());
  EXPECT_EQ((*Open(folder_.path(), cache_.path()))->size(), 4);
}

TEST_F(ImageFolderManifestTest, IsNotUsedOnceAClassWasAdded) {
  folder_.Write("zebra/1.jpg", "x");
  EXPECT_EQ((*Open(folder_.path(), cache_.path()))->size(), 4);
}

TEST_F(ImageFolderManifestTest, IsReplacedAfterAChange) {
  std::filesystem::rename(folder_.path("cat/1.jpg"), folder_.path("cat/0.jpg"));
  folder_.Age(1'100'000'000);
  ASSERT_TRUE(Open(folder_.path(), cache_.path()).ok());
  folder_.Write("dog/1.png", "yet another size");
  EXPECT_TRUE(OpensByManifest());
  EXPECT_EQ((*Open(folder_.path(), cache_.path()))->SampleName(0), "cat/0.jpg");
}

TEST_F(ImageFolderManifestTest, IsNotTrustedWhereADirectoryWasFreshWhenItWasIndexed) {
  const auto listing = LoadManifest(manifest(), folder_.path());
  ASSERT_TRUE(listing.ok());
  FolderListing fresh = *listing;
  fresh.began_seconds = 1'000'000'001;  // The directories' time is 1'000'000'000.
  ASSERT_TRUE(StoreManifest(manifest(), folder_.path(), fresh).ok());
  EXPECT_FALSE(OpensByManifest());
}

TEST_F(ImageFolderManifestTest, IsNotKeptWhileADirectoryIsFresh) {
  std::filesystem::remove(manifest());
  folder_.SetTime("cat", 4'000'000'000);  // Later than any walk of today.
  ASSERT_TRUE(Open(folder_.path(), cache_.path()).ok());
  EXPECT_FALSE(std::filesystem::exists(manifest()));
}

TEST_F(ImageFolderManifestTest, IsIgnoredDamagedWithAWarningAndWrittenAnew) {
  const std::string whole = cache_.Read(File());
  for (size_t length : {size_t{0}, size_t{20}, whole.size() / 2, whole.size() - 1}) {
    cache_.Write(File(), whole.substr(0, length));
    const auto dataset = Open(folder_.path(), cache_.path());
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    EXPECT_THAT((*dataset)->warnings(),
                ElementsAre(AllOf(HasSubstr("indexed the folder anew"), HasSubstr(manifest()))));
    EXPECT_EQ((*dataset)->size(), 3);
    EXPECT_TRUE(LoadManifest(manifest(), folder_.path()).ok());
  }
}

TEST_F(ImageFolderManifestTest, WithAnyByteFlippedNeverYieldsWrongData) {
  const std::string whole = cache_.Read(File());
  const std::string truth = (*Open(folder_.path()))->fingerprint();
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] ^= 0x55;
    cache_.Write(File(), damaged);
    const auto dataset = Open(folder_.path(), cache_.path());
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    ASSERT_EQ((*dataset)->fingerprint(), truth) << "byte " << i;
  }
}

TEST_F(ImageFolderManifestTest, ThatOthersMayWriteIsNotTrusted) {
  for (const mode_t mode : {0664, 0646}) {
    ASSERT_EQ(chmod(manifest().c_str(), mode), 0);
    const auto dataset = Open(folder_.path(), cache_.path());
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    EXPECT_THAT((*dataset)->warnings(), ElementsAre(HasSubstr("others may write to it")));
    EXPECT_THAT((*Open(folder_.path(), cache_.path()))->warnings(), IsEmpty()) << "it was written anew";
  }
}

TEST_F(ImageFolderManifestTest, OfAnotherUserIsNotTrusted) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown(manifest().c_str(), 65534, static_cast<gid_t>(-1)), 0);
  const auto dataset = Open(folder_.path(), cache_.path());
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_THAT((*dataset)->warnings(), ElementsAre(HasSubstr("belongs to another user (uid 65534)")));
}

TEST_F(ImageFolderManifestTest, IsFoundByTheCanonicalPath) {
  TemporaryFolder elsewhere;
  elsewhere.Link(folder_.path(), "link");
  const auto dataset = Open(elsewhere.path("./link/"), cache_.path());
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  SampleBytes sample;
  EXPECT_FALSE((*dataset)->Read(2, sample).ok());
}

TEST_F(ImageFolderManifestTest, ThatCannotBeKeptIsAWarning) {
  cache_.Write("file", "x");
  for (const char* below : {"file", "file/below"}) {
    const auto dataset = Open(folder_.path(), cache_.path(below));
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    EXPECT_EQ((*dataset)->size(), 3);
    EXPECT_THAT((*dataset)->warnings(),
                ElementsAre(AllOf(HasSubstr("indexed anew at the next start"), HasSubstr(cache_.path(below)))));
  }
}

TEST_F(ImageFolderManifestTest, RemembersWhatWasSkipped) {
  folder_.Write("dog/notes.txt", "x");
  folder_.Age(1'100'000'000);
  ASSERT_TRUE(Open(folder_.path(), cache_.path()).ok());
  ASSERT_TRUE(LoadManifest(manifest(), folder_.path()).ok());
  const auto dataset = Open(folder_.path(), cache_.path());
  EXPECT_THAT((*dataset)->warnings(), ElementsAre(HasSubstr("such as 'dog/notes.txt'")));
}

}  // namespace
}  // namespace stoker
