#include "server/read/rows/row_group.h"

#include <string>
#include <utility>

namespace stoker {

RowGroup::RowGroup(ChildAnswer answer, DecodedColumns columns)
    : answer_(std::move(answer)), columns_(std::move(columns)) {
  for (const auto& column : columns_.columns) {
    std::vector<uint64_t>& begins = begins_.emplace_back();
    begins.reserve(column.sizes.size());
    uint64_t begin = 0;
    for (const uint32_t size : column.sizes) {
      begins.push_back(begin);
      if (size <= kMostRowBytes) begin += size;
    }
  }
}

std::span<const uint8_t> RowGroup::ValueOf(size_t column, uint64_t row) const {
  const DecodedColumns::Column& values = columns_.columns[column];
  return std::span(reinterpret_cast<const uint8_t*>(values.bytes.data()), values.bytes.size())
      .subspan(begins_[column][row], values.sizes[row]);
}

uint64_t RowGroup::resident_bytes() const {
  return sizeof(*this) + answer_.size + columns_.columns.size() * (sizeof(DecodedColumns::Column) + 64) +
         columns_.columns.size() * columns_.rows * (sizeof(uint32_t) + sizeof(uint64_t));
}

}  // namespace stoker
