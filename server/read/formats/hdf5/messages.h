#ifndef STOKER_SERVER_READ_FORMATS_HDF5_MESSAGES_H_
#define STOKER_SERVER_READ_FORMATS_HDF5_MESSAGES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/read/rows/columns.h"

namespace stoker {

// What the server and stoker-hdf5 say to each other. Meanwhile the child fetches ranges of the request's file. The
// program is compiled without our other libraries, so these functions need none. They are pure, and any bytes are safe
// to parse: false means that they are no such message, and parsing allocates no more than a small multiple of their
// number.
//
//   request         answer
//   an Hdf5Request without paths        the columns of its file
//   an Hdf5Request that asks_places     the Hdf5Places of each of its columns
//   any other Hdf5Request               DecodedColumns

// A dataset of a file, whose first dimension counts rows.
struct Hdf5Column {
  std::string path;  // without a slash before it: "train/images"
  ColumnType type = ColumnType::kOther;
  uint32_t width = 0;  // bytes of a number; of kBinary bytes of a value, or 0 where they differ
  uint64_t rows = 0;
  std::vector<int64_t> shape;  // of a row
  // Rows that are decoded together, where a row is decompressed or converted with others and is none of kBinary; else
  // 0.
  uint64_t block_rows = 0;
  std::string why;  // of kOther: "is text"

  // Whether rows of both are of one kind.
  bool HasRowsOf(const Hdf5Column& other) const {
    return type == other.type && width == other.width && shape == other.shape;
  }
};

// A reference to a value that lies elsewhere has so many bytes: see global_heap.h.
inline constexpr uint64_t kReferenceBytes = 16;

// Where a column's rows lie in their file, where they lie there as they are: in runs of rows that follow each other.
struct Hdf5Places {
  std::vector<uint64_t> runs;  // where each run begins in the file; none where rows have to be decoded
  uint64_t run_rows = 0;       // of each run but the last, which may have fewer
  uint64_t row_bytes = 0;
  bool are_references = false;  // rows are of kReferenceBytes
};

// Rows of some columns. Without paths it asks which columns there are.
struct Hdf5Request {
  uint64_t file = 0;  // a number that tells the file from others
  uint64_t file_size = 0;
  uint64_t begin = 0;
  uint64_t count = 0;
  uint64_t most_bytes = 0;  // that all values may have
  std::vector<std::string> paths;
  bool asks_places = false;  // rather than values
};

std::string SerializeRequest(const Hdf5Request& request);
bool ParseRequest(std::string_view message, Hdf5Request& request);

std::string SerializeHdf5Columns(const std::vector<Hdf5Column>& columns);
bool ParseHdf5Columns(std::string_view message, std::vector<Hdf5Column>& columns);

std::string SerializePlaces(const std::vector<Hdf5Places>& places);
bool ParsePlaces(std::string_view message, std::vector<Hdf5Places>& places);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_HDF5_MESSAGES_H_
