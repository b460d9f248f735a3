// Indexes that lie beside shards, here .npy files: on a disk and behind HTTP.

#include "server/read/registry/index_beside.h"

#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/index/index_file.h"
#include "server/read/registry/make_index.h"
#include "server/read/registry/open_dataset.h"
#include "server/read/registry/sharded.h"
#include "tests/support/http_server.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// An .npy file of `rows` rows of two bytes, which count from `first`.
std::string Npy(int rows, int first) {
  const std::string dictionary = absl::StrCat("{'descr': '|u1', 'fortran_order': False, 'shape': (", rows, ", 2)}");
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(dictionary.size());
  file += '\0';
  file += dictionary;
  for (int i = 0; i < 2 * rows; ++i) file += static_cast<char>(first + i);
  return file;
}

// The same bytes but for what an index has: whoever reads it as a shard finds none.
std::string Unreadable(std::string npy) {
  for (size_t i = 0; i < npy.size() - 4; ++i) npy[i] = 'x';
  return npy;
}

v1::DatasetConfig RowsOf(const std::string& path, bool rows = true) {
  v1::DatasetConfig config;
  config.mutable_feature_vectors()->set_rows(rows);
  config.mutable_feature_vectors()->add_path(path);
  return config;
}

absl::StatusOr<std::unique_ptr<StoredDataset>> Open(const v1::DatasetConfig& config) {
  return OpenShards(config, {.name = "vectors"});
}

std::vector<uint8_t> FirstField(const StoredDataset& dataset, uint64_t id) {
  SampleBytes sample;
  const absl::Status read = dataset.Read(id, sample);
  EXPECT_TRUE(read.ok()) << read;
  return sample.fields[0];
}

class IndexBesideTest : public testing::Test {
 protected:
  IndexBesideTest() {
    Shard("a.npy", Npy(2, 0));
    Shard("b.npy", Npy(1, 100));
    fingerprint_ = (*Open(RowsOf(folder_.path("data"))))->fingerprint();
  }

  void Shard(const std::string& name, const std::string& bytes, time_t time = 1'000'000'000) {
    folder_.Write("data/" + name, bytes);
    folder_.SetTime("data/" + name, time);
  }

  void Publish() { folder_.Write("data/stoker.index", Made(RowsOf(folder_.path("data")))); }

  static std::string Made(const v1::DatasetConfig& config) {
    const auto made = MakeIndex(config, {});
    EXPECT_TRUE(made.ok()) << made.status();
    return made->bytes;
  }

  // Makes of both shards what only an index can make a dataset of. The last rows stay.
  void MakeUnreadable() {
    Shard("a.npy", Unreadable(Npy(2, 0)));
    Shard("b.npy", Unreadable(Npy(1, 100)));
  }

  // What the operator is told, where the shards are as they were otherwise.
  std::vector<std::string> WarningsOf(const v1::DatasetConfig& config) {
    const auto dataset = Open(config);
    EXPECT_TRUE(dataset.ok()) << dataset.status();
    return dataset.ok() ? (*dataset)->warnings() : std::vector<std::string>();
  }

  // The index with a change to its body.
  void PublishChanged(const std::function<void(ShardIndex&)>& change) {
    auto published = ParsePublished(Made(RowsOf(folder_.path("data"))));
    auto kept = ParseAnyIndex(published->body);
    change(kept->index);
    published->body = SerializeIndex(kept->key, kept->index);
    folder_.Write("data/stoker.index", SerializePublished(*published));
  }

  TemporaryFolder folder_;
  std::string fingerprint_;
};

TEST_F(IndexBesideTest, WhoeverOpensTheDatasetReadsNoShard) {
  Publish();
  MakeUnreadable();
  const auto dataset = Open(RowsOf(folder_.path("data")));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_THAT((*dataset)->warnings(), IsEmpty());
  EXPECT_EQ((*dataset)->fingerprint(), fingerprint_);
  EXPECT_THAT(FirstField(**dataset, 2), ElementsAre(100, 101));
}

TEST_F(IndexBesideTest, ItIsNoShardHoweverThoseAreNamed) {
  Publish();
  for (const char* path : {"data", "data/*", "data/*.npy", "data/{a,b}.npy"}) {
    const auto dataset = Open(RowsOf(folder_.path(path)));
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    EXPECT_EQ((*dataset)->fingerprint(), fingerprint_) << path;
    EXPECT_THAT((*dataset)->warnings(), IsEmpty()) << path;
  }
  v1::DatasetConfig config;
  config.set_data(folder_.path("data"));
  EXPECT_TRUE(FindFormat(config)->has_feature_vectors());
  EXPECT_EQ(Made(RowsOf(folder_.path("data"))), folder_.Read("data/stoker.index")) << "nor is it indexed";
}

TEST_F(IndexBesideTest, SomeOfItsShardsAreADatasetToo) {
  const std::string alone = (*Open(RowsOf(folder_.path("data/b.npy"))))->fingerprint();
  Publish();
  const auto dataset = Open(RowsOf(folder_.path("data/b.npy")));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_THAT((*dataset)->warnings(), IsEmpty());
  EXPECT_EQ((*dataset)->fingerprint(), alone);
  EXPECT_EQ((*dataset)->SampleName(0), "b.npy:0");
}

TEST_F(IndexBesideTest, WhatDoesNotFitIsToldAndTheShardsAreIndexed) {
  Publish();
  const auto told = [&](const std::string& text) {
    EXPECT_THAT(WarningsOf(RowsOf(folder_.path("data"))),
                ElementsAre(AllOf(HasSubstr("the index beside the shards is not used"), HasSubstr(text))));
  };
  Shard("b.npy", Npy(3, 0));
  told("b.npy: had ");
  Shard("b.npy", Npy(1, 100), 1'000'000'001);
  told("b.npy: was written to since it was indexed");
  Shard("b.npy", Npy(1, 100));
  Shard("c.npy", Npy(1, 0));
  told("c.npy: is not in it");
  EXPECT_EQ((*Open(RowsOf(folder_.path("data"))))->size(), 4);
  std::filesystem::remove(folder_.path("data/c.npy"));
  EXPECT_THAT(WarningsOf(RowsOf(folder_.path("data"))), IsEmpty());
  std::filesystem::remove(folder_.path("data/b.npy"));
  Shard("b.npy", Npy(2, 100));
  std::filesystem::remove(folder_.path("data/a.npy"));
  EXPECT_THAT(WarningsOf(RowsOf(folder_.path("data"), false)), ElementsAre(HasSubstr("it is of other fields")));
  folder_.Write("data/stoker.index", "no index");
  told("it is damaged");
}

TEST_F(IndexBesideTest, CopiesWithTheirTimesAreTaken) {
  Publish();
  const auto copy = [&](const std::string& to, time_t time) {
    for (const char* name : {"a.npy", "b.npy", "stoker.index"})
      folder_.Write(to + "/" + name, folder_.Read(std::string("data/") + name));
    for (const char* name : {"a.npy", "b.npy"}) folder_.SetTime(to + "/" + name, time);
    folder_.SetTime(to + "/stoker.index", 1'200'000'000);
    return WarningsOf(RowsOf(folder_.path(to)));
  };
  EXPECT_THAT(copy("kept", 1'000'000'000), IsEmpty());
  EXPECT_THAT(copy("older", 1'100'000'000), IsEmpty());
  EXPECT_THAT(copy("newer", 1'300'000'000), ElementsAre(HasSubstr("a.npy: has another time than when it was indexed")));
}

TEST_F(IndexBesideTest, WhatAHostileIndexClaimsIsRefused) {
  const std::map<std::string, std::function<void(ShardIndex&)>> lies = {
      {"do not fit each other", [](ShardIndex& index) { index.offsets[0] = uint64_t{1} << 63; }},
      {"do not fit each other ", [](ShardIndex& index) { index.sizes[2] = 1 << 20; }},
      {"do not fit each other  ", [](ShardIndex& index) { index.shards[1].end = uint64_t{1} << 63; }},
      {"1 parts of each sample",
       [](ShardIndex& index) {
         index.parts = 1;
         index.stored_parts.resize(index.size());
       }},
      {"b.npy: had ", [](ShardIndex& index) { index.shards[1].object.size = ~uint64_t{0}; }},
      {"a sample of 4294967295 bytes",
       [](ShardIndex& index) {
         index.shards[1].object.size = ~uint64_t{0};
         index.sizes[2] = ~uint32_t{0};
       }},
  };
  for (const auto& [text, lie] : lies) {
    PublishChanged(lie);
    EXPECT_THAT(WarningsOf(RowsOf(folder_.path("data"))),
                ElementsAre(HasSubstr(std::string(absl::StripTrailingAsciiWhitespace(text)))));
  }
}

// The folder behind HTTP, and what was asked of it.
class IndexBesideOverHttpTest : public IndexBesideTest {
 protected:
  IndexBesideOverHttpTest() : server_([this](const HttpServer::Request& request) { return Answer(request); }) {}

  HttpServer::Reply Answer(const HttpServer::Request& request) {
    const std::string name = request.target.substr(request.target.rfind('/') + 1);
    if (name.empty() || !std::filesystem::exists(folder_.path("data/" + name))) return {.status = 404};
    absl::MutexLock lock(&mutex_);
    if (request.method == "GET") read_.insert(name);
    return ServeObject(request, folder_.Read("data/" + name), etags_.contains(name) ? etags_[name] : "\"1\"");
  }

  std::set<std::string> Read() {
    absl::MutexLock lock(&mutex_);
    return read_;
  }

  std::string Url(const std::string& below = "") const { return absl::StrCat(server_.url(), "/train/", below); }

  absl::Mutex mutex_;
  std::set<std::string> read_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> etags_ ABSL_GUARDED_BY(mutex_);
  HttpServer server_;
};

TEST_F(IndexBesideOverHttpTest, AFoldersUrlIsEnough) {
  EXPECT_THAT(Open(RowsOf(Url())).status().message(), AllOf(HasSubstr("HTTP cannot list"), HasSubstr("stokerd index")));
  Publish();
  const auto dataset = Open(RowsOf(Url()));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_THAT((*dataset)->warnings(), IsEmpty());
  EXPECT_EQ((*dataset)->fingerprint(), fingerprint_);
  EXPECT_THAT(Read(), ElementsAre("stoker.index"));
  EXPECT_THAT(FirstField(**dataset, 0), ElementsAre(0, 1));
  v1::DatasetConfig config;
  config.set_data(Url());
  EXPECT_TRUE(FindFormat(config)->has_feature_vectors());
}

TEST_F(IndexBesideOverHttpTest, BracesFindItToo) {
  Publish();
  const auto dataset = Open(RowsOf(Url("{a,b}.npy")));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ((*dataset)->fingerprint(), fingerprint_);
  EXPECT_THAT(Read(), ElementsAre("stoker.index"));
}

TEST_F(IndexBesideOverHttpTest, OneMadeThereKnowsVersions) {
  folder_.Write("data/stoker.index", Made(RowsOf(Url("{a,b}.npy"))));
  EXPECT_THAT(WarningsOf(RowsOf(Url())), IsEmpty());
  {
    absl::MutexLock lock(&mutex_);
    etags_["b.npy"] = "\"2\"";
  }
  EXPECT_THAT(WarningsOf(RowsOf(Url())), ElementsAre(HasSubstr("b.npy: was written to since it was indexed")));
}

TEST_F(IndexBesideOverHttpTest, AnObjectThatChangesLaterIsAnErrorThatNamesIt) {
  Publish();
  const auto dataset = Open(RowsOf(Url()));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  {
    absl::MutexLock lock(&mutex_);
    etags_["b.npy"] = "\"2\"";
  }
  SampleBytes sample;
  EXPECT_TRUE((*dataset)->Read(0, sample).ok());
  EXPECT_THAT((*dataset)->Read(2, sample).message(), AllOf(HasSubstr("b.npy"), HasSubstr("changed since")));
}

TEST_F(IndexBesideOverHttpTest, NamesThatLeadElsewhereAreRefused) {
  const auto published = ParsePublished(Made(RowsOf(folder_.path("data"))));
  for (const char* name : {"../a.npy", "/a.npy", "x/../../a.npy", "", "stoker.index"}) {
    PublishedIndex hostile = *published;
    hostile.names.emplace_back(name);
    folder_.Write("data/stoker.index", SerializePublished(hostile));
    EXPECT_THAT(Open(RowsOf(Url())).status().message(), HasSubstr("which is no shard's name")) << name;
  }
  PublishedIndex twice = *published;
  twice.names.push_back("a.npy");
  folder_.Write("data/stoker.index", SerializePublished(twice));
  EXPECT_THAT(Open(RowsOf(Url())).status().message(), HasSubstr("twice"));
}

TEST(MakeIndexTest, WhatHasNoShardsIsRefused) {
  TemporaryFolder folder;
  folder.Write("photos/cat/1.jpg", "x");
  v1::DatasetConfig config;
  config.set_data(folder.path("photos"));
  EXPECT_THAT(MakeIndex(config, {}).status().message(), HasSubstr("class folders have no index beside them"));
  config.mutable_mix()->add_parts()->set_dataset("a");
  EXPECT_THAT(MakeIndex(config, {}).status().message(), HasSubstr("a mix has those of its parts"));
}

TEST(MakeIndexTest, IsStoppedBetweenShards) {
  TemporaryFolder folder;
  for (int i = 0; i < 10; ++i) folder.Write(absl::StrCat("data/", i, ".npy"), Npy(1, 0));
  std::atomic<bool> stop = false;
  uint64_t done = 0;
  const auto made = MakeIndex(RowsOf(folder.path("data")), {.threads = 1,
                                                            .progress =
                                                                [&](const MakeIndexProgress& progress) {
                                                                  done = progress.shards;
                                                                  EXPECT_EQ(progress.of, 10);
                                                                  stop = progress.shards == 3;
                                                                },
                                                            .stop = &stop});
  EXPECT_TRUE(absl::IsCancelled(made.status())) << made.status();
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace stoker
