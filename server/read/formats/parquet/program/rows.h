#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_PROGRAM_ROWS_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_PROGRAM_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/read/formats/parquet/messages.h"

namespace stoker {

// Gathers the values of one column into rows, as its levels say. A row of lists is a value where these have the shape
// that all rows have: the asked one, or that of the first row without a null. Its repetition levels tell: element k of
// a shape [a, b, c] begins a new list of c where c divides k, a new one of b lists where b × c divides it, and so on.
// Where values have any length, the shape is that of an element of the outermost list, and a row without elements is a
// value of no bytes.
class RowGatherer {
 public:
  // `lists` is the column's largest repetition level. Throws beyond `most_rows` and `most_bytes`.
  RowGatherer(uint32_t lists, const DecodeRequest::Wanted& wanted, uint64_t most_rows, uint64_t most_bytes);

  // Expects values of so many bytes in all.
  void Expect(uint64_t bytes);

  // Adds an element, of which `lists` says where it stands in its row.
  void Add(int16_t repetition, const void* bytes, uint64_t size);
  // Adds what stands for a value that is missing, or one of `why` that cannot be.
  void AddMissing(int16_t repetition, uint32_t why = kNullRow);
  // Adds a row whose outermost list has no element.
  void AddEmpty();
  // Ends the last row.
  void Finish();

  const std::optional<std::vector<int64_t>>& shape() const { return shape_; }
  std::vector<uint32_t>& sizes() { return sizes_; }
  const std::string& bytes() const { return bytes_; }

 private:
  void Begin(int16_t repetition);
  void EndRow();
  int16_t RepetitionAt(uint64_t element) const;
  void SetShape(std::vector<int64_t> shape);
  void LearnShape();

  const uint32_t lists_;
  const bool has_any_length_;
  const uint64_t most_rows_;
  const uint64_t most_bytes_;

  std::optional<std::vector<int64_t>> shape_;
  // Elements that each list of the shape has, innermost first; the outermost has none where values have any length.
  std::vector<uint64_t> strides_;
  std::vector<uint32_t> sizes_;
  std::string bytes_;

  bool in_row_ = false;
  uint64_t row_begin_ = 0;            // in bytes_
  uint64_t elements_ = 0;             // of the row
  uint32_t why_not_ = 0;              // 0: the row is a value so far
  std::vector<int16_t> repetitions_;  // of the row, while the shape is unknown
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_PROGRAM_ROWS_H_
