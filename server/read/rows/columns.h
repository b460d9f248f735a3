#ifndef STOKER_SERVER_READ_ROWS_COLUMNS_H_
#define STOKER_SERVER_READ_ROWS_COLUMNS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Values of rows, as children that decode a format answer them. Children are compiled without our other libraries, so
// these functions need none. They are pure, and any bytes are safe to parse: false means that they are no such message,
// and parsing allocates no more than a small multiple of their number.

// The type of a column's values, as the answer has them: those that fields do not have become the next wider ones.
enum class ColumnType : uint8_t {
  kOther,  // none that a field can have
  kUint8,  // of uint8 and of booleans
  kInt16,  // of int8 and int16
  kInt32,  // of uint16 and int32
  kInt64,  // of uint32, int64 and uint64
  kFloat16,
  kFloat32,
  kFloat64,
  kFixed,   // `width` bytes
  kBinary,  // bytes, which may be an image
  kText,    // texts, which only fields take whose samples differ in size
};
inline constexpr uint8_t kColumnTypes = 11;

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

std::string SerializeColumns(const DecodedColumns& columns);
bool ParseColumns(std::string_view message, DecodedColumns& columns);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_ROWS_COLUMNS_H_
