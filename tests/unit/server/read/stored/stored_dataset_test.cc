// Datasets of shards, with .npy files for shards.

#include "server/read/stored/stored_dataset.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/registry/sharded.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// An .npy file of `rows` rows of two bytes, which count from `first`.
std::string Npy(int rows, int first, const std::string& descr = "|u1") {
  const std::string dictionary =
      absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", rows, ", 2)}");
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(dictionary.size());
  file += '\0';
  file += dictionary;
  for (int i = 0; i < 2 * rows; ++i) file += static_cast<char>(first + i);
  return file;
}

class StoredDatasetTest : public testing::Test {
 protected:
  StoredDatasetTest() {
    folder_.Write("data/b.npy", Npy(1, 100));
    folder_.Write("data/a.npy", Npy(2, 0));
    folder_.Write("data/notes.txt", "x");
  }

  v1::DatasetConfig Rows(const std::vector<std::string>& paths) {
    v1::DatasetConfig config;
    config.mutable_feature_vectors()->set_rows(true);
    for (const std::string& path : paths) config.mutable_feature_vectors()->add_path(folder_.path(path));
    return config;
  }

  absl::StatusOr<std::unique_ptr<StoredDataset>> Open(const v1::DatasetConfig& config) {
    return OpenShards(config, {.name = "vectors", .cache_dir = folder_.path("cache"), .threads = 3});
  }

  std::string ErrorOf(const v1::DatasetConfig& config) { return Open(config).status().ToString(); }

  TemporaryFolder folder_;
};

TEST_F(StoredDatasetTest, ReadsSamplesInTheOrderOfShardsNames) {
  const auto dataset = Open(Rows({"data"}));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  ASSERT_EQ((*dataset)->size(), 3);
  SampleBytes sample;
  const std::vector<std::vector<uint8_t>> expected = {{0, 1}, {2, 3}, {100, 101}};
  for (uint64_t id = 0; id < 3; ++id) {
    ASSERT_TRUE((*dataset)->Read(id, sample).ok());
    EXPECT_THAT(sample.fields, ElementsAre(expected[id]));
  }
  EXPECT_EQ((*dataset)->SampleName(2), "b.npy:0");
  EXPECT_EQ((*dataset)->stored(), nullptr) << "a local disk needs no reading ahead";
  EXPECT_THAT((*dataset)->description(), HasSubstr(".npy files at "));
}

TEST_F(StoredDatasetTest, ItsFingerprintIsThatOfTheShardsHoweverTheyAreNamedHere) {
  const auto listed = Open(Rows({"data"})), braces = Open(Rows({"data/{b,a}.npy"})), glob = Open(Rows({"data/*.npy"})),
             both = Open(Rows({"data/b.npy", "data/a.npy"}));
  folder_.Write("elsewhere/a.npy", Npy(2, 0));
  folder_.Write("elsewhere/b.npy", Npy(1, 100));
  const auto copy = Open(Rows({"elsewhere"}));
  for (const auto* one : {&listed, &braces, &glob, &both, &copy}) {
    ASSERT_TRUE(one->ok()) << one->status();
    EXPECT_EQ((**one)->fingerprint(), (*listed)->fingerprint());
  }
  EXPECT_NE((*Open(Rows({"data/a.npy"})))->fingerprint(), (*listed)->fingerprint());
}

TEST_F(StoredDatasetTest, KeepsItsIndexUntilAShardChanges) {
  const auto indexes = [&] {
    int files = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder_.path("cache"))) ++files;
    return files;
  };
  ASSERT_TRUE(Open(Rows({"data"})).ok());
  EXPECT_EQ(indexes(), 1);
  folder_.SetTime("data/a.npy", 1'000'000'000);  // The index is stale, and is replaced.
  const auto again = Open(Rows({"data"}));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT((*again)->warnings(), IsEmpty());
  EXPECT_EQ(indexes(), 1);
  // An index that is trusted is used: this one's shard is no .npy file any more, and nobody looks.
  folder_.Write("data/b.npy", std::string(Npy(1, 100).size(), 'x'));
  folder_.SetTime("data/b.npy", 1'000'000'001);
  EXPECT_FALSE(Open(Rows({"data"})).ok());
  folder_.Write("data/b.npy", Npy(1, 100));
  folder_.SetTime("data/b.npy", 1'000'000'001);
  ASSERT_TRUE(Open(Rows({"data"})).ok());
  folder_.Write("data/b.npy", std::string(Npy(1, 100).size(), 'x'));
  folder_.SetTime("data/b.npy", 1'000'000'001);
  EXPECT_TRUE(Open(Rows({"data"})).ok());
}

TEST_F(StoredDatasetTest, AShardThatChangedIsThisServersFailure) {
  const auto dataset = Open(Rows({"data"}));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  folder_.Write("data/a.npy", Npy(3, 0));
  SampleBytes sample;
  const absl::Status read = (*dataset)->Read(0, sample);
  EXPECT_TRUE(absl::IsUnavailable(read)) << read;
  EXPECT_THAT(read.message(), HasSubstr("vectors: a.npy:0: a.npy: changed since it was indexed: "));
  std::filesystem::remove(folder_.path("data/b.npy"));
}

TEST_F(StoredDatasetTest, WhatIsWrongIsNamed) {
  EXPECT_THAT(ErrorOf(Rows({})), HasSubstr("path: give a folder"));
  EXPECT_THAT(ErrorOf(Rows({"none/"})), HasSubstr("none"));
  EXPECT_THAT(ErrorOf(Rows({"data/none.npy"})), HasSubstr("NOT_FOUND"));
  EXPECT_THAT(ErrorOf(Rows({"data/*.tar"})), HasSubstr("nothing matches *.tar"));
  EXPECT_THAT(ErrorOf(Rows({"data/a.npy", "data/a.npy"})), HasSubstr("a.npy is given twice"));
  folder_.Write("data/c.npy", Npy(1, 0, "<f4"));
  EXPECT_THAT(ErrorOf(Rows({"data"})),
              HasSubstr("c.npy: has samples of float32 [2], where the first file has uint8 [2]"));
  folder_.Write("data/c.npy", Npy(5, 0).substr(0, Npy(5, 0).size() - 1));
  EXPECT_THAT(ErrorOf(Rows({"data"})), HasSubstr("c.npy: has 9 bytes of elements"));
  folder_.Write("empty/x.txt", "");
  EXPECT_THAT(ErrorOf(Rows({"empty"})), HasSubstr("there is no .npy file"));
  v1::DatasetConfig ftp;
  ftp.mutable_feature_vectors()->add_path("ftp://host/x.npy");
  EXPECT_THAT(ErrorOf(ftp), HasSubstr("knows no store for 'ftp://'"));
}

TEST_F(StoredDatasetTest, AFormatIsFoundByWhatIsThere) {
  v1::DatasetConfig config;
  config.set_data(folder_.path("data"));
  EXPECT_TRUE(FindFormat(config)->has_feature_vectors());
  folder_.Write("photos/cat/1.jpg", "x");
  config.set_data(folder_.path("photos"));
  EXPECT_TRUE(FindFormat(config)->has_image_folder());
}

}  // namespace
}  // namespace stoker
