#ifndef STOKER_SERVER_READ_INDEX_SHARD_INDEX_H_
#define STOKER_SERVER_READ_INDEX_SHARD_INDEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/read/stores/store.h"

namespace stoker {

// Where in its shard a sample is stored: one range, which has all parts of it that are wanted.
struct StoredRange {
  uint64_t offset = 0;
  uint32_t size = 0;
};

// Where in its sample's range a part is stored.
struct StoredPart {
  uint32_t offset = 0;  // from the range's
  uint32_t size = 0;
};

// Where the samples of a sharded dataset are stored. Shards are in the bytewise order of their names, and a shard's
// samples in the order in which they lie there; a sample's id is its place in all. A value type.
//
// A sample takes 12 bytes of memory, 8 for each part, and where samples have names these and 8 bytes.
struct ShardIndex {
  struct Shard {
    ObjectInfo object;
    uint64_t end = 0;  // one past the id of its last sample
  };

  // The samples of one shard, as they are found.
  struct Rows {
    explicit Rows(int parts_of_each) : parts(parts_of_each) {}

    // Requires as many `sample_parts` as `parts`; one that is missing has no bytes.
    void Add(std::string_view name, const StoredRange& range, const std::vector<StoredPart>& sample_parts);
    uint64_t size() const { return ranges.size(); }

    const int parts;
    std::vector<StoredRange> ranges;
    std::vector<StoredPart> stored_parts;
    std::string names;  // one after another; none where samples are counted
    std::vector<uint64_t> name_ends;
  };

  // Returns the number of samples.
  uint64_t size() const { return offsets.size(); }

  // Appends a shard, which must come after those that are there, with its samples.
  void Append(ObjectInfo object, const Rows& rows);

  // Returns the place in `shards` of the shard that has sample `id`.
  size_t ShardOf(uint64_t id) const;

  StoredRange RangeOf(uint64_t id) const { return {offsets[id], sizes[id]}; }
  StoredPart PartOf(uint64_t id, int part) const { return stored_parts[id * parts + part]; }

  // Returns the sample's own name, or its shard's and its number in it where samples have none: "a.tfrecord:17".
  std::string NameOf(uint64_t id) const;

  // Returns the SHA-256 of
  //   "stoker.shards.v1"
  //   length of `format`, `format`: what says how samples are taken from their bytes, the field mapping included
  //   number of shards, number of parts
  //   for each shard: length of its name, its name, its size in bytes, one past the id of its last sample
  //   for each sample: length of its name or 0, its name, offset and size of its range; offset and size of each part
  // where numbers are 8 bytes, little-endian.
  std::string Fingerprint(std::string_view format) const;

  // Returns whether all holds that the other functions rely on, as it does unless a file has made the index: ends
  // ascend, ranges lie in their shards and parts in their ranges.
  bool IsConsistent() const;

  // Returns the bytes of memory that the index holds.
  uint64_t resident_bytes() const;

  int parts = 0;  // that each sample has
  std::vector<Shard> shards;
  std::vector<uint64_t> offsets;         // of each sample's range
  std::vector<uint32_t> sizes;           // of each sample's range
  std::vector<StoredPart> stored_parts;  // `parts` of each sample
  std::string names;                     // of all samples, one after another; none where they are counted
  std::vector<uint64_t> name_ends;       // where each sample's name ends
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_INDEX_SHARD_INDEX_H_
