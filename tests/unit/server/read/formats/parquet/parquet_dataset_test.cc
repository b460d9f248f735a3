#include "server/read/formats/parquet/parquet_dataset.h"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/ahead/read_ahead.h"
#include "tests/fuzz/memory_store.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A file whose row groups do as `letters` say: see test_parquet_child.cc.
std::vector<uint8_t> FileOf(const std::string& letters, int64_t label = 5) {
  std::string text = "PAR1" + std::string(8, '\0') + letters + std::string(4, '\0') + "PAR1";
  std::memcpy(text.data() + 4, &label, sizeof label);
  const auto size = static_cast<uint32_t>(letters.size());
  std::memcpy(text.data() + text.size() - 8, &size, sizeof size);
  return {text.begin(), text.end()};
}

struct Opening {
  v1::Parquet config;
  std::string program = STOKER_TEST_PARQUET_CHILD;
  bool remote = false;
  std::string cache_dir, version;
  std::function<absl::StatusOr<ParquetTable>()> beside;
};

absl::StatusOr<std::unique_ptr<ParquetDataset>> Open(const std::map<std::string, std::string>& files,
                                                     const Opening& opening = {}) {
  MemoryStore::Objects objects;
  std::vector<ObjectInfo> infos;
  for (const auto& [name, letters] : files) {
    objects[name] = FileOf(letters, static_cast<int64_t>(objects.size()) + 5);
    infos.push_back({name, objects[name].size(), opening.version});
  }
  return ParquetDataset::Open(
      opening.config, std::make_shared<MemoryStore>(std::move(objects), opening.remote), std::move(infos),
      {.name = "pets", .cache_dir = opening.cache_dir, .program = opening.program, .beside = opening.beside});
}

absl::StatusOr<int64_t> LabelOf(const ParquetDataset& dataset, uint64_t id) {
  SampleBytes sample;
  if (const absl::Status read = dataset.Read(id, sample); !read.ok()) return read;
  int64_t label = 0;
  std::memcpy(&label, sample.fields[0].data(), sizeof label);
  return label;
}

TEST(ParquetDatasetTest, RowsAreSamplesInOrder) {
  const auto opened = Open({{"a.parquet", "oeo"}, {"b.parquet", "e"}, {"c.parquet", "o"}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  const ParquetDataset& dataset = **opened;
  EXPECT_EQ(dataset.size(), 6);
  EXPECT_EQ(dataset.SampleName(3), "a.parquet:3");
  EXPECT_EQ(dataset.SampleName(4), "c.parquet:0");
  EXPECT_EQ(*LabelOf(dataset, 3), 5);
  EXPECT_EQ(*LabelOf(dataset, 5), 7);
  EXPECT_THAT(dataset.warnings(), ElementsAre(HasSubstr("'caption' is left out: it is text")));
}

TEST(ParquetDatasetTest, ACrashIsTheLossOfOneRowGroup) {
  const auto opened = Open({{"a.parquet", "oco"}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  for (int round = 0; round < 2; ++round)
    for (const uint64_t id : {2, 3}) {
      const auto lost = LabelOf(**opened, id).status();
      EXPECT_EQ(lost.code(), absl::StatusCode::kDataLoss);
      EXPECT_THAT(lost.message(), HasSubstr("pets: a.parquet:" + std::to_string(id)));
      EXPECT_THAT(lost.message(), HasSubstr("a.parquet: row group 1"));
      EXPECT_THAT(lost.message(), HasSubstr("SIGABRT"));
    }
  EXPECT_EQ(*LabelOf(**opened, 1), 5);
  EXPECT_EQ(*LabelOf(**opened, 4), 5);
}

TEST(ParquetDatasetTest, WhatCannotBeIsAnError) {
  const auto opened = Open({{"a.parquet", "orgln"}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  const std::vector<std::pair<uint64_t, std::string>> errors = {{2, "it is odd"},
                                                                {4, "what was decoded cannot be"},
                                                                {6, "what was decoded cannot be"},
                                                                {9, "column label: is null"}};
  for (const auto& [id, text] : errors) {
    EXPECT_EQ(LabelOf(**opened, id).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(LabelOf(**opened, id).status().message(), HasSubstr(text));
  }
  EXPECT_EQ(*LabelOf(**opened, 8), 5);
}

TEST(ParquetDatasetTest, FootersThatLieAreRefused) {
  EXPECT_THAT(Open({{"a.parquet", "o"}, {"b.parquet", "ob"}}).status().message(),
              HasSubstr("b.parquet: a column of its row group 1 has 8 bytes at"));
  EXPECT_THAT(Open({{"a.parquet", "oh"}}).status().message(), HasSubstr("row group 1, of 4611686018427387904 rows"));
  EXPECT_EQ(Open({{"a.parquet", "x"}}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Open({{"a.parquet", "ee"}}).status().message(), HasSubstr("no row"));
}

TEST(ParquetDatasetTest, OneFingerprintWhereverFilesLie) {
  const auto local = Open({{"a.parquet", "oo"}}), remote = Open({{"a.parquet", "oo"}}, {.remote = true});
  const auto other = Open({{"a.parquet", "oe"}}), mapped = [] {
    Opening opening;
    (*opening.config.mutable_fields())["y"].set_from("label");
    return Open({{"a.parquet", "oo"}}, opening);
  }();
  ASSERT_TRUE(local.ok() && remote.ok() && other.ok() && mapped.ok());
  EXPECT_EQ((*local)->fingerprint(), (*remote)->fingerprint());
  EXPECT_NE((*local)->fingerprint(), (*other)->fingerprint());
  EXPECT_NE((*local)->fingerprint(), (*mapped)->fingerprint());
}

TEST(ParquetDatasetTest, ASmallCacheIsWarnedOfAndBoundsMemory) {
  Opening opening;
  opening.config.set_cache("40B");
  const auto small = Open({{"a.parquet", std::string(1000, 'o')}}, opening), large = Open({{"a.parquet", "oo"}});
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_THAT((*small)->warnings().back(), HasSubstr("block_samples: 2"));
  EXPECT_THAT((*large)->warnings(), ElementsAre(HasSubstr("caption")));
  for (uint64_t id = 0; id < 20; ++id) EXPECT_EQ(*LabelOf(**small, id), 5);
  opening.config.set_cache("much");
  EXPECT_THAT(Open({{"a.parquet", "o"}}, opening).status().message(), HasSubstr("parquet.cache"));
}

// Footers of the letter x are damaged: who opens them has not read them.
TEST(ParquetDatasetTest, KeepsItsIndexUntilAFileChanges) {
  const TemporaryFolder folder;
  const Opening opening{.cache_dir = folder.path("cache"), .version = "1"};
  const auto first = Open({{"a.parquet", "oo"}, {"b.parquet", "o"}}, opening);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto again = Open({{"a.parquet", "xx"}, {"b.parquet", "x"}}, opening);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->fingerprint(), (*first)->fingerprint());
  EXPECT_EQ((*again)->size(), (*first)->size());
  EXPECT_THAT((*again)->warnings(), ElementsAre(HasSubstr("caption")));
  EXPECT_EQ(*LabelOf(**again, 4), 6);
  for (const char* version : {"2", ""}) {
    Opening changed = opening;
    changed.version = version;
    const bool has_version = !changed.version.empty();
    EXPECT_EQ(Open({{"a.parquet", "xx"}, {"b.parquet", "x"}}, changed).ok(), !has_version) << version;
  }
  EXPECT_FALSE(Open({{"a.parquet", "xx"}, {"b.parquet", "xo"}}, opening).ok()) << "another size";
  EXPECT_FALSE(Open({{"a.parquet", "xx"}}, opening).ok()) << "other files";
  EXPECT_TRUE(
      Open({{"a.parquet", "oo"}, {"b.parquet", "o"}}, {.cache_dir = folder.path("cache"), .version = "2"}).ok());
}

TEST(ParquetDatasetTest, ADamagedIndexIsToldOfAndMadeAnew) {
  const TemporaryFolder folder;
  const Opening opening{.cache_dir = folder.path("cache"), .version = "1"};
  ASSERT_TRUE(Open({{"a.parquet", "oo"}}, opening).ok());
  for (const auto& file : std::filesystem::directory_iterator(folder.path("cache")))
    std::filesystem::resize_file(file.path(), 20);
  const auto dataset = Open({{"a.parquet", "oo"}}, opening);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_THAT((*dataset)->warnings(), testing::Contains(HasSubstr("indexed the shards anew")));
  EXPECT_TRUE(Open({{"a.parquet", "xx"}}, opening).ok());
}

TEST(ParquetDatasetTest, AnIndexBesideTheFilesIsTheirIndex) {
  const std::vector<uint8_t> file = FileOf("oo");
  MemoryStore store({{"a.parquet", file}}, true);
  const auto made = ParquetDataset::MakeTable({}, store, {store.Object("a.parquet")},
                                              {.program = STOKER_TEST_PARQUET_CHILD}, nullptr, nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  Opening opening;
  opening.beside = [&] { return made; };
  const auto dataset = Open({{"a.parquet", "xx"}}, opening), without = Open({{"a.parquet", "oo"}});
  ASSERT_TRUE(dataset.ok() && without.ok()) << dataset.status();
  EXPECT_EQ((*dataset)->fingerprint(), (*without)->fingerprint());
  opening.beside = []() -> absl::StatusOr<ParquetTable> { return absl::FailedPreconditionError("it is of others"); };
  const auto warned = Open({{"a.parquet", "oo"}}, opening);
  ASSERT_TRUE(warned.ok()) << warned.status();
  EXPECT_THAT((*warned)->warnings(), testing::Contains(HasSubstr("not used: it is of others")));
}

// Counts reads, and fails those of the objects that are said to be broken.
class CountingStore final : public Store {
 public:
  explicit CountingStore(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  std::string description() const override { return store_->description(); }
  bool is_remote() const override { return true; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) override { return store_->List(listing); }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override {
    return store_->Describe(names);
  }
  void Read(const Range& range, Done done) override {
    ++reads;
    bytes += range.into.size();
    if (broken) return done(absl::UnavailableError("it hung up"));
    store_->Read(range, std::move(done));
  }

  std::atomic<int> reads = 0;
  std::atomic<uint64_t> bytes = 0;
  std::atomic<bool> broken = false;

 private:
  const std::shared_ptr<Store> store_;
};

TEST(ParquetDatasetTest, RowGroupsOfASpanAreLoadedBeforeAWorkerTakesIt) {
  const std::vector<uint8_t> file = FileOf("oooo");
  const auto store =
      std::make_shared<CountingStore>(std::make_shared<MemoryStore>(MemoryStore::Objects{{"a.parquet", file}}, true));
  const std::shared_ptr<const Dataset> dataset = *ParquetDataset::Open(
      {}, store, {{"a.parquet", file.size(), ""}}, {.name = "pets", .program = STOKER_TEST_PARQUET_CHILD});
  ASSERT_NE(dataset->stored(), nullptr);
  absl::Mutex mutex;
  bool ready = false;
  ReadAhead ahead({.budget_bytes = 1 << 20, .on_ready = [&] {
                     absl::MutexLock lock(&mutex);
                     ready = true;
                   }});
  const auto reader = ahead.OpenReader();
  const auto span = [&] {
    {
      absl::MutexLock lock(&mutex);
      ready = false;
    }
    auto group = reader->Add({dataset, dataset->stored()}, [] { return std::vector<uint64_t>{1, 0, 3}; });
    absl::MutexLock lock(&mutex);
    mutex.Await(absl::Condition(&ready));
    return group;
  };
  SampleBytes sample;
  store->broken = true;
  {
    const auto failed = span();
    EXPECT_THAT(failed->Read(3, sample)->message(), HasSubstr("pets: a.parquet:3: ")) << "who needs it tries again";
  }
  store->broken = false;
  const int before = store->reads;
  const auto group = span();
  EXPECT_EQ(store->reads, before + 2) << "of two row groups";
  for (const uint64_t id : {0, 1, 3}) {
    const auto read = group->Read(id, sample);
    ASSERT_TRUE(read.has_value() && read->ok());
    EXPECT_EQ(sample.fields[0][0], 5);
  }
  EXPECT_EQ(store->reads, before + 2) << "no worker had to";
}

TEST(ParquetDatasetTest, ColumnsThatNobodyWantsAreNotRead) {
  const std::vector<uint8_t> file = FileOf("tt", 0x0807060504030201);
  const auto store =
      std::make_shared<CountingStore>(std::make_shared<MemoryStore>(MemoryStore::Objects{{"a.parquet", file}}, true));
  auto opened = ParquetDataset::Open({}, store, {{"a.parquet", file.size(), ""}},
                                     {.name = "pets", .program = STOKER_TEST_PARQUET_CHILD});
  ASSERT_TRUE(opened.ok()) << opened.status();
  const Dataset& dataset = **opened;
  ASSERT_EQ(dataset.schema().size(), 2);
  const StoredSamples& stored = *dataset.stored();
  std::set<uint64_t> places;
  const std::vector<uint8_t> label = {1, 2, 3, 4, 5, 6, 7, 8}, low = {1, 2, 3, 4};
  for (const size_t only : {0, 1}) {
    SampleBytes sample;
    sample.wanted = FieldSet();
    sample.wanted.Add(only);
    store->bytes = 0;
    for (const uint64_t id : {0, 1, 0}) {
      ASSERT_TRUE(dataset.Read(id, sample).ok());
      EXPECT_EQ(sample.fields[only], only == 0 ? label : low);
      EXPECT_TRUE(sample.fields[1 - only].empty());
    }
    EXPECT_EQ(store->bytes, only == 0 ? 8 : 4);
    places.insert(stored.PlaceOf(0, sample.wanted).object);
  }
  SampleBytes sample;
  ASSERT_TRUE(dataset.Read(0, sample).ok());
  EXPECT_EQ(sample.fields, std::vector({label, low}));
  places.insert(stored.PlaceOf(0, FieldSet::All()).object);
  places.insert(stored.PlaceOf(2, FieldSet::All()).object);
  EXPECT_EQ(places.size(), 4) << "what is read ahead is a row group's columns";

  absl::Mutex mutex;
  bool ready = false;
  ReadAhead ahead({.budget_bytes = 1 << 20, .on_ready = [&] {
                     absl::MutexLock lock(&mutex);
                     ready = true;
                   }});
  const std::shared_ptr<const Dataset> shared(opened->release());
  sample.wanted = FieldSet();
  sample.wanted.Add(1);
  store->bytes = 0;
  const auto reader = ahead.OpenReader();
  const auto group = reader->Add(
      {shared, shared->stored()},
      [] {
        return std::vector<uint64_t>{2, 3};
      },
      sample.wanted);
  {
    absl::MutexLock lock(&mutex);
    mutex.Await(absl::Condition(&ready));
  }
  const auto read = group->Read(3, sample);
  ASSERT_TRUE(read.has_value() && read->ok());
  EXPECT_EQ(sample.fields[1], low);
  EXPECT_EQ(store->bytes, 4);
}

TEST(ParquetDatasetTest, WhatIsWantedIsReadHoweverManyChoicesThereWere) {
  const std::vector<uint8_t> file = FileOf("td", 0x0807060504030201);
  const auto opened =
      ParquetDataset::Open({}, std::make_shared<MemoryStore>(MemoryStore::Objects{{"a.parquet", file}}, true),
                           {{"a.parquet", file.size(), ""}}, {.name = "pets", .program = STOKER_TEST_PARQUET_CHILD});
  ASSERT_TRUE(opened.ok()) << opened.status();
  const auto read = [&](uint64_t id, size_t field, size_t beyond) {
    SampleBytes sample;
    sample.wanted = FieldSet();
    sample.wanted.Add(field);
    sample.wanted.Add(beyond);  // No such field, but another choice.
    const absl::Status status = (*opened)->Read(id, sample);
    return status.ok() ? absl::StrJoin(sample.fields[field], " ") : status.ToString();
  };
  for (const size_t field : {0, 1})
    for (size_t beyond = 2; beyond < FieldSet::kMost; ++beyond) {
      EXPECT_EQ(read(0, field, beyond), field == 0 ? "1 2 3 4 5 6 7 8" : "1 2 3 4");
      EXPECT_THAT(read(2, field, beyond), field == 0 ? HasSubstr("it is odd") : HasSubstr("1 2 3 4"))
          << "a column that is not wanted makes no sample a bad one";
    }
}

TEST(ParquetDatasetTest, ABuildWithoutArrowSaysWhatToDo) {
  const auto status = Open({{"a.parquet", "o"}}, {.program = "/nonexistent/program"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("./dev setup --parquet"));
}

}  // namespace
}  // namespace stoker
