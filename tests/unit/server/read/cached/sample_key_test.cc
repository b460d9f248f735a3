#include "server/read/cached/sample_key.h"

#include <set>

#include "gtest/gtest.h"

namespace stoker {
namespace {

class RootedStore final : public Store {
 public:
  explicit RootedStore(std::string root) : root_(std::move(root)) {}
  std::string description() const override { return root_; }
  bool is_remote() const override { return true; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing&) override { return absl::UnimplementedError(""); }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>&) override {
    return absl::UnimplementedError("");
  }
  void Read(const Range&, Done done) override { done(absl::UnimplementedError("")); }

 private:
  const std::string root_;
};

TEST(SampleKeyTest, WhateverTheBytesDependOnGivesAnotherKey) {
  const RootedStore store("s3://bucket/train"), other("s3://other/train");
  const ObjectInfo object{"a.tar", 100, "1"}, changed{"a.tar", 100, "2"}, renamed{"b.tar", 100, "1"};
  const std::set<SampleKey> keys = {*KeyOf(store, object, 0, 10),  *KeyOf(other, object, 0, 10),
                                    *KeyOf(store, changed, 0, 10), *KeyOf(store, renamed, 0, 10),
                                    *KeyOf(store, object, 1, 10),  *KeyOf(store, object, 0, 11)};
  EXPECT_EQ(keys.size(), 6);
}

TEST(SampleKeyTest, DatasetsOverOneObjectShareItWhateverTheirRoots) {
  const RootedStore bucket("s3://bucket"), folder("s3://bucket/train");
  EXPECT_EQ(KeyOf(bucket, {"train/a.tar", 100, "1"}, 5, 10), KeyOf(folder, {"a.tar", 100, "1"}, 5, 10));
}

TEST(SampleKeyTest, NamesAndVersionsDoNotRunIntoEachOther) {
  const RootedStore store("s3://bucket");
  EXPECT_NE(KeyOf(store, {"a", 100, "bc"}, 5, 10), KeyOf(store, {"ab", 100, "c"}, 5, 10));
}

TEST(SampleKeyTest, AnObjectWithoutAVersionHasNoKey) {
  EXPECT_EQ(KeyOf(RootedStore("https://host"), {"a", 100, ""}, 0, 10), std::nullopt);
}

}  // namespace
}  // namespace stoker
