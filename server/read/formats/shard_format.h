#ifndef STOKER_SERVER_READ_FORMATS_SHARD_FORMAT_H_
#define STOKER_SERVER_READ_FORMATS_SHARD_FORMAT_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/fields/schema.h"
#include "server/read/dataset.h"
#include "server/read/index/shard_index.h"
#include "server/read/stores/store.h"

namespace stoker {

// How samples are stored in shards: where each one is, and how its bytes become fields. A format knows no store.
//
// Immutable, hence thread-safe. Shards are anybody's bytes: an error says what is wrong with them and where, and no
// shard makes a format read beyond it or allocate more than a small multiple of what it has.
class ShardFormat {
 public:
  virtual ~ShardFormat() = default;

  // Says in one line for people what it is: "tar shards (WebDataset)".
  virtual std::string description() const = 0;

  // Returns what tells apart how samples are taken from the same bytes: the format's name, the version of its meaning,
  // and where each field is from. It is part of the dataset's fingerprint.
  virtual std::string identity() const = 0;

  // Returns the fields of each sample.
  virtual const SourceSchema& schema() const = 0;

  // Returns the number of places that the index keeps of each sample, beside its range.
  virtual int parts() const = 0;

  // Returns by which of these places `field` is made.
  virtual int PartOf(size_t /*field*/) const { return 0; }

  // Returns lines that the operator should see, such as what of each sample is left out.
  virtual std::vector<std::string> warnings() const { return {}; }

  // Finds the samples of one shard, in the order in which they lie there. DataLoss for a shard that does not parse; the
  // store's errors for what cannot be read. Messages name the shard.
  virtual absl::StatusOr<ShardIndex::Rows> Index(Store& store, const ObjectInfo& shard) const = 0;

  // Replaces the fields of `sample` that it wants by those that `stored` holds at `parts`: a sample's range, or what of
  // it has the parts that they are made by. DataLoss where it does not. Messages do not name the sample.
  virtual absl::Status Parse(std::span<const uint8_t> stored, std::span<const StoredPart> parts,
                             SampleBytes& sample) const = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_SHARD_FORMAT_H_
