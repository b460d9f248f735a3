#ifndef STOKER_SERVER_PREPARE_SHARD_BUILDER_H_
#define STOKER_SERVER_PREPARE_SHARD_BUILDER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/prepare/shard_columns.h"

namespace stoker {

// A sample as shards hold it. It refers to its bytes.
struct ShardSample {
  std::string_view key;                          // of tar shards: a path whose base name has no dot, and no NUL in it
  std::vector<std::span<const uint8_t>> values;  // of each column, in their order; elements are little-endian
};

// A shard that was written. A plain value.
struct WrittenShard {
  std::string name;
  uint64_t samples = 0;
  uint64_t bytes = 0;
  std::string digest;  // a SHA-256 of its bytes
};

// Puts samples together to one shard after another, in memory. The bytes depend on the samples alone. One thread at a
// time.
class ShardBuilder {
 public:
  virtual ~ShardBuilder() = default;

  // Returns the file name of shard number `number`. In bytewise order names are in the order of numbers.
  virtual std::string NameOf(uint64_t number) const = 0;

  // Whether `name` is one that NameOf returns.
  virtual bool IsName(std::string_view name) const = 0;

  // Returns the bytes that the shard has with `sample`.
  virtual uint64_t BytesWith(const ShardSample& sample) const = 0;

  // Requires that BytesWith(sample) is at most kMostShardBytes.
  virtual void Add(const ShardSample& sample) = 0;

  // Returns the number of samples in the shard.
  virtual uint64_t samples() const = 0;

  // Returns the shard, and begins the next one.
  virtual std::string Finish() = 0;

  // Returns the file that lists all shards, and its name; both are empty for a format without one.
  virtual std::string ListName() const { return ""; }
  virtual std::string ListOf(const std::vector<WrittenShard>& shards) const { return ""; }
};

inline constexpr uint64_t kMostShardBytes = (uint64_t{1} << 32) - 1;  // what MDS can count

// Tar shards as WebDataset has them, called shard-000000.tar: of each sample the members that `columns` say, KEY.jpg
// and KEY.cls for instance. An image is called .jpg whatever its format: readers tell it by the first bytes. The shards
// are ustar archives (POSIX.1-1988), with extended headers (POSIX.1-2001, "pax") for names that ustar cannot hold.
// Times, owners and modes are constants.
std::unique_ptr<ShardBuilder> CreateTarBuilder(std::vector<ShardColumn> columns);

// MDS shards, version 2, called shard.00000.mds, with `columns`, and index.json. `shard_bytes` stands in it.
//   u32 samples N, (N + 1) × u32 where each sample begins and the last one ends, the columns in JSON, and each sample:
//   u32 bytes of each value that has its own size, and the values
std::unique_ptr<ShardBuilder> CreateMdsBuilder(std::vector<ShardColumn> columns, uint64_t shard_bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_SHARD_BUILDER_H_
