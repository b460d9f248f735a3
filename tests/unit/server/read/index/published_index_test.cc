#include "server/read/index/published_index.h"

#include <cstring>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/index/first_reads.h"
#include "tests/fuzz/memory_store.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PublishedIndex Example() {
  return {.source = "webdataset",
          .store = "s3://bucket/train",
          .names = {"a.tar", "b.tar"},
          .first_reads = {{{"a.tar", 2048, "etag"}, 512, "header"}},
          .body = "the format's own"};
}

TEST(PublishedIndexTest, HoldsWhatIsThere) {
  const auto parsed = ParsePublished(SerializePublished(Example()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->source, "webdataset");
  EXPECT_EQ(parsed->store, "s3://bucket/train");
  EXPECT_THAT(parsed->names, ElementsAre("a.tar", "b.tar"));
  ASSERT_EQ(parsed->first_reads.size(), 1);
  EXPECT_EQ(parsed->first_reads[0].object.version, "etag");
  EXPECT_EQ(parsed->first_reads[0].offset, 512);
  EXPECT_EQ(parsed->first_reads[0].bytes, "header");
  EXPECT_EQ(parsed->body, "the format's own");
}

TEST(PublishedIndexTest, DamageIsFound) {
  const std::string bytes = SerializePublished(Example());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 1;
    EXPECT_TRUE(absl::IsDataLoss(ParsePublished(damaged).status())) << i;
    EXPECT_TRUE(absl::IsDataLoss(ParsePublished(bytes.substr(0, i)).status())) << i;
  }
}

TEST(PublishedIndexTest, AFileThatIsNoneIsNotReadToItsEnd) {
  MemoryStore store({{kPublishedIndex, std::vector<uint8_t>(64, 'x')}}, true);
  EXPECT_TRUE(absl::IsDataLoss(ReadPublished(store, store.Object(kPublishedIndex)).status()));
  // These would not fit memory, if anybody tried.
  EXPECT_TRUE(absl::IsDataLoss(ReadPublished(store, {kPublishedIndex, uint64_t{1} << 62, ""}).status()));
}

TEST(PublishedIndexTest, AnObjectThatChangedIsNamed) {
  const ObjectInfo then = {"a.tar", 100, "10.000000005"};
  const auto check = [&](uint64_t size, const std::string& version, const IndexPlace& place) {
    return std::string(CheckUnchanged(then, {"a.tar", size, version}, place).message());
  };
  const std::string index = "20.000000007";
  const IndexPlace same = {.is_same_store = true}, other = {}, same_disk = {true, true, index},
                   copy = {false, true, index};
  EXPECT_THAT(check(101, then.version, same), HasSubstr("a.tar: had 100 bytes when it was indexed, and has 101 now"));
  EXPECT_THAT(check(101, then.version, other), HasSubstr("a.tar: had 100 bytes"));
  EXPECT_EQ(check(100, then.version, same), "");
  EXPECT_THAT(check(100, "10.000000006", same), HasSubstr("its version tells"));
  EXPECT_THAT(check(100, "10.000000006", same_disk), HasSubstr("its time tells"));
  EXPECT_EQ(check(100, "10.000000000", same_disk), "") << "some file systems forget a fraction";
  EXPECT_EQ(check(100, "\"etag\"", other), "") << "a copy in another bucket has another ETag";
  EXPECT_EQ(check(100, "", same), "") << "a store that has no versions";
  EXPECT_EQ(check(100, "20.000000006", copy), "") << "a copy that is older than the index, which came with it";
  for (const char* version : {"20.000000007", "20.000000008", "21.000000000", "never", "never.1"})
    EXPECT_THAT(check(100, version, copy), HasSubstr("rsync -a"));
}

TEST(PublishedIndexTest, WhatAFormatReadFirstIsReadFromTheIndexLater) {
  const auto objects = MemoryStore::Objects{{"a.tar", {1, 2, 3, 4}}};
  const ObjectInfo object = {"a.tar", 4, ""};
  RecordingStore recording(std::make_shared<MemoryStore>(objects, true));
  std::vector<uint8_t> into(2);
  ASSERT_TRUE(ReadNow(recording, {&object, 1, into}).ok());
  const auto reads = recording.reads();
  ASSERT_EQ(reads.size(), 1);
  // The store behind it has other bytes now, and tells so where it is asked.
  const auto changed = std::make_shared<MemoryStore>(MemoryStore::Objects{{"a.tar", {9, 9, 9, 9}}}, true);
  ReplayingStore replaying(changed, reads, {});
  const auto read = [&](const ObjectInfo& of, uint64_t offset) {
    EXPECT_TRUE(ReadNow(replaying, {&of, offset, into}).ok());
    return into;
  };
  EXPECT_THAT(read(object, 1), ElementsAre(2, 3));
  EXPECT_THAT(read(object, 0), ElementsAre(9, 9)) << "another range";
  EXPECT_THAT(read({"a.tar", 5, ""}, 1), ElementsAre(9, 9)) << "another object";
  replaying.Forget();
  EXPECT_THAT(read(object, 1), ElementsAre(9, 9));
}

TEST(PublishedIndexTest, MoreThanAFewMegabytesAreNotRemembered) {
  const std::vector<uint8_t> bytes(kMostFirstBytes, 7);
  const ObjectInfo object = {"a.tar", bytes.size(), ""};
  RecordingStore recording(std::make_shared<MemoryStore>(MemoryStore::Objects{{"a.tar", bytes}}, true));
  std::vector<uint8_t> into(bytes.size() - 1);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(ReadNow(recording, {&object, 0, into}).ok());
  EXPECT_EQ(recording.reads().size(), 1);
}

}  // namespace
}  // namespace stoker
