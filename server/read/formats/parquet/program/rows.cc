#include "server/read/formats/parquet/program/rows.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace stoker {

// A footer may say anything.
constexpr uint64_t kMostExpectedBytes = uint64_t{64} << 20;

RowGatherer::RowGatherer(uint32_t lists, const DecodeRequest::Wanted& wanted, uint64_t most_rows, uint64_t most_bytes)
    : lists_(lists), has_any_length_(wanted.has_any_length), most_rows_(most_rows), most_bytes_(most_bytes) {
  if (has_any_length_) {
    // One list of numbers is cut into elements by whoever asked.
    if (lists_ == 0 || (lists_ > 1 && wanted.shape.size() != lists_ - 1))
      throw std::runtime_error("a column has other lists than were asked for");
    SetShape(lists_ > 1 ? wanted.shape : std::vector<int64_t>());
  } else if (lists_ == 0) {
    SetShape({});
  } else if (wanted.has_shape) {
    if (wanted.shape.size() != lists_) throw std::runtime_error("a column has other lists than were asked for");
    SetShape(wanted.shape);
  }
}

void RowGatherer::Expect(uint64_t bytes) { bytes_.reserve(std::min({bytes, most_bytes_, kMostExpectedBytes})); }

void RowGatherer::Add(int16_t repetition, const void* bytes, uint64_t size) {
  Begin(repetition);
  if (!shape_.has_value()) {
    repetitions_.push_back(repetition);
  } else if (why_not_ == 0 && RepetitionAt(elements_) != repetition) {
    why_not_ = kOtherShapeRow;
  }
  ++elements_;
  if (why_not_ != 0) return;
  if (bytes_.size() + size > most_bytes_) throw std::runtime_error("a column has more bytes than its footer tells of");
  if (size > 0) bytes_.append(static_cast<const char*>(bytes), size);
}

void RowGatherer::AddMissing(int16_t repetition, uint32_t why) {
  Begin(repetition);
  why_not_ = why;
}

void RowGatherer::AddEmpty() {
  Begin(0);
  if (!has_any_length_) why_not_ = kNullRow;
}

void RowGatherer::Finish() {
  if (in_row_) EndRow();
  in_row_ = false;
}

void RowGatherer::Begin(int16_t repetition) {
  if (repetition != 0 && in_row_) return;
  if (in_row_) EndRow();
  if (sizes_.size() == most_rows_) throw std::runtime_error("a column has more rows than its row group");
  in_row_ = true;
  row_begin_ = bytes_.size();
  elements_ = 0;
  why_not_ = 0;
  repetitions_.clear();
}

void RowGatherer::EndRow() {
  if (why_not_ == 0 && !shape_.has_value()) LearnShape();
  const uint64_t stride = strides_.empty() ? 1 : strides_.back();
  const bool is_whole = has_any_length_ ? elements_ % stride == 0 : elements_ == stride;
  if (why_not_ == 0 && lists_ > 0 && !is_whole) why_not_ = kOtherShapeRow;
  if (bytes_.size() - row_begin_ > kMostRowBytes) throw std::runtime_error("a row has more than 4 GiB");
  if (why_not_ != 0) bytes_.resize(row_begin_);
  sizes_.push_back(why_not_ != 0 ? why_not_ : static_cast<uint32_t>(bytes_.size() - row_begin_));
}

// Returns the repetition level that element `element` of a row of the shape has.
int16_t RowGatherer::RepetitionAt(uint64_t element) const {
  if (element == 0) return 0;
  uint32_t begun = 0;
  while (begun < strides_.size() && element % strides_[begun] == 0) ++begun;
  return static_cast<int16_t>(lists_ - begun);
}

void RowGatherer::SetShape(std::vector<int64_t> shape) {
  strides_.clear();
  uint64_t elements = 1;
  for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) {
    if (*extent < 1 || static_cast<uint64_t>(*extent) > most_bytes_ / elements)
      throw std::runtime_error("a list has no shape that can be");
    elements *= static_cast<uint64_t>(*extent);
    strides_.push_back(elements);
  }
  shape_ = std::move(shape);
}

// Takes the shape of the row that ends, unless its lists have several lengths.
void RowGatherer::LearnShape() {
  std::vector<int64_t> shape(lists_);
  uint64_t stride = 1;
  for (uint32_t list = 0; list < lists_; ++list) {
    uint64_t end = stride;
    while (end < repetitions_.size() && repetitions_[end] >= static_cast<int16_t>(lists_ - list)) end += stride;
    if (end > repetitions_.size()) break;
    shape[lists_ - 1 - list] = static_cast<int64_t>(end / stride);
    stride = end;
  }
  bool is_regular = stride == repetitions_.size() && shape[0] > 0;
  if (is_regular) SetShape(shape);
  for (uint64_t i = 0; is_regular && i < repetitions_.size(); ++i) is_regular = RepetitionAt(i) == repetitions_[i];
  if (is_regular) return;
  shape_.reset();
  why_not_ = kOtherShapeRow;
}

}  // namespace stoker
