#ifndef STOKER_SERVER_AUGMENT_SMOOTH_ROW_H_
#define STOKER_SERVER_AUGMENT_SMOOTH_ROW_H_

#include <cstdint>
#include <span>
#include <vector>

namespace stoker {

// What Smoother does to one row, channel by channel: `values` of them, `step` apart from pixel to pixel. Thread-safe.
// The same bytes on every CPU.

// Values may be read and written that far beyond the end of a row of sums or of an output row.
inline constexpr int64_t kRowPadding = 64;

// Half of a symmetric kernel, from its center on: each weight is for two values, the center's for twice the same one.
// Fixed point with 15 fraction bits; they add up to 2^14, a half. An even number of weights, the last one maybe 0.
class HalfKernel {
 public:
  // Requires that all are from 0 to 2^14.
  void Set(std::span<const int32_t> weights);

  // Values that the whole kernel reaches to either side of its center.
  int64_t reach() const { return reach_; }

  // The weights of 2 · i, in the lower half, and 2 · i + 1.
  std::span<const int32_t> pairs() const { return pairs_; }
  int32_t operator[](int64_t i) const { return pairs_[i / 2] >> (i % 2 * 16) & 0x7fff; }

 private:
  int64_t reach_ = 0;
  std::vector<int32_t> pairs_;
};

// Of 2 · reach + 1 rows to sums with 6 fraction bits.
void BlurDown(const HalfKernel& kernel, std::span<const uint8_t* const> rows, int64_t values, int16_t* sums);

// Of such sums, with reach · step of them before `sums` and after the last, to levels.
void BlurAcross(const HalfKernel& kernel, const int16_t* sums, int64_t values, int64_t step, uint8_t* out);

// Three rows to their sums.
void SumDown(std::span<const uint8_t* const> rows, int64_t values, int16_t* sums);

// `row`, the middle one of the three, becomes itself blended with PIL's ImageFilter.SMOOTH of it by `factor`. `sums`
// are SumDown's, with `step` more of them before and after.
void SharpenAcross(float factor, const int16_t* sums, int64_t values, int64_t step, uint8_t* row);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_SMOOTH_ROW_H_
