#include "tests/support/photo_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/formats/folder/image_folder.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

PhotoFolderOptions Small() {
  PhotoFolderOptions options;
  options.classes = 3;
  options.images = 2;
  options.size = {30, 40};
  return options;
}

TEST(PhotoFolderTest, OpensAsAnImageFolder) {
  TemporaryFolder folder;
  std::vector<int> progress;
  PhotoFolderOptions options = Small();
  options.progress = [&](int written) { progress.push_back(written); };
  ASSERT_TRUE(WritePhotoFolder(folder.path("new"), options).ok());
  EXPECT_THAT(progress, testing::ElementsAre(1, 2, 3, 4, 5, 6));
  v1::ImageFolder config;
  config.set_path(folder.path("new"));
  const auto dataset = ImageFolder::Open(config, ImageFolder::Options());
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ((*dataset)->size(), 6);
  EXPECT_EQ((*dataset)->SampleName(3), "class-01/image-0001.jpg");
}

TEST(PhotoFolderTest, WritesTheSameBytesEachTimeAndAnotherImageEachFile) {
  TemporaryFolder folder;
  ASSERT_TRUE(WritePhotoFolder(folder.path("one"), Small()).ok());
  ASSERT_TRUE(WritePhotoFolder(folder.path("other"), Small()).ok());
  EXPECT_EQ(folder.Read("one/class-02/image-0001.jpg"), folder.Read("other/class-02/image-0001.jpg"));
  EXPECT_NE(folder.Read("one/class-02/image-0001.jpg"), folder.Read("one/class-02/image-0000.jpg"));
  EXPECT_NE(folder.Read("one/class-02/image-0001.jpg"), folder.Read("one/class-01/image-0001.jpg"));
}

TEST(PhotoFolderTest, SaysWhatItCannotDo) {
  TemporaryFolder folder;
  folder.Write("file", "x");
  EXPECT_EQ(WritePhotoFolder(folder.path("file"), Small()).code(), absl::StatusCode::kUnavailable);
  PhotoFolderOptions options = Small();
  options.size.width = 0;
  EXPECT_EQ(WritePhotoFolder(folder.path("a"), options).code(), absl::StatusCode::kInvalidArgument);
  options = Small();
  options.classes = 0;
  EXPECT_EQ(WritePhotoFolder(folder.path("a"), options).code(), absl::StatusCode::kInvalidArgument);
  options = Small();
  options.quality = 101;
  EXPECT_EQ(WritePhotoFolder(folder.path("a"), options).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace stoker
