#ifndef STOKER_SERVER_READ_STORED_STORED_DATASET_H_
#define STOKER_SERVER_READ_STORED_STORED_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/cached/cached_reads.h"
#include "server/read/dataset.h"
#include "server/read/formats/shard_format.h"
#include "server/read/index/shard_index.h"
#include "server/read/stores/store.h"

namespace stoker {

// What `stokerd prepare` did to images that are stored as pixels. A plain value.
struct PreparedImages {
  std::vector<v1::Op> ops;
  v1::Pipeline settings;  // the DecodeSettings
  std::string identity;   // of the ops and of the bytes that they made
};

// A dataset of shards: any format on any store. Immutable and thread-safe.
//
// Its fingerprint is ShardIndex::Fingerprint of the format's identity. So it is the same wherever the shards lie, and
// whether the index was made from the shards or came from elsewhere. Where ops were run on the images before, it is the
// SHA-256 of "stoker.prepared_shards.v1", that fingerprint, and PreparedImages::identity.
class StoredDataset final : public Dataset, private StoredSamples {
 public:
  struct Options {
    std::string name;       // the dataset's name, which errors of Read begin with
    std::string cache_dir;  // the folder that keeps its index; where this is empty, none is kept
    int threads = 16;       // threads that index shards
    // If set, it is called now and then with the number of samples found so far, by any thread, but by one at a time.
    std::function<void(uint64_t samples)> progress;
    std::shared_ptr<RawCache> cache = nullptr;  // keeps what is read from a store that is remote; null: nothing does
    // What was done to the images before, if anything was.
    std::optional<PreparedImages> prepared;
    // If set, it returns the index that lies beside the shards, or says why that cannot be used.
    std::function<absl::StatusOr<ShardIndex>(const ShardFormat&, const std::vector<ObjectInfo>&)> beside = nullptr;
  };

  // Opens the shards `objects` of `store`. The index is the one beside the shards, else it comes from the cache if that
  // still holds, or else from the shards. The fingerprint is the same by all ways.
  // Errors are those of the format and the store, and InvalidArgument where there is no sample.
  static absl::StatusOr<std::unique_ptr<StoredDataset>> Open(std::shared_ptr<Store> store,
                                                             std::vector<ObjectInfo> objects,
                                                             std::unique_ptr<ShardFormat> format,
                                                             const Options& options);

  uint64_t size() const override { return index_.size(); }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return sizeof(*this) + index_.resident_bytes(); }
  std::string description() const override;
  std::string SampleName(uint64_t id) const override;
  uint64_t StoredBytes(uint64_t id) const override { return index_.sizes[id]; }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;
  const StoredSamples* stored() const override { return store_->is_remote() ? this : nullptr; }

  // Returns lines that the operator should see, such as that the index cannot be kept.
  const std::vector<std::string>& warnings() const { return warnings_; }

  const ShardIndex& index() const { return index_; }

 private:
  StoredDataset(std::shared_ptr<Store> store, std::unique_ptr<ShardFormat> format, std::string name)
      : store_(std::move(store)), format_(std::move(format)), name_(std::move(name)) {}

  void TakeOver(const PreparedImages& prepared);
  absl::StatusOr<ShardIndex> FindIndex(std::vector<ObjectInfo> objects, const Options& options);

  // Returns what of a sample's range holds the parts of its `wanted` fields.
  StoredPart NeededOf(uint64_t id, FieldSet wanted) const;

  Store& StoreOf(uint64_t) const override { return *store_; }
  Place PlaceOf(uint64_t id, FieldSet wanted) const override;
  ObjectInfo ObjectAt(uint64_t object) const override { return index_.shards[object].object; }
  absl::Status Parse(uint64_t id, std::span<const uint8_t> stored, SampleBytes& sample) const override;
  absl::Status ReadError(uint64_t id, const absl::Status& status) const override;

  const std::shared_ptr<Store> store_;
  const std::unique_ptr<ShardFormat> format_;
  const std::string name_;

  // Open sets these; they are constant after it.
  SourceSchema schema_;  // the format's, and what was done to images before
  ShardIndex index_;
  std::string fingerprint_;
  std::vector<std::string> warnings_;
  std::optional<CachedReads> reads_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORED_STORED_DATASET_H_
