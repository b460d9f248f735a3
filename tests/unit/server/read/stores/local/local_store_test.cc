#include "server/read/stores/local/local_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

class LocalStoreTest : public testing::Test {
 protected:
  LocalStoreTest() {
    folder_.Write("b/2.tar", "second");
    folder_.Write("b/10.tar", "tenth");
    folder_.Write("a.tar", "first");
    store_ = *LocalStore::Open(folder_.path());
  }

  ObjectInfo Describe(const std::string& name) {
    const auto described = store_->Describe({name});
    EXPECT_TRUE(described.ok()) << described.status();
    return described.ok() ? (*described)[0] : ObjectInfo();
  }

  // Reads `size` bytes at `offset`, or returns the error.
  std::string Read(const ObjectInfo& object, uint64_t offset, uint64_t size) {
    std::vector<uint8_t> bytes(size);
    const absl::Status read = ReadNow(*store_, {&object, offset, bytes});
    return read.ok() ? std::string(bytes.begin(), bytes.end()) : read.ToString();
  }

  TemporaryFolder folder_;
  std::unique_ptr<LocalStore> store_;
};

TEST_F(LocalStoreTest, ListsFilesInBytewiseOrder) {
  EXPECT_THAT(*store_->List({}), ElementsAre(Field(&ObjectInfo::name, "a.tar"), Field(&ObjectInfo::name, "b/10.tar"),
                                             Field(&ObjectInfo::name, "b/2.tar")));
  EXPECT_THAT(*store_->List({.prefix = "b/2"}), ElementsAre(Field(&ObjectInfo::size, 6)));
  EXPECT_THAT(*store_->List({.prefix = "nowhere/"}), testing::IsEmpty());
  EXPECT_EQ(store_->List({.most = 1})->size(), 1);
}

TEST_F(LocalStoreTest, ReadsRanges) {
  const ObjectInfo object = Describe("b/2.tar");
  EXPECT_EQ(Read(object, 0, 6), "second");
  EXPECT_EQ(Read(object, 3, 2), "on");
  EXPECT_EQ(Read(object, 6, 0), "");
}

TEST_F(LocalStoreTest, AFileThatChangedIsNamed) {
  folder_.SetTime("b/2.tar", 1'000'000'000);
  const ObjectInfo object = Describe("b/2.tar");
  folder_.Write("b/2.tar", "longer than it was");
  EXPECT_THAT(Read(object, 0, 6),
              HasSubstr("FAILED_PRECONDITION: b/2.tar: changed since it was indexed: 6 bytes then, 18 now"));
  folder_.Write("b/2.tar", "others");
  EXPECT_THAT(Read(object, 0, 6), HasSubstr("b/2.tar: changed since it was indexed: it was written to"));
}

TEST_F(LocalStoreTest, AFileThatChangedWithinASecondIsNamed) {
  const auto set_time = [&](int64_t nanoseconds) {
    const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {.tv_sec = 1'000'000'000, .tv_nsec = nanoseconds}};
    ASSERT_EQ(utimensat(AT_FDCWD, folder_.path("b/2.tar").c_str(), times, 0), 0);
  };
  set_time(17);
  const ObjectInfo object = Describe("b/2.tar");
  EXPECT_EQ(Read(object, 0, 6), "second");
  set_time(18);
  EXPECT_THAT(Read(object, 0, 6), HasSubstr("b/2.tar: changed since it was indexed: it was written to"));
  set_time(0);
  EXPECT_EQ(Read(object, 0, 6), "second") << "some file systems forget fractions";
}

TEST_F(LocalStoreTest, WhatIsNotThereIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(LocalStore::Open(folder_.path("none")).status()));
  const auto described = store_->Describe({"a.tar", "none.tar"});
  EXPECT_TRUE(absl::IsNotFound(described.status())) << described.status();
  EXPECT_THAT(described.status().message(), HasSubstr("none.tar"));
  const ObjectInfo gone{.name = "gone.tar", .size = 1};
  EXPECT_THAT(Read(gone, 0, 1), HasSubstr("NOT_FOUND: gone.tar"));
}

TEST_F(LocalStoreTest, AFolderIsNoObject) { EXPECT_TRUE(absl::IsFailedPrecondition(store_->Describe({"b"}).status())); }

TEST_F(LocalStoreTest, ManyFilesShareThePlacesOfOpenOnes) {
  std::vector<std::string> names;
  for (int i = 0; i < 600; ++i) {
    names.push_back("many/" + std::to_string(i));
    folder_.Write(names.back(), std::to_string(i));
  }
  const auto objects = *store_->Describe(names);
  for (int round = 0; round < 2; ++round)
    for (const ObjectInfo& object : objects) EXPECT_EQ("many/" + Read(object, 0, object.size), object.name);
}

}  // namespace
}  // namespace stoker
