#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_DATASET_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_DATASET_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/read/dataset.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/parquet/parquet_reader.h"
#include "server/read/formats/parquet/parquet_table.h"
#include "server/read/formats/parquet/row_group_loader.h"
#include "server/read/rows/row_group_cache.h"
#include "server/read/stores/store.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Parquet files, each row of which is a sample: see Parquet in config.proto. Immutable but for its cache, and
// thread-safe.
//
// A file's footer says where the columns of its row groups lie. What all footers say, and what the first row group
// shows of the columns, is the index (ParquetTable). It lies beside the shards, or is kept in `cache_dir`. A sample is
// read by decoding its row group: those that were used last stay in memory, up to `cache`. The files are taken apart by
// other processes: see ParquetReader. Where one crashes, the samples of that row group are bad.
//
// In a store that is remote, the row groups of samples that are read ahead are loaded into the cache, and decoded, and
// stay there until the samples are made, as far as there is room (RowGroupCache). To those who read ahead a row group
// is an object without bytes, and to read it is to load it.
//
// Only those columns of a row group are read and decoded that are wanted. Each choice of columns has an entry of its
// own in the cache.
//
// The fingerprint is the SHA-256 of
//   "stoker.parquet.v1"
//   length of the field mapping's text, that text: the fields' names, types and columns
//   number of shards
//   for each shard, in the bytewise order of their names: length of its name, its name, its size in bytes, number of
//     its row groups that have rows, and of each of them the number of its rows
// where numbers are 8 bytes, little-endian.
class ParquetDataset final : public Dataset, private StoredSamples {
 public:
  struct Options {
    std::string name;       // the dataset's name, which errors of Read begin with
    std::string cache_dir;  // the folder that keeps its index; where this is empty, none is kept
    int threads = 16;       // threads that read footers
    // If set, it is called now and then with the number of samples found so far, by any thread, but by one at a time.
    std::function<void(uint64_t samples)> progress = nullptr;
    std::string program = ParquetReader::DefaultProgram();  // that takes files apart

    // If set, it returns the index that lies beside the shards, or says why that cannot be used.
    std::function<absl::StatusOr<ParquetTable>()> beside = nullptr;
  };

  // Makes the index of the files `shards` of `store`, which are in the bytewise order of their names. Once `stop`, if
  // given, is true, it is Cancelled. Errors are those of Open. `files`, if set, is called as progress is, with the
  // number of files that were read too.
  static absl::StatusOr<ParquetTable> MakeTable(const v1::Parquet& config, Store& store,
                                                const std::vector<ObjectInfo>& shards, const Options& options,
                                                const std::function<void(uint64_t samples, uint64_t files)>& files,
                                                const std::atomic<bool>* stop);

  // Opens the files `shards` of `store`, which are in the bytewise order of their names. DataLoss for a file that is
  // damaged or has other columns than the first; InvalidArgument for a wrong mapping, row groups too large to decode,
  // or where there is no row; FailedPrecondition where this build cannot read Parquet.
  static absl::StatusOr<std::unique_ptr<ParquetDataset>> Open(const v1::Parquet& config, std::shared_ptr<Store> store,
                                                              std::vector<ObjectInfo> shards, const Options& options);

  ~ParquetDataset() override;

  uint64_t size() const override { return groups_.back().end; }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override;
  std::string description() const override;
  std::string SampleName(uint64_t id) const override;
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;
  const StoredSamples* stored() const override { return store_->is_remote() ? this : nullptr; }

  // Returns lines that the operator should see, such as that most of the dataset does not fit the cache.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  class RowGroups;

  // A row group that has rows.
  struct Group {
    StoredRowGroup stored;
    uint64_t number = 0;     // in its shard
    uint64_t begin = 0;      // the id of its first sample
    uint64_t end = 0;        // one past the id of its last
    uint64_t shard_row = 0;  // its first row's number in the shard
    RowGroupCache::Size size;
  };

  ParquetDataset(std::shared_ptr<Store> store, std::vector<ObjectInfo> shards, const Options& options);

  absl::StatusOr<ParquetTable> FindTable(const v1::Parquet& config, const Options& options);
  absl::Status TakeFields(const v1::Parquet& config, const ParquetTable& table);
  absl::Status TakeGroups(const ParquetTable& table);
  absl::StatusOr<std::vector<Group>> GroupsOf(const ParquetFooter& footer, const ObjectInfo& shard) const;
  absl::Status SizeCache(const std::string& cache);
  std::string Fingerprint() const;
  std::string NameOf(uint64_t id) const;
  const Group& GroupOf(uint64_t id) const;

  // Fields that somebody wanted, whose columns are decoded together.
  struct Choice {
    FieldSet wanted = FieldSet::All();
    uint64_t number = 0;
    std::vector<size_t> fields;  // in the schema's order
  };

  // Returns the choice of `wanted`, or of all fields where there are many choices already. It lives as long as this.
  const Choice& ChoiceOf(FieldSet wanted) const;

  // Returns the places of the fields of `wanted`, in order.
  std::vector<size_t> FieldsOf(FieldSet wanted) const;

  // What the cache keeps under a number of its own: a row group, as far as a choice wants it.
  struct Part {
    const Group& group;
    const Choice& choice;
  };
  uint64_t NumberOf(const Part& part) const;
  Part PartAt(uint64_t number) const;
  RowGroupCache::Size SizeOf(const Part& part) const;
  absl::StatusOr<std::unique_ptr<const RowGroup>> Decode(const Part& part) const;

  // Has a part loaded into the cache, until EndRead. `done` is called when nothing is to be waited for any more.
  void LoadAhead(const Part& part, std::function<void()> done) const;

  Place PlaceOf(uint64_t id, FieldSet wanted) const override;
  Store& StoreOf(uint64_t object) const override;
  ObjectInfo ObjectAt(uint64_t object) const override;
  void EndRead(uint64_t object) const override;
  absl::Status Parse(uint64_t id, std::span<const uint8_t>, SampleBytes& sample) const override {
    return Read(id, sample);
  }
  absl::Status ReadError(uint64_t, const absl::Status& status) const override { return status; }

  const std::shared_ptr<Store> store_;
  const std::vector<ObjectInfo> shards_;
  const std::string name_;
  const std::unique_ptr<ParquetReader> reader_;

  // Open sets these; they are constant after it.
  FieldMapping mapping_;
  SourceSchema schema_;
  std::vector<ParquetColumn> columns_;         // of each field
  std::vector<DecodeRequest::Wanted> wanted_;  // of each field, without the column's place in a file
  std::vector<Group> groups_;
  std::string fingerprint_;
  std::vector<std::string> warnings_;
  uint64_t cache_bytes_ = 0;
  mutable absl::Mutex mutex_;
  mutable std::deque<Choice> choices_ ABSL_GUARDED_BY(mutex_);  // by number; the first is that of all fields
  std::unique_ptr<RowGroupCache> cache_;
  const std::unique_ptr<RowGroups> row_groups_;
  const std::unique_ptr<RowGroupLoader> loader_;  // ends first, since its threads use the others
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_DATASET_H_
