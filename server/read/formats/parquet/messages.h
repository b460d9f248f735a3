#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_MESSAGES_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_MESSAGES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/read/rows/columns.h"

namespace stoker {

// What the server and stoker-parquet say to each other. The program is compiled without our other libraries, so these
// functions need none. They are pure, and any bytes are safe to parse: false means that they are no such message, and
// parsing allocates no more than a small multiple of their number.
//
//   request   answer
//   'f', PutBytes of a file's footer   ParquetFooter
//   'd', PutBytes of a DecodeRequest, and the bytes of its ranges one after another   DecodedColumns

// A leaf of a file's schema.
struct ParquetColumn {
  std::string name;  // with dots between the names of structs and fields, and without those of lists: "image.bytes"
  ColumnType type = ColumnType::kOther;
  uint32_t width = 0;  // bytes of a value; 0 of kBinary and kText
  uint32_t lists = 0;  // within each other
  std::string why;     // of kOther and kText: "is text"

  bool operator==(const ParquetColumn&) const = default;
};

// Where in its file the values of a column of one row group are.
struct ParquetChunk {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t decoded = 0;  // bytes when it is decompressed, as the footer has it
};

struct ParquetRowGroup {
  uint64_t rows = 0;
  std::string footer;                // of a file that has this row group alone
  std::vector<ParquetChunk> chunks;  // of each column
};

struct ParquetFooter {
  std::vector<ParquetColumn> columns;
  std::vector<ParquetRowGroup> row_groups;
};

struct DecodeRequest {
  struct Wanted {
    uint32_t column = 0;
    bool has_shape = false;      // else it is that of the first row that has one
    std::vector<int64_t> shape;  // of lists; empty where there is none
    // Whether lists may be of any length: a value is any number of elements of `shape`, also none, or one list of
    // numbers.
    bool has_any_length = false;
  };
  struct Range {
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  uint64_t file_size = 0;
  uint64_t rows = 0;
  uint64_t most_bytes = 0;  // that the answer may have
  std::string footer;       // ParquetRowGroup::footer
  std::vector<Wanted> columns;
  std::vector<Range> ranges;
};

std::string SerializeFooter(const ParquetFooter& footer);
bool ParseFooter(std::string_view message, ParquetFooter& footer);

// The request's first part, without the bytes of its ranges.
std::string SerializeRequest(const DecodeRequest& request);
// `bytes` becomes what follows.
bool ParseRequest(std::string_view message, DecodeRequest& request, std::string_view& bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_MESSAGES_H_
