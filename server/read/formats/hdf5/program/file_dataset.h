#ifndef STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_FILE_DATASET_H_
#define STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_FILE_DATASET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/read/formats/hdf5/messages.h"
#include "server/read/formats/hdf5/program/values.h"

namespace stoker {

// A dataset of an open file, which must outlive it. Errors are thrown, as Checked does.
class FileDataset {
 public:
  // Opens the dataset at `path`, by links of this file alone.
  FileDataset(hid_t file, uint64_t file_size, std::string path);

  const Hdf5Column& column() const { return column_; }

  // Returns the bytes of memory that its decompressed chunks may stay in.
  uint64_t cache_bytes() const { return cache_bytes_; }

  // Says where its rows lie.
  Hdf5Places Places(hid_t file) const;

  // Reads rows that it has, whose values go to `bytes`.
  DecodedColumns::Column Read(uint64_t begin, uint64_t count, uint64_t most_bytes, std::string& bytes) const;

 private:
  std::string Describe(uint64_t file_size);
  std::string DescribeStorage(uint64_t file_size);
  void Open(hid_t file);

  Hdf5Column column_;
  std::vector<uint64_t> extents_;  // of each dimension
  uint64_t elements_ = 1;          // of a row
  uint64_t cache_bytes_ = 0;
  ValueType type_;
  Handle id_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_FILE_DATASET_H_
