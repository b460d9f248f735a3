#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_DATASET_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/dataset.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/parquet/parquet_reader.h"
#include "server/read/formats/parquet/row_group_cache.h"
#include "server/read/stores/store.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Parquet files, each row of which is a sample: see Parquet in config.proto. Immutable but for its cache, and
// thread-safe.
//
// A file's footer says where the columns of its row groups lie, so it is the index, and none is kept. A sample is read
// by decoding its row group: those that were used last stay in memory, up to `cache`. The files are taken apart by
// other processes: see ParquetReader. Where one crashes, the samples of that row group are bad.
//
// The fingerprint is the SHA-256 of
//   "stoker.parquet.v1"
//   length of the field mapping's text, that text: the fields' names, types and columns
//   number of shards
//   for each shard, in the bytewise order of their names: length of its name, its name, its size in bytes, number of
//   its
//     row groups that have rows, and of each of them the number of its rows
// where numbers are 8 bytes, little-endian.
class ParquetDataset final : public Dataset {
 public:
  struct Options {
    std::string name;  // the dataset's name, which errors of Read begin with
    int threads = 16;  // threads that read footers
    // If set, it is called now and then with the number of samples found so far, by any thread, but by one at a time.
    std::function<void(uint64_t samples)> progress = nullptr;
    std::string program = ParquetReader::DefaultProgram();  // that takes files apart
  };

  // Opens the files `shards` of `store`, which are in the bytewise order of their names. DataLoss for a file that is
  // damaged or has other columns than the first; InvalidArgument for a wrong mapping, row groups too large to decode,
  // or where there is no row; FailedPrecondition where this build cannot read Parquet.
  static absl::StatusOr<std::unique_ptr<ParquetDataset>> Open(const v1::Parquet& config, std::shared_ptr<Store> store,
                                                              std::vector<ObjectInfo> shards, const Options& options);

  uint64_t size() const override { return groups_.back().end; }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override;
  std::string description() const override;
  std::string SampleName(uint64_t id) const override;
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;

  // Returns lines that the operator should see, such as that most of the dataset does not fit the cache.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  // A row group that has rows.
  struct Group {
    StoredRowGroup stored;
    uint64_t number = 0;     // in its shard
    uint64_t begin = 0;      // the id of its first sample
    uint64_t end = 0;        // one past the id of its last
    uint64_t shard_row = 0;  // its first row's number in the shard
    uint64_t bytes = 0;      // that decoding it and its values take in memory, about
  };

  ParquetDataset(std::shared_ptr<Store> store, std::vector<ObjectInfo> shards, const Options& options);

  absl::Status Learn(const v1::Parquet& config);
  absl::Status ReadFooters(const Options& options);
  absl::StatusOr<std::vector<Group>> GroupsOf(const ParquetFooter& footer, const ObjectInfo& shard) const;
  absl::Status SizeCache(const std::string& cache);
  std::string Fingerprint() const;
  std::string NameOf(uint64_t id) const;
  const Group& GroupOf(uint64_t id) const;
  absl::Status TakeField(const RowGroup& group, size_t field, uint64_t row, std::vector<uint8_t>& bytes) const;

  const std::shared_ptr<Store> store_;
  const std::vector<ObjectInfo> shards_;
  const std::string name_;
  const std::unique_ptr<ParquetReader> reader_;

  // Open sets these; they are constant after it.
  FieldMapping mapping_;
  SourceSchema schema_;
  std::vector<ParquetColumn> columns_;  // of each field
  std::vector<Group> groups_;
  std::string fingerprint_;
  std::vector<std::string> warnings_;
  uint64_t cache_bytes_ = 0;
  std::unique_ptr<RowGroupCache> cache_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_DATASET_H_
