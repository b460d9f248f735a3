#include "server/read/formats/hdf5/global_heap.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/read/binary.h"
#include "tests/fuzz/memory_store.h"

namespace stoker {
namespace {

constexpr uint64_t kCollection = 100;

struct Object {
  uint16_t number;
  std::string value;
};

// Returns a file with one collection at kCollection, of whose objects the last may claim another size.
std::vector<uint8_t> FileWith(const std::vector<Object>& objects, uint64_t last_size = ~uint64_t{0}) {
  BinaryWriter objects_writer;
  for (const Object& object : objects) {
    const bool is_last = &object == &objects.back();
    objects_writer.Put<uint16_t>(object.number);
    objects_writer.bytes.append(6, '\0');
    objects_writer.Put<uint64_t>(is_last && last_size != ~uint64_t{0} ? last_size : object.value.size());
    objects_writer.bytes += object.value;
    objects_writer.bytes.append((8 - object.value.size() % 8) % 8, '\0');
  }
  BinaryWriter file;
  file.bytes = std::string(kCollection, 'x') + "GCOL" + std::string("\1\0\0\0", 4);
  file.Put<uint64_t>(16 + objects_writer.bytes.size());
  file.bytes += objects_writer.bytes;
  return {file.bytes.begin(), file.bytes.end()};
}

// Returns what a reference to `object` of `size` bytes gets, or the error.
std::string Got(const std::vector<uint8_t>& file, uint32_t object, uint32_t size, uint64_t collection = kCollection) {
  MemoryStore store({{"f.h5", file}}, false);
  const ObjectInfo info = store.Object("f.h5");
  std::vector<uint8_t> bytes;
  const absl::Status read =
      ReadHeapObject(store, info, {.size = size, .collection = collection, .object = object}, bytes);
  EXPECT_TRUE(read.ok() || absl::IsDataLoss(read)) << read;
  return read.ok() ? std::string(bytes.begin(), bytes.end()) : std::string(read.message());
}

TEST(GlobalHeapTest, FindsTheObjectsOfACollection) {
  const std::string large(10000, 'b');
  const std::vector<uint8_t> file = FileWith({{1, "cat"}, {7, large}, {2, "horse"}, {9, std::string(4096, 'c')}});
  EXPECT_EQ(Got(file, 1, 3), "cat");
  EXPECT_EQ(Got(file, 7, 10000), large);
  EXPECT_EQ(Got(file, 2, 5), "horse");
  EXPECT_EQ(Got(file, 9, 4096), std::string(4096, 'c'));
}

TEST(GlobalHeapTest, WhatIsNotThereIsDataLoss) {
  const std::string none = "refers to a value that its file has not";
  const std::vector<uint8_t> file = FileWith({{1, "cat"}, {0, "        "}, {3, "after the space"}});
  EXPECT_EQ(Got(file, 2, 3), none);
  EXPECT_EQ(Got(file, 0, 8), none);
  EXPECT_EQ(Got(file, 3, 15), none);
  EXPECT_EQ(Got(file, 1, 4), none);
  EXPECT_EQ(Got(file, 1, 3, kCollection + 1), none);
  EXPECT_EQ(Got(file, 1, 3, ~uint64_t{0}), none);
  EXPECT_EQ(Got(file, 1, 3, file.size() - 15), none);
  EXPECT_EQ(Got({}, 1, 3, 0), none);
}

TEST(GlobalHeapTest, SizesThatCannotBeAreDataLoss) {
  const std::string none = "refers to a value that its file has not";
  for (const uint64_t size : {uint64_t{9}, uint64_t{1} << 40, ~uint64_t{0} - 1, ~uint64_t{7}}) {
    EXPECT_EQ(Got(FileWith({{1, "cat"}, {2, "dog"}}, size), 2, static_cast<uint32_t>(size)), none) << size;
    EXPECT_EQ(Got(FileWith({{1, "cat"}, {2, "dog"}}, size), 3, 3), none) << size;
    EXPECT_EQ(Got(FileWith({{1, "cat"}, {2, "dog"}}, size), 1, 3), "cat") << size;
  }
  std::vector<uint8_t> cut = FileWith({{1, "cat"}});
  cut.pop_back();
  EXPECT_EQ(Got(cut, 1, 3), none);
  std::vector<uint8_t> other = FileWith({{1, "cat"}});
  other[kCollection + 4] = 2;  // the version
  EXPECT_EQ(Got(other, 1, 3), none);
}

TEST(GlobalHeapTest, NoMoreObjectsAreLookedAtThanACollectionMayHave) {
  std::vector<Object> objects(65'534, Object{1, ""});
  objects.push_back({2, "cat"});
  EXPECT_EQ(Got(FileWith(objects), 2, 3), "cat");
  objects.insert(objects.begin(), {1, ""});
  EXPECT_EQ(Got(FileWith(objects), 2, 3), "refers to a value that its file has not");
  EXPECT_EQ(Got(FileWith({{1, "cat"}}), 65'537, 3), "refers to a value that its file has not");
}

TEST(GlobalHeapTest, ReferencesAreParsed) {
  BinaryWriter writer;
  writer.Put<uint32_t>(5);
  writer.Put<uint64_t>(uint64_t{1} << 40);
  writer.Put<uint32_t>(70000);
  ASSERT_EQ(writer.bytes.size(), kReferenceBytes);
  std::array<uint8_t, kReferenceBytes> bytes;
  std::copy(writer.bytes.begin(), writer.bytes.end(), bytes.begin());
  const HeapReference reference = ParseHeapReference(bytes);
  EXPECT_EQ(reference.size, 5);
  EXPECT_EQ(reference.collection, uint64_t{1} << 40);
  EXPECT_EQ(reference.object, 70000);
}

}  // namespace
}  // namespace stoker
