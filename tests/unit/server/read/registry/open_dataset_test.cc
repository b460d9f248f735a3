#include "server/read/registry/open_dataset.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

v1::DatasetConfig FolderConfig(const std::string& path, const std::string& name = "") {
  v1::DatasetConfig config;
  config.set_name(name);
  config.mutable_image_folder()->set_path(path);
  return config;
}

v1::DatasetConfig SyntheticConfig() {
  v1::DatasetConfig config;
  v1::SyntheticField& field = *config.mutable_synthetic()->add_fields();
  field.set_name("image");
  field.set_dtype(v1::DTYPE_UINT8);
  return config;
}

std::string NameError(const v1::DatasetConfig& config) {
  const auto name = DatasetName(config);
  return name.ok() ? "OK" : std::string(name.status().message());
}

TEST(DatasetNameTest, DefaultsToTheFoldersBaseName) {
  for (const char* path : {"/data/train", "/data/train/", "/data/train//", "/data/train/.", "train", "../train"})
    EXPECT_EQ(*DatasetName(FolderConfig(path)), "train") << path;
  EXPECT_EQ(*DatasetName(FolderConfig("/data/train", "imagenet-1k_v2.0")), "imagenet-1k_v2.0");
  EXPECT_EQ(*DatasetName(SyntheticConfig()), "synthetic");
}

TEST(DatasetNameTest, IsBoundedToSafeCharacters) {
  EXPECT_EQ(NameError(FolderConfig("/d", std::string(128, 'a'))), "OK");
  for (const std::string& name : {std::string(129, 'a'), std::string(".hidden"), std::string("a b"), std::string("a/b"),
                                  std::string("ä"), std::string("a\nb"), std::string("a\0b", 3)})
    EXPECT_THAT(NameError(FolderConfig("/d", name)), HasSubstr("cannot be a dataset's name")) << name;
  EXPECT_THAT(NameError(FolderConfig("/d", "a\nb")), HasSubstr("'a\\x0ab'"));
}

TEST(DatasetNameTest, AsksForANameWhereTheFoldersIsNone) {
  for (const char* path : {"/data/my photos", "/", ".", "..", ""})
    EXPECT_THAT(NameError(FolderConfig(path)), AllOf(HasSubstr("the base name of its folder"), HasSubstr("set `name`")))
        << path;
}

TEST(OpenDatasetTest, OpensAnImageFolder) {
  TemporaryFolder folder;
  folder.Write("pets/cat/1.jpg", "x");
  folder.Write("pets/cat/notes.txt", "x");
  uint64_t found = 0;
  OpenDatasetOptions options;
  options.progress = [&](uint64_t files) { found = files; };
  const auto opened = OpenDataset(FolderConfig(folder.path("pets")), options);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->name, "pets");
  EXPECT_EQ(opened->dataset->size(), 1);
  EXPECT_EQ(opened->dataset->SampleName(0), "cat/1.jpg");
  EXPECT_THAT(opened->warnings, ElementsAre(HasSubstr("notes.txt")));
  EXPECT_EQ(found, 1);
}

TEST(OpenDatasetTest, OpensASyntheticDataset) {
  const auto opened = OpenDataset(SyntheticConfig(), {});
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->name, "synthetic");
  EXPECT_EQ(opened->dataset->size(), 1048576);
}

TEST(OpenDatasetTest, BeginsErrorsWithTheDatasetsName) {
  TemporaryFolder folder;
  const auto missing = OpenDataset(FolderConfig(folder.path("pets")), {});
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()),
              AllOf(StartsWith("dataset pets: image_folder.path: "), HasSubstr(folder.path("pets"))));
  v1::DatasetConfig synthetic = SyntheticConfig();
  synthetic.mutable_synthetic()->mutable_fields(0)->clear_dtype();
  EXPECT_THAT(std::string(OpenDataset(synthetic, {}).status().message()),
              StartsWith("dataset synthetic: synthetic.fields[0].dtype: missing"));
  v1::DatasetConfig neither;
  neither.set_name("pets");
  EXPECT_THAT(std::string(OpenDataset(neither, {}).status().message()), StartsWith("dataset pets: no source"));
}

}  // namespace
}  // namespace stoker
