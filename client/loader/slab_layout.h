#ifndef STOKER_CLIENT_LOADER_SLAB_LAYOUT_H_
#define STOKER_CLIENT_LOADER_SLAB_LAYOUT_H_

#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace stoker {

// Where the bytes of a batch lie in its slab: one field after the other, each with all rows of the batch.
//
//   field 0: row 0 | row 1 | … | row n−1 | field 1: row 0 | …
//
// A field whose samples differ in size has their sizes there. The samples follow behind all fields, see ValueArena.
//
// Immutable, hence thread-safe.
class SlabLayout {
 public:
  // `field_bytes` are the bytes of one sample of each field.
  explicit SlabLayout(std::vector<uint64_t> field_bytes) : field_bytes_(std::move(field_bytes)) {}

  size_t fields() const { return field_bytes_.size(); }

  // Bytes of a batch of `rows`.
  uint64_t bytes(uint64_t rows) const {
    return rows * std::accumulate(field_bytes_.begin(), field_bytes_.end(), uint64_t{0});
  }

  // The bytes of `count` rows of a field from `row` on, in the slab of a batch of `rows`. Requires that they are in it.
  std::span<uint8_t> Rows(std::span<uint8_t> slab, uint64_t rows, size_t field, uint64_t row, uint64_t count) const {
    uint64_t offset = 0;
    for (size_t before = 0; before < field; ++before) offset += rows * field_bytes_[before];
    return slab.subspan(offset + row * field_bytes_[field], count * field_bytes_[field]);
  }

  // The bytes of all rows of a field.
  std::span<uint8_t> Field(std::span<uint8_t> slab, uint64_t rows, size_t field) const {
    return Rows(slab, rows, field, 0, rows);
  }

 private:
  const std::vector<uint64_t> field_bytes_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_SLAB_LAYOUT_H_
