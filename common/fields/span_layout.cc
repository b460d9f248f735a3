#include "common/fields/span_layout.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/fields/schema.h"

namespace stoker {

SpanLayout::SpanLayout(std::span<const v1::Field> fields) {
  for (const v1::Field& field : fields) {
    Size& size = sizes_.emplace_back();
    typical_bytes_ += TypicalBytes(field);
    if (IsVariable(field.kind())) {
      size = {.max_bytes = field.max_bytes(), .row_bytes = RowBytes(field)};
      variable_.push_back(sizes_.size() - 1);
    } else {
      size.bytes = ByteSize(field).value_or(0);
      fixed_bytes_ += size.bytes;
    }
  }
}

std::vector<SpanLayout::Part> SpanLayout::PartsOf(const v1::SpanHeader& header) const {
  STOKER_CHECK(header.values_bytes_size() == static_cast<int>(variable_.size()));
  const uint64_t count = header.count();
  std::vector<Part> parts;
  for (size_t i = 0; i < sizes_.size(); ++i)
    if (sizes_[i].max_bytes == 0) parts.push_back({i, Part::Holds::kSamples, count * sizes_[i].bytes});
  for (size_t i = 0; i < variable_.size(); ++i) {
    parts.push_back({variable_[i], Part::Holds::kSizes, count * kLengthBytes});
    parts.push_back({variable_[i], Part::Holds::kValues, header.values_bytes(static_cast<int>(i))});
  }
  return parts;
}

std::optional<uint64_t> SpanLayout::PayloadBytes(const v1::SpanHeader& header) const {
  if (header.values_bytes_size() != static_cast<int>(variable_.size())) return std::nullopt;
  uint64_t bytes = header.count() * fixed_bytes_;
  for (size_t i = 0; i < variable_.size(); ++i) {
    const uint64_t values = header.values_bytes(static_cast<int>(i));
    if (values > header.count() * sizes_[variable_[i]].max_bytes) return std::nullopt;
    bytes += header.count() * kLengthBytes + values;
  }
  return bytes;
}

absl::Status SpanLayout::CheckSizes(size_t field, std::span<const uint8_t> sizes, uint64_t values_bytes) const {
  const Size& allowed = sizes_[field];
  uint64_t sum = 0;
  for (size_t i = 0; i < sizes.size() / kLengthBytes; ++i) {
    const uint32_t size = SizeAt(sizes, i);
    if (size > allowed.max_bytes || size % allowed.row_bytes != 0)
      return absl::DataLossError(absl::StrCat("a span with a sample of ", size, " bytes in a field whose rows have ",
                                              allowed.row_bytes, " and whose samples have at most ",
                                              allowed.max_bytes));
    sum += size;
  }
  if (sum == values_bytes) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("a span whose samples have ", sum, " bytes and not ", values_bytes));
}

uint32_t SizeAt(std::span<const uint8_t> sizes, size_t i) {
  uint32_t size = 0;
  std::memcpy(&size, sizes.data() + i * kLengthBytes, kLengthBytes);
  return size;
}

}  // namespace stoker
