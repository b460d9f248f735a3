#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_COLUMNS_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_COLUMNS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/parquet/messages.h"
#include "server/read/rows/row_group.h"

namespace stoker {

// How the columns of Parquet files become fields. All functions are pure.

// Returns the places of the columns whose values show what they are: those that `asked` names, or without any all of a
// type that fields of a fixed size have.
std::vector<uint32_t> CandidateColumns(const FieldMap& asked, const std::vector<ParquetColumn>& columns);

// What a decoded row group shows of a column. A plain value.
struct ParquetColumnFacts {
  bool is_known = false;   // else it was not decoded
  bool has_value = false;  // else each row is null
  bool is_image = false;   // the first value begins as one
  bool has_other_shape = false;
  std::vector<int64_t> shape;  // of the first list
};

// Returns what the column `place` of a decoded row group shows.
ParquetColumnFacts FactsOf(const ParquetColumn& column, const RowGroup& group, size_t place);

// Returns the field that a column is: an image where the first value begins as one. Lists of several lengths are no
// field, unless it `is_asked` for, where the first one's shape holds.
absl::StatusOr<SourceField> FieldOf(const ParquetColumn& column, const ParquetColumnFacts& facts, bool is_asked);

// Returns what a column is where samples differ in size, of which `facts` may know nothing; nothing where it cannot be
// that.
std::optional<StoredRows> RowsOf(const ParquetColumn& column, const ParquetColumnFacts& facts);

// Returns what has to be asked for to decode a column as `field`, without the column's place. InvalidArgument, such as
// "shape: …", where its lists are of another depth than the rows of the field.
absl::StatusOr<DecodeRequest::Wanted> WantedOf(const ParquetColumn& column, const SourceField& field);

// Maps the columns, whose fields and rows are in `fields` and `rows` in their order, as MapFields does. A struct of
// `bytes` and `path`, as Hugging Face stores images, is called by its name alone: both `image` and `image.bytes` are
// its bytes, and its path is left out without a warning.
absl::StatusOr<FieldMapping> MapColumns(const FieldMap& asked, const std::vector<ParquetColumn>& columns,
                                        const std::vector<absl::StatusOr<SourceField>>& fields,
                                        const std::vector<std::optional<StoredRows>>& rows);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_COLUMNS_H_
