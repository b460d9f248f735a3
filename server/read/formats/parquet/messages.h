#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_MESSAGES_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_MESSAGES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// What the server and stoker-parquet say to each other. The program is compiled without our other libraries, so these
// functions need none. They are pure, and any bytes are safe to parse: false means that they are no such message, and
// parsing allocates no more than a small multiple of their number.
//
//   request   answer
//   'f', PutBytes of a file's footer   ParquetFooter
//   'd', PutBytes of a DecodeRequest, and the bytes of its ranges one after another   DecodedColumns

// The type of a column's values, as the answer has them: those that fields do not have become the next wider ones.
enum class ParquetType : uint8_t {
  kOther,  // none that a field can have
  kUint8,  // of uint8 and of booleans
  kInt16,  // of int8 and int16
  kInt32,  // of uint16 and int32
  kInt64,  // of uint32, int64 and uint64
  kFloat16,
  kFloat32,
  kFloat64,
  kFixed,   // `width` bytes
  kBinary,  // any number of bytes
};
inline constexpr uint8_t kParquetTypes = 10;

// A leaf of a file's schema.
struct ParquetColumn {
  std::string name;  // with dots between the names of structs and fields, and without those of lists: "image.bytes"
  ParquetType type = ParquetType::kOther;
  uint32_t width = 0;  // bytes of a value; 0 of kBinary
  uint32_t lists = 0;  // within each other
  std::string why;     // of kOther: "is text"

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

// Sizes that say why a row has no value. None can be a size.
inline constexpr uint32_t kNullRow = ~uint32_t{0};
inline constexpr uint32_t kOtherShapeRow = kNullRow - 1;  // a list of another shape than the first row's or the asked
inline constexpr uint32_t kTooLargeRow = kNullRow - 2;    // an uint64 that is no int64
inline constexpr uint32_t kMostRowBytes = kNullRow - 3;

// The values of a row group, one column after another. The bytes belong to the message that was parsed.
struct DecodedColumns {
  struct Column {
    std::vector<int64_t> shape;   // of lists
    std::vector<uint32_t> sizes;  // of each row's value
    std::string_view bytes;       // of all values, one after another
  };
  uint64_t rows = 0;
  std::vector<Column> columns;
};

std::string SerializeFooter(const ParquetFooter& footer);
bool ParseFooter(std::string_view message, ParquetFooter& footer);

// The request's first part, without the bytes of its ranges.
std::string SerializeRequest(const DecodeRequest& request);
// `bytes` becomes what follows.
bool ParseRequest(std::string_view message, DecodeRequest& request, std::string_view& bytes);

std::string SerializeColumns(const DecodedColumns& columns);
bool ParseColumns(std::string_view message, DecodedColumns& columns);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_MESSAGES_H_
