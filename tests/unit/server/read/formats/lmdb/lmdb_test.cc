#include "server/read/formats/lmdb/lmdb.h"

#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/formats/lmdb/tree.h"
#include "server/read/registry/sharded.h"
#include "tests/fuzz/memory_store.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"
#include "tests/unit/server/read/formats/lmdb/environment.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Entries = Environment::Entries;

const std::string kJpeg = "\xff\xd8\xff";

v1::DatasetConfig ConfigOf(const std::string& path, const std::string& layout = "", const std::string& database = "") {
  v1::DatasetConfig config;
  config.mutable_lmdb()->add_path(path);
  config.mutable_lmdb()->set_layout(layout);
  config.mutable_lmdb()->set_database(database);
  return config;
}

std::string OpenError(const v1::DatasetConfig& config) {
  return std::string(OpenShards(config, {}).status().message());
}

// Returns the samples' names and their first fields.
Entries SamplesOf(const v1::DatasetConfig& config) {
  Entries samples;
  const auto dataset = OpenShards(config, {});
  EXPECT_TRUE(dataset.ok()) << dataset.status();
  SampleBytes sample;
  for (uint64_t id = 0; dataset.ok() && id < (*dataset)->size(); ++id) {
    const absl::Status read = (*dataset)->Read(id, sample);
    EXPECT_TRUE(read.ok()) << read;
    samples[(*dataset)->index().NameOf(id)] = std::string(sample.fields[0].begin(), sample.fields[0].end());
  }
  return samples;
}

// Entries whose keys and values are of many sizes: a value of more than half a page lies in pages of its own.
Entries EntriesOf(int count, int salt) {
  Entries entries;
  for (int i = 0; i < count; ++i) {
    const unsigned mixed = (i * 2654435761u) ^ (salt * 97u);
    const std::string key = absl::StrCat(i, "/", std::string(mixed % 400, 'k'));
    entries[key] = absl::StrCat(salt, ":", std::string(i % 7 == 0 ? mixed % 20'000 : mixed % 700, 'a' + i % 26));
  }
  return entries;
}

TEST(LmdbTest, FindsEveryValueOfADeepTree) {
  const TemporaryFolder folder;
  const Entries entries = EntriesOf(6000, 1);
  Environment(folder.path()).Put(entries);
  EXPECT_EQ(SamplesOf(ConfigOf(folder.path(), "image")), entries);
}

TEST(LmdbTest, FindsWhatWasChangedAndNothingThatWasDeleted) {
  const TemporaryFolder folder;
  Entries entries = EntriesOf(2000, 1);
  Environment environment(folder.path());
  environment.Put(entries);
  for (int round = 2; round < 6; ++round) {
    Entries deleted;
    for (auto entry = entries.begin(); entry != entries.end();) {
      if (entry->second.size() % 3 != static_cast<size_t>(round) % 3) {
        ++entry;
        continue;
      }
      deleted.insert(*entry);
      entry = entries.erase(entry);
    }
    environment.Delete(deleted);
    const Entries more = EntriesOf(500 * round, round);
    environment.Put(more);
    for (const auto& [key, value] : more) entries[key] = value;
    ASSERT_EQ(SamplesOf(ConfigOf(folder.path(), "image")), entries) << "after round " << round;
  }
}

// Counts what is asked of a store that is far away.
class CountingStore final : public Store {
 public:
  explicit CountingStore(Store& store) : store_(store) {}
  std::string description() const override { return store_.description(); }
  bool is_remote() const override { return true; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) override { return store_.List(listing); }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override {
    return store_.Describe(names);
  }
  void Read(const Range& range, Done done) override {
    ++requests;
    bytes += range.into.size();
    store_.Read(range, std::move(done));
  }

  uint64_t requests = 0, bytes = 0;

 private:
  Store& store_;
};

TEST(LmdbTest, NeighbouringPagesAreOneRequestAndLargeValuesNone) {
  const TemporaryFolder folder;
  Entries entries;
  for (int i = 10'000; i < 30'000; ++i) entries[absl::StrCat(i)] = std::string(i % 100 == 0 ? 50'000 : 150, 'x');
  Environment(folder.path()).Put(entries);
  const std::string bytes = folder.Read("data.mdb");
  MemoryStore memory({{"data.mdb", {bytes.begin(), bytes.end()}}}, true);
  CountingStore store(memory);
  const ObjectInfo object = memory.Object("data.mdb");
  const auto tree = LmdbTree::Open(store, object, "");
  ASSERT_TRUE(tree.ok()) << tree.status();
  uint64_t found = 0;
  ASSERT_TRUE(tree->Walk([&](const LmdbTree::Entry&) { return ++found > 0; }).ok());
  EXPECT_EQ(found, entries.size());
  EXPECT_LT(store.bytes, bytes.size() - 200 * 40'000);
  EXPECT_LT(store.requests, 300);  // of a thousand pages, which values lie between
  store.requests = 0;
  ASSERT_TRUE(tree->Walk([](const LmdbTree::Entry&) { return false; }).ok());
  EXPECT_LT(store.requests, 10);
}

TEST(LmdbTest, AFileThatIsWrittenToIsAnErrorAndNoOtherSample) {
  const TemporaryFolder folder;
  Environment environment(folder.path());
  environment.Put({{"a", kJpeg}});
  folder.SetTime("data.mdb", 1'000'000'000);
  const auto dataset = OpenShards(ConfigOf(folder.path()), {});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  SampleBytes sample;
  EXPECT_TRUE((*dataset)->Read(0, sample).ok());
  environment.Put({{"a", kJpeg + "other"}});
  const absl::Status read = (*dataset)->Read(0, sample);
  EXPECT_TRUE(absl::IsUnavailable(read));
  EXPECT_THAT(std::string(read.message()), HasSubstr("changed since it was indexed"));
}

// The samples' keys in the data file `bytes`, or the error.
std::string KeysOf(const std::string& bytes, const std::string& database = "") {
  MemoryStore store({{"data.mdb", {bytes.begin(), bytes.end()}}}, false);
  const ObjectInfo object = store.Object("data.mdb");
  const auto tree = LmdbTree::Open(store, object, database);
  if (!tree.ok()) return std::string(tree.status().message());
  std::string keys;
  const absl::Status walked = tree->Walk([&](const LmdbTree::Entry& entry) {
    EXPECT_LE(entry.offset + entry.size, bytes.size());
    absl::StrAppend(&keys, std::string(entry.key), " ");
    return true;
  });
  return walked.ok() ? keys : std::string(walked.message());
}

template <typename Number>
std::string With(std::string bytes, size_t offset, Number number) {
  std::memcpy(bytes.data() + offset, &number, sizeof number);
  return bytes;
}

uint64_t NumberAt(const std::string& bytes, size_t offset) {
  uint64_t number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

constexpr size_t kPage = 4096;

// Whichever header is the last one is not: a crash may leave it half written.
TEST(LmdbTest, AHeaderThatIsNotWholeLeavesTheTransactionBeforeIt) {
  const TemporaryFolder folder;
  Environment environment(folder.path());
  environment.Put({{"a", "1"}});
  environment.Put({{"b", "2"}});
  const std::string bytes = folder.Read("data.mdb");
  EXPECT_EQ(KeysOf(bytes), "a b ");
  const bool second_is_last = NumberAt(bytes, kPage + 144) > NumberAt(bytes, 144);
  const size_t last = second_is_last ? kPage : 0;
  EXPECT_EQ(KeysOf(With<uint64_t>(bytes, last + 144, 0)), "a ");  // as before it was written
  EXPECT_EQ(KeysOf(With<uint32_t>(bytes, kPage + 16, 0)), second_is_last ? "a " : "a b ");
}

TEST(LmdbTest, WhatNoHeaderTellsOfIsNotThere) {
  const TemporaryFolder folder;
  Environment(folder.path()).Put({{"a", "1"}});
  const std::string bytes = folder.Read("data.mdb");
  EXPECT_EQ(KeysOf(bytes + std::string(3 * kPage + 17, 'x')), "a ");
}

// A tree of one branch and some leaves, and where they are.
class DamagedLmdbTest : public testing::Test {
 protected:
  DamagedLmdbTest() {
    Entries entries;
    for (char key = 'a'; key < 'z'; ++key) entries[std::string(1, key)] = std::string(1000, key);
    entries["z"] = std::string(9000, 'z');
    Environment(folder_.path()).Put(entries);
    bytes_ = folder_.Read("data.mdb");
    meta_ = NumberAt(bytes_, kPage + 144) > NumberAt(bytes_, 144) ? kPage : 0;
    root_ = NumberAt(bytes_, meta_ + 128) * kPage;
    leaf_ = NodeAt(root_, 0, 0) * kPage;
  }

  // Returns the u16 of a node of a page.
  size_t PlaceOf(size_t page, int node, size_t within) const {
    uint16_t place;
    std::memcpy(&place, bytes_.data() + page + 16 + 2 * node, sizeof place);
    return page + place + within;
  }
  uint16_t NodeAt(size_t page, int node, size_t within) const {
    uint16_t number;
    std::memcpy(&number, bytes_.data() + PlaceOf(page, node, within), sizeof number);
    return number;
  }

  // Returns the error of the file with another number at `offset`.
  template <typename Number>
  std::string ErrorWith(size_t offset, Number number) const {
    return KeysOf(With(bytes_, offset, number));
  }

  const TemporaryFolder folder_;
  std::string bytes_;
  size_t meta_ = 0, root_ = 0, leaf_ = 0;
};

TEST_F(DamagedLmdbTest, TheFileIsGoodBefore) { EXPECT_THAT(KeysOf(bytes_), HasSubstr("a b c d ")); }

TEST_F(DamagedLmdbTest, PagesAreWhatPointsToThem) {
  EXPECT_THAT(ErrorWith<uint64_t>(leaf_, 99), HasSubstr("is another page"));
  EXPECT_THAT(ErrorWith<uint16_t>(leaf_ + 10, 4), HasSubstr("is no leaf of the tree"));
  EXPECT_THAT(ErrorWith<uint16_t>(root_ + 10, 2), HasSubstr("is no branch of the tree"));
  EXPECT_THAT(ErrorWith<uint64_t>(meta_ + 128, 1), HasSubstr("has a page 1"));
  EXPECT_THAT(ErrorWith<uint64_t>(meta_ + 128, uint64_t{1} << 60), HasSubstr("where the file has"));
  EXPECT_THAT(ErrorWith<uint16_t>(PlaceOf(root_, 0, 4), 0xffff), HasSubstr("where the file has"));
}

TEST_F(DamagedLmdbTest, NodesLieInTheirPage) {
  EXPECT_THAT(ErrorWith<uint16_t>(leaf_ + 12, 15), HasSubstr("its nodes do not lie in it"));
  EXPECT_THAT(ErrorWith<uint16_t>(leaf_ + 12, 17), HasSubstr("its nodes do not lie in it"));
  EXPECT_THAT(ErrorWith<uint16_t>(leaf_ + 12, 16), HasSubstr("is empty"));
  EXPECT_THAT(ErrorWith<uint16_t>(leaf_ + 14, kPage + 2), HasSubstr("its nodes do not lie in it"));
  EXPECT_THAT(ErrorWith<uint16_t>(leaf_ + 16, kPage - 4), HasSubstr("node 0 does not lie in it"));
  EXPECT_THAT(ErrorWith<uint16_t>(leaf_ + 16, 8), HasSubstr("node 0 does not lie in it"));
  EXPECT_THAT(ErrorWith<uint16_t>(PlaceOf(leaf_, 0, 6), 0xffff), HasSubstr("node 0 does not lie in it"));
  EXPECT_THAT(ErrorWith<uint16_t>(PlaceOf(leaf_, 0, 6), 0), HasSubstr("node 0 has no key"));
  EXPECT_THAT(ErrorWith<uint16_t>(PlaceOf(leaf_, 0, 4), 4), HasSubstr("node 0 has several values"));
  // The first node three times.
  std::string same = bytes_;
  for (int node : {1, 2}) std::memcpy(same.data() + leaf_ + 16 + 2 * node, bytes_.data() + leaf_ + 16, 2);
  const uint16_t key_bytes = 900;
  EXPECT_THAT(KeysOf(With(same, PlaceOf(leaf_, 0, 6), key_bytes)), HasSubstr("does not lie in it"));
}

TEST_F(DamagedLmdbTest, ATreeThatLeadsBackIsNone) {
  const auto root = static_cast<uint16_t>(root_ / kPage);
  EXPECT_THAT(ErrorWith<uint16_t>(PlaceOf(root_, 1, 0), root), HasSubstr("twice"));
  // Each of many levels would multiply the pages.
  std::string deep = With<uint16_t>(bytes_, meta_ + 94, 32);
  for (int node = 0; node < 5; ++node) deep = With(deep, PlaceOf(root_, node, 0), root);
  EXPECT_THAT(KeysOf(deep), HasSubstr("twice"));
  // The same leaf again and again.
  std::string same = bytes_;
  for (int node = 1; node < 5; ++node) same = With(same, PlaceOf(root_, node, 0), NodeAt(root_, 0, 0));
  EXPECT_THAT(KeysOf(same), HasSubstr("twice"));
}

TEST_F(DamagedLmdbTest, TheHeaderFitsTheTree) {
  EXPECT_THAT(ErrorWith<uint64_t>(meta_ + 120, 27), HasSubstr("has 26 entries, where its header tells of 27"));
  EXPECT_THAT(ErrorWith<uint16_t>(meta_ + 94, 1), HasSubstr("is no leaf of the tree"));
  EXPECT_THAT(ErrorWith<uint16_t>(meta_ + 94, 3), HasSubstr("is no branch of the tree"));
  EXPECT_THAT(ErrorWith<uint16_t>(meta_ + 94, 33), HasSubstr(meta_ == 0 ? "a tree of 33 levels" : ""));
  EXPECT_THAT(ErrorWith<uint32_t>(40, 4095), HasSubstr("pages of 4095 bytes"));
  EXPECT_THAT(ErrorWith<uint32_t>(40, 1 << 20), HasSubstr("pages of 1048576 bytes"));
}

TEST_F(DamagedLmdbTest, ValuesLieInTheFile) {
  const size_t end = bytes_.find("z", leaf_);  // the key of the value in overflow pages
  ASSERT_NE(end, bytes_.npos);
  size_t place = end;
  // The key stands behind its node's header, whose flags tell of overflow pages.
  while (!(bytes_[place - 4] == 1 && bytes_[place - 3] == 0 && bytes_[place - 2] == 1))
    place = bytes_.find("z", place + 1);
  EXPECT_THAT(ErrorWith<uint64_t>(place + 1, 1), HasSubstr("the value of 'z' does not lie in the file"));
  EXPECT_THAT(ErrorWith<uint64_t>(place + 1, ~uint64_t{}), HasSubstr("the value of 'z' does not lie in the file"));
  EXPECT_THAT(ErrorWith<uint32_t>(place - 8, 0xffffffff), HasSubstr("the value of 'z' does not lie in the file"));
}

TEST_F(DamagedLmdbTest, AFileThatIsCutGivesAnErrorAndNoRangeBeyondIt) {
  for (size_t size = 0; size < bytes_.size(); size += size < 200 ? 1 : 500) {
    const std::string keys = KeysOf(bytes_.substr(0, size));
    EXPECT_THAT(keys, HasSubstr("data.mdb: ")) << size;
  }
}

TEST_F(DamagedLmdbTest, OtherMachinesAndVersionsAreSaid) {
  EXPECT_THAT(ErrorWith<uint32_t>(20, 2), HasSubstr("is an LMDB file of version 2"));
  EXPECT_THAT(ErrorWith<uint32_t>(16, 0xdec0efbe), HasSubstr("big-endian machine; copy it by mdb_dump and mdb_load"));
  EXPECT_THAT(KeysOf(bytes_.substr(4)), HasSubstr("32-bit machine"));
  EXPECT_THAT(KeysOf(std::string(kPage, 'x')), HasSubstr("is no LMDB data file"));
}

TEST(LmdbTest, NamedDatabasesAreChosenByTheirName) {
  const TemporaryFolder folder;
  {
    Environment environment(folder.path());
    environment.Put({{"a.jpg", kJpeg + "1"}}, "images");
    environment.Put({{"k", "v"}, {"k2", "v"}}, "notes");
    environment.Put({}, "empty");
    environment.Put({{"k", "v"}}, "several", MDB_DUPSORT);
  }
  EXPECT_EQ(SamplesOf(ConfigOf(folder.path(), "", "images")), (Entries{{"a.jpg", kJpeg + "1"}}));
  EXPECT_EQ(OpenError(ConfigOf(folder.path())),
            "there are only named databases in it; set `database` to one of: empty, images, notes, several");
  EXPECT_EQ(OpenError(ConfigOf(folder.path(), "", "none")), "data.mdb: there is no named database 'none' in it");
  EXPECT_EQ(OpenError(ConfigOf(folder.path(), "", "empty")), "there is no sample in any LMDB file");
  EXPECT_THAT(OpenError(ConfigOf(folder.path(), "", "several")), HasSubstr("several values (MDB_DUPSORT)"));
}

TEST(LmdbTest, SaysWhyThereIsNoSample) {
  const TemporaryFolder folder;
  Environment environment(folder.path());
  EXPECT_EQ(OpenError(ConfigOf(folder.path())), "there is no sample in any LMDB file");
  environment.Put({{"__len__", "1"}, {"length", "1"}, {"num-samples", "1"}});
  EXPECT_EQ(OpenError(ConfigOf(folder.path())), "there is no sample in any LMDB file");
  environment.Put({{"a", "text"}});
  EXPECT_THAT(OpenError(ConfigOf(folder.path())), HasSubstr("data.mdb: the value of 'a' is no image file, and no"));
  EXPECT_THAT(OpenError(ConfigOf(folder.path(), "pickle")), HasSubstr("the value of 'a' is no pickle"));
  EXPECT_EQ(OpenError(ConfigOf(folder.path(), "caffe")),
            "layout: there is no 'caffe', but image, numbered, pickle, msgpack, datum");
}

TEST(LmdbTest, TheDataOptionFindsFoldersAndFiles) {
  const TemporaryFolder folder;
  folder.MakeFolder("a_lmdb");
  folder.MakeFolder("b_lmdb");
  Environment(folder.path("a_lmdb")).Put({{"1", kJpeg}});
  Environment(folder.path("b_lmdb")).Put({{"2", kJpeg}});
  folder.Write("c.lmdb", folder.Read("b_lmdb/data.mdb"));
  const std::pair<std::string, uint64_t> expected[] = {
      {folder.path("a_lmdb"), 1}, {folder.path("a_lmdb/data.mdb"), 1}, {folder.path("c.lmdb"), 1}, {folder.path(), 3}};
  for (const auto& [path, samples] : expected) {
    v1::DatasetConfig config;
    config.set_data(path);
    const auto found = FindFormat(config);
    ASSERT_TRUE(found.ok() && found->has_lmdb()) << path;
    const auto dataset = OpenShards(*found, {});
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    EXPECT_EQ((*dataset)->size(), samples) << path;
  }
  v1::DatasetConfig several = ConfigOf(folder.path("a_lmdb"));
  several.mutable_lmdb()->add_path(folder.path("b_lmdb"));
  EXPECT_EQ(SamplesOf(several), (Entries{{"1", kJpeg}, {"2", kJpeg}}));
}

TEST(LmdbTest, NumberedImagesLeaveLabelsOut) {
  const TemporaryFolder folder;
  Environment(folder.path())
      .Put({{"image-000000001", kJpeg + "1"},
            {"image-000000002", kJpeg + "2"},
            {"label-000000001", "one"},
            {"label-000000002", "two"},
            {"num-samples", "2"}});
  EXPECT_EQ(SamplesOf(ConfigOf(folder.path())),
            (Entries{{"image-000000001", kJpeg + "1"}, {"image-000000002", kJpeg + "2"}}));
  const auto dataset = OpenShards(ConfigOf(folder.path()), {});
  EXPECT_THAT((*dataset)->warnings(), ElementsAre(HasSubstr("label-… are left out")));
}

// Layout, database and mapping tell apart what is read from the same bytes.
TEST(LmdbTest, FingerprintsSayHowSamplesAreTaken) {
  const TemporaryFolder folder;
  {
    Environment environment(folder.path());
    environment.Put({{"image-1", kJpeg}});
  }
  const auto fingerprint_of = [&](const v1::DatasetConfig& config) { return (*OpenShards(config, {}))->fingerprint(); };
  const std::string numbered = fingerprint_of(ConfigOf(folder.path()));
  EXPECT_EQ(fingerprint_of(ConfigOf(folder.path(), "numbered")), numbered);
  EXPECT_NE(fingerprint_of(ConfigOf(folder.path(), "image")), numbered);
  v1::DatasetConfig renamed = ConfigOf(folder.path());
  (*renamed.mutable_lmdb()->mutable_fields())["photo"].set_from("image");
  EXPECT_NE(fingerprint_of(renamed), numbered);
}

TEST(LmdbTest, ValuesAreTextOrBytesWhereTheyAreAskedFor) {
  const TemporaryFolder folder;
  Environment environment(folder.path());
  environment.Put({{"a", "a cat"}, {"b", "\xff"}});
  v1::DatasetConfig config = ConfigOf(folder.path(), "image");
  v1::FieldFrom& from = (*config.mutable_lmdb()->mutable_fields())["words"];
  from.set_from("image");
  from.set_kind(v1::FIELD_KIND_BYTES);
  from.set_max_bytes("64");
  EXPECT_EQ(SamplesOf(config), (Entries{{"a", "a cat"}, {"b", "\xff"}}));
  from.set_kind(v1::FIELD_KIND_TEXT);
  const auto dataset = OpenShards(config, {});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  SampleBytes sample;
  EXPECT_TRUE((*dataset)->Read(0, sample).ok());
  EXPECT_THAT((*dataset)->Read(1, sample).message(), HasSubstr("b: its field words: is not UTF-8"));
}

}  // namespace
}  // namespace stoker
