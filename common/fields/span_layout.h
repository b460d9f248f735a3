#ifndef STOKER_COMMON_FIELDS_SPAN_LAYOUT_H_
#define STOKER_COMMON_FIELDS_SPAN_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Where the fields lie in a span's payload. Those whose samples have one size come first, in declared order, and each
// holds all samples of the span, without padding. The others follow: the sizes in bytes of all samples, each a
// little-endian uint32, then the samples. With C samples, fields f, g of F and G bytes a sample, and v, whose samples
// differ in size:
//
//   ┌──────┬───┬────────┬──────┬───┬────────┬─────────┬───┬───────────┬──────┬───┬────────┐
//   │ f[0] │ … │ f[C−1] │ g[0] │ … │ g[C−1] │ |v[0]|  │ … │ |v[C−1]|  │ v[0] │ … │ v[C−1] │
//   └──────┴───┴────────┴──────┴───┴────────┴─────────┴───┴───────────┴──────┴───┴────────┘
//   0                   C·F                 C·(F + G)                 C·(F + G + 4)
//
// The bytes of v's samples together are the first of SpanHeader.values_bytes. Immutable, hence thread-safe.
class SpanLayout {
 public:
  SpanLayout() = default;  // of no fields

  // Requires that ByteSize and CheckKind of each field are OK.
  explicit SpanLayout(std::span<const v1::Field> fields);

  // A part of a payload.
  struct Part {
    enum class Holds { kSamples, kSizes, kValues };  // kSamples: of one size; kValues: of different sizes
    size_t field = 0;                                // its index
    Holds holds = Holds::kSamples;
    uint64_t bytes = 0;
  };

  // Returns the parts of the payload that `header` announces, in order. Requires that PayloadBytes returns something.
  std::vector<Part> PartsOf(const v1::SpanHeader& header) const;

  // The fields whose samples differ in size, in order.
  const std::vector<size_t>& variable() const { return variable_; }

  // Returns the most bytes of a sample of a field whose samples differ in size.
  uint64_t MostBytes(size_t field) const { return sizes_[field].max_bytes; }

  // Bytes of a usual sample of all fields.
  uint64_t typical_bytes() const { return typical_bytes_; }

  // Returns the bytes of a span of `count` samples that `header` announces; nothing where a field would have more than
  // its most, or there is not one number for each variable field.
  std::optional<uint64_t> PayloadBytes(const v1::SpanHeader& header) const;

  // OK if `sizes`, as they are sent, are those of samples of the field: of whole rows, none above the field's most, and
  // of `values_bytes` together. DataLoss otherwise.
  absl::Status CheckSizes(size_t field, std::span<const uint8_t> sizes, uint64_t values_bytes) const;

 private:
  struct Size {
    uint64_t bytes = 0;      // of one sample, where all have the same
    uint64_t max_bytes = 0;  // of one sample, where they differ
    uint64_t row_bytes = 0;  // then
  };
  std::vector<Size> sizes_;
  std::vector<size_t> variable_;
  uint64_t fixed_bytes_ = 0, typical_bytes_ = 0;  // of one sample
};

// Returns number `i` of sizes as they are sent.
uint32_t SizeAt(std::span<const uint8_t> sizes, size_t i);

}  // namespace stoker

#endif  // STOKER_COMMON_FIELDS_SPAN_LAYOUT_H_
