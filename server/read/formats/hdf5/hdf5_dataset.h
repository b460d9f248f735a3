#ifndef STOKER_SERVER_READ_FORMATS_HDF5_HDF5_DATASET_H_
#define STOKER_SERVER_READ_FORMATS_HDF5_HDF5_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/dataset.h"
#include "server/read/formats/hdf5/hdf5_reader.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/rows/row_group_cache.h"
#include "server/read/stores/store.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// HDF5 files, whose datasets have a row for each sample: see Hdf5 in config.proto. Immutable but for its cache, and
// thread-safe.
//
// What a file has is asked of it when it is opened, and no index is kept. Other processes tell it: see Hdf5Reader.
// Values that lie in the file as they are, the server reads itself. Of the others these processes decode a row, or the
// rows of a compressed chunk, of which the ones that were used last stay in memory, up to `cache`. Where a process
// crashes, the samples that it was asked for are bad.
//
// The fingerprint is the SHA-256 of
//   "stoker.hdf5.v1"
//   length of the field mapping's text, that text: the fields' names, types and datasets
//   number of shards
//   for each shard, in the bytewise order of their names: length of its name, its name, its size in bytes, its rows
// where numbers are 8 bytes, little-endian.
class Hdf5Dataset final : public Dataset {
 public:
  struct Options {
    std::string name;  // the dataset's name, which errors of Read begin with
    int threads = 16;  // threads that ask what files have
    // If set, it is called now and then with the number of samples found so far, by any thread, but by one at a time.
    std::function<void(uint64_t samples)> progress = nullptr;
    std::string program = Hdf5Reader::DefaultProgram();  // that takes files apart
    absl::Duration cpu_time = Hdf5Reader::kCpuTime;      // that it may take for a request
  };

  // Opens the files `shards` of `store`, which are in the bytewise order of their names. DataLoss for a file that is
  // damaged or has other datasets than the first; InvalidArgument for a wrong mapping, or where there is no row;
  // FailedPrecondition where this build cannot read HDF5.
  static absl::StatusOr<std::unique_ptr<Hdf5Dataset>> Open(const v1::Hdf5& config, std::shared_ptr<Store> store,
                                                           std::vector<ObjectInfo> shards, const Options& options);

  uint64_t size() const override { return files_.back().end; }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override;
  std::string description() const override;
  std::string SampleName(uint64_t id) const override;
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;

  // Returns lines that the operator should see, such as that most of the dataset does not fit the cache.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  // Rows of one field that are decoded together.
  struct Blocks {
    uint64_t rows = 0;   // of each but the last; 0: rows of the field are read one by one
    uint64_t first = 0;  // the number that the first one has in the cache
  };
  struct File {
    uint64_t begin = 0;              // the id of its first sample
    uint64_t end = 0;                // one past the id of its last
    std::vector<Blocks> blocks;      // of each field
    std::vector<Hdf5Places> places;  // of each field: where its rows lie, if they lie there as they are
    std::vector<size_t> singles;     // the fields whose rows are decoded one by one
  };

  Hdf5Dataset(std::shared_ptr<Store> store, std::vector<ObjectInfo> shards, const Options& options);

  absl::Status Learn(const v1::Hdf5& config);
  absl::StatusOr<SourceField> LearnField(const Hdf5Reader::File& file, const Hdf5Column& column) const;
  absl::Status LookIntoFiles(const Options& options);
  absl::StatusOr<File> FileOf(const std::vector<Hdf5Column>& columns, const ObjectInfo& shard) const;
  absl::Status SizeCache(const std::string& cache);
  std::string Fingerprint() const;
  std::string NameOf(uint64_t id) const;
  size_t FileWith(uint64_t id) const;
  void LearnPlaces(size_t file);
  absl::Status ReadSingles(size_t file, uint64_t row, SampleBytes& sample) const;
  absl::Status ReadPlace(size_t file, size_t field, uint64_t row, std::vector<uint8_t>& bytes) const;
  absl::Status ReadBlock(size_t file, size_t field, uint64_t row, std::vector<uint8_t>& bytes) const;

  const std::shared_ptr<Store> store_;
  const std::vector<ObjectInfo> shards_;
  const std::string name_;
  const std::unique_ptr<Hdf5Reader> reader_;

  // Open sets these; they are constant after it.
  FieldMapping mapping_;
  SourceSchema schema_;
  std::vector<Hdf5Column> columns_;  // of each field, as the file that was learned from has them
  std::vector<File> files_;          // of each shard
  std::string fingerprint_;
  std::vector<std::string> warnings_;
  uint64_t cache_bytes_ = 0;
  std::unique_ptr<RowGroupCache> cache_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_HDF5_HDF5_DATASET_H_
