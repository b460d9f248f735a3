#include "server/read/formats/stored_folder/stored_folder.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/formats/folder/image_folder.h"
#include "server/read/formats/folder/prepared_folder.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"
#include "tests/unit/server/read/formats/stored_folder/fake_bucket.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Names whose order in a listing differs from that of classes and their files.
constexpr const char* kFiles[] = {"b/2.jpg",    "b/1.PNG",  "b/deep/er/x.webp", "b-c/1.jpg",
                                  "a b/é.jpeg", "b/readme", "checksums.txt",    "a b/+.jpg"};

class StoredFolderTest : public testing::Test {
 protected:
  StoredFolderTest() {
    for (const char* name : kFiles) Put(name, absl::StrCat("bytes of ", name));
  }

  void Put(const std::string& name, const std::string& bytes) {
    bucket_->objects[name].bytes = bytes;
    local_.Write("data/" + name, bytes);
  }

  absl::StatusOr<std::unique_ptr<StoredFolder>> Open(StoredFolder::Options options = {}) {
    options.name = "photos";
    options.cache_dir = local_.path("cache");
    return StoredFolder::Open(bucket_, options);
  }

  std::unique_ptr<ImageFolder> OpenLocal() {
    v1::ImageFolder config;
    config.set_path(local_.path("data"));
    auto opened = ImageFolder::Open(config, {.name = "photos"});
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }

  // Expects what a copy on a disk gives.
  void ExpectAsLocal(const StoredFolder& folder) {
    const auto local = OpenLocal();
    EXPECT_EQ(folder.fingerprint(), local->fingerprint());
    EXPECT_EQ(folder.labels()->classes(), local->labels()->classes());
    ASSERT_EQ(folder.size(), local->size());
    SampleBytes here, there;
    for (uint64_t id = 0; id < folder.size(); ++id) {
      EXPECT_EQ(folder.SampleName(id), local->SampleName(id));
      EXPECT_EQ(folder.labels()->RunAt(id).end, local->labels()->RunAt(id).end);
      ASSERT_TRUE(folder.Read(id, here).ok());
      ASSERT_TRUE(local->Read(id, there).ok());
      EXPECT_EQ(here.fields, there.fields);
    }
  }

  TemporaryFolder local_;
  std::shared_ptr<FakeBucket> bucket_ = std::make_shared<FakeBucket>();
};

TEST_F(StoredFolderTest, IsTheDatasetThatACopyOnADiskIs) {
  const auto folder = Open();
  ASSERT_TRUE(folder.ok()) << folder.status();
  ExpectAsLocal(**folder);
  EXPECT_THAT((*folder)->warnings(), ElementsAre(HasSubstr("skipped 1 files")));
}

TEST_F(StoredFolderTest, IsTheSameWhereAStoreListsAllAtOnce) {
  bucket_->tells_folders = false;
  const auto folder = Open();
  ASSERT_TRUE(folder.ok()) << folder.status();
  ExpectAsLocal(**folder);
  EXPECT_EQ(bucket_->listings, 1);
}

TEST_F(StoredFolderTest, IsTheSameWhereAListNamesTheFiles) {
  bucket_->lists = false;
  std::string list = "# all files\r\n\n";
  for (const char* name : kFiles) list += absl::StrCat(name, "\r\n");
  bucket_->objects["files.txt"].bytes = list;
  {
    const auto folder = Open({.list = "files.txt"});
    ASSERT_TRUE(folder.ok()) << folder.status();
    ExpectAsLocal(**folder);
  }
  // The next start describes no file but those that it compares.
  bucket_->described = 0;
  ASSERT_TRUE(Open({.list = "files.txt"}).ok());
  EXPECT_EQ(bucket_->described, 1 + 1 + 6);
  bucket_->objects["files.txt"] = {"b/2.jpg", "\"2\""};
  const auto changed = Open({.list = "files.txt"});
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ((*changed)->size(), 1);
}

TEST_F(StoredFolderTest, RefusesAListThatLeavesTheFolder) {
  for (const char* name :
       {"../secret/1.jpg", "/etc/1.jpg", "a/../../1.jpg", "a//1.jpg", "./a/1.jpg", "b/2.jpg\nb/2.jpg"}) {
    bucket_->objects["files.txt"].bytes = name;
    EXPECT_THAT(Open({.list = "files.txt"}).status().message(), HasSubstr("the list has '")) << name;
  }
}

TEST_F(StoredFolderTest, SaysWhatALayoutLacks) {
  bucket_->objects = {{"1.jpg", {"x"}}};
  EXPECT_THAT(Open().status().message(), HasSubstr("no class folders in it; expected PATH/CLASS/IMAGE.jpg"));
  bucket_->objects = {{"a/1.jpg", {"x"}}, {"b/readme", {"x"}}};
  EXPECT_THAT(Open().status().message(), HasSubstr("class folder 'b' without a"));
}

TEST_F(StoredFolderTest, ASmallFolderIsListedAtEachStart) {
  ASSERT_TRUE(Open().ok());
  Put("b/3.jpg", "new");
  const auto folder = Open();
  ASSERT_TRUE(folder.ok());
  ExpectAsLocal(**folder);
}

TEST_F(StoredFolderTest, ALargeFolderIsNotListedTwice) {
  const StoredFolder::Options large = {.listed_anew = 3};
  ASSERT_TRUE(Open(large).ok());
  const int listings = bucket_->listings;
  {
    const auto folder = Open(large);
    ASSERT_TRUE(folder.ok());
    ExpectAsLocal(**folder);
    EXPECT_EQ(bucket_->listings, listings);
  }
  // What differs is found, and the folder is listed anew: another class, a changed object, one that is gone.
  Put("new/1.jpg", "x");
  for (const char* change : {"new class", "changed", "gone"}) {
    if (change == std::string("changed")) bucket_->objects["b/1.PNG"].version = "\"other\"";
    if (change == std::string("gone")) {
      bucket_->objects.erase("b/1.PNG");
      std::filesystem::remove(local_.path("data/b/1.PNG"));
    }
    const int before = bucket_->listings;
    const auto folder = Open(large);
    ASSERT_TRUE(folder.ok()) << folder.status();
    EXPECT_GT(bucket_->listings, before) << change;
    ExpectAsLocal(**folder);
  }
}

TEST_F(StoredFolderTest, AReadOfAChangedObjectNamesItAndDropsTheIndex) {
  const StoredFolder::Options large = {.listed_anew = 3};
  const auto folder = Open(large);
  ASSERT_TRUE(folder.ok());
  bucket_->objects["a b/+.jpg"].version = "\"other\"";
  SampleBytes sample;
  const absl::Status read = (*folder)->Read(0, sample);
  EXPECT_TRUE(absl::IsUnavailable(read));
  EXPECT_THAT(read.message(), testing::AllOf(HasSubstr("photos: a b/+.jpg: changed"), HasSubstr("restart the server")));
  EXPECT_TRUE(std::filesystem::is_empty(local_.path("cache")));
  EXPECT_TRUE((*folder)->Read(1, sample).ok());
}

TEST_F(StoredFolderTest, WhatIsReadAheadIsEachObjectWithItsVersion) {
  bucket_->objects["b/2.jpg"].version = "W/\"weak\"";
  const auto folder = Open();
  ASSERT_TRUE(folder.ok());
  const StoredSamples& stored = *static_cast<const Dataset&>(**folder).stored();
  for (uint64_t id = 0; id < (*folder)->size(); ++id) {
    const auto place = stored.PlaceOf(id, FieldSet::All());
    const ObjectInfo object = stored.ObjectAt(place.object);
    EXPECT_EQ(object.name, (*folder)->SampleName(id));
    EXPECT_EQ(object.version, bucket_->objects[object.name].version);
    EXPECT_EQ(place.size, bucket_->objects[object.name].bytes.size());
  }
}

TEST_F(StoredFolderTest, WhoWantsLabelsAloneReadsNoObject) {
  const auto folder = Open();
  ASSERT_TRUE(folder.ok());
  const uint64_t last = (*folder)->size() - 1;
  bucket_->objects.erase((*folder)->SampleName(last));
  SampleBytes sample;
  sample.wanted = FieldSet();
  sample.wanted.Add(1);
  EXPECT_FALSE(static_cast<const Dataset&>(**folder).stored()->Has(last, sample.wanted));
  EXPECT_TRUE((*folder)->Read(last, sample).ok());
  EXPECT_EQ(sample.fields[1][0], (*folder)->labels()->RunAt(last).label);
}

TEST_F(StoredFolderTest, APreparedFolderMustBeWholeHereToo) {
  bucket_->objects[kPreparedFile].bytes = "state: unfinished\n";
  EXPECT_THAT(Open().status().message(), HasSubstr("was not prepared to its end"));
}

TEST(ListingFileTest, DamagedBytesAreNoListing) {
  ObjectListing listing;
  listing.index.files.Add("1.jpg", 5);
  listing.index.classes = {{"a", 1}};
  listing.fingerprint = FolderFingerprint(listing.index);
  listing.versions.Add("\"00112233445566778899aabbccddeeff\"");
  const std::string bytes = SerializeListing({"s3://bucket", ""}, listing);
  const auto parsed = ParseListing(bytes);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->listing.Object(0).version, "\"00112233445566778899aabbccddeeff\"");
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] ^= 1;
    EXPECT_FALSE(ParseListing(flipped).ok()) << i;
    EXPECT_FALSE(ParseListing(bytes.substr(0, i)).ok()) << i;
  }
  listing.index.classes[0].name = "..";
  EXPECT_TRUE(absl::IsDataLoss(ParseListing(SerializeListing({"s3://bucket", ""}, listing)).status()));
}

}  // namespace
}  // namespace stoker
