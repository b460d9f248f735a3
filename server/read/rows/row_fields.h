#ifndef STOKER_SERVER_READ_ROWS_ROW_FIELDS_H_
#define STOKER_SERVER_READ_ROWS_ROW_FIELDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/fields/schema.h"
#include "server/read/rows/row_group.h"

namespace stoker {

// How decoded rows become samples. All functions are pure.

// Returns the type of the numbers of a column; uint8 of kFixed, none of kBinary and kText.
v1::Dtype DtypeOf(ColumnType type);

// Returns the field of numbers of `type` that has this shape. InvalidArgument where it has too many bytes.
absl::StatusOr<SourceField> DenseField(ColumnType type, std::vector<int64_t> shape);

// Returns the field of values that are bytes: an image where they begin as one, uint8 where all have `width`, which is
// 0 where they differ. InvalidArgument says why it is none: "is bytes of no fixed size, and no image".
absl::StatusOr<SourceField> FieldOfBytes(bool is_image, std::vector<int64_t> shape, uint32_t width);

// OK where a row's value of `size` bytes, or one of kNullRow and its like, is one of `field`; else DataLoss.
absl::Status CheckRow(uint32_t size, const SourceField& field);

// Replaces `bytes` by a row's value of a column, which is `field`. DataLoss where that is no value of such a field.
absl::Status TakeRow(const RowGroup& group, size_t column, uint64_t row, const SourceField& field,
                     std::vector<uint8_t>& bytes);

// Returns the error of Dataset::Read for what was wrong with a sample, which it names.
absl::Status RowError(const std::string& dataset, const std::string& sample, const absl::Status& status);

// What a dataset has of row groups.
struct DecodedSizes {
  uint64_t count = 0;
  uint64_t all = 0;      // bytes of all
  uint64_t largest = 0;  // bytes of what one sample needs, while it is loaded
  uint64_t rows = 0;     // of the largest
};

// Returns how much a cache of row groups may take: what the configuration says, by default 256 MiB, but no more than
// there is and loading the last of it, and no less than a sample needs. Adds a warning where not all has room. `what`
// names a row group: "row group". InvalidArgument where `asked` is no size.
absl::StatusOr<uint64_t> CacheBytes(const std::string& asked, const DecodedSizes& sizes, const std::string& what,
                                    std::vector<std::string>& warnings);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_ROWS_ROW_FIELDS_H_
