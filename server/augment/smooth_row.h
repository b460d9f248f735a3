#ifndef STOKER_SERVER_AUGMENT_SMOOTH_ROW_H_
#define STOKER_SERVER_AUGMENT_SMOOTH_ROW_H_

#include <cstdint>
#include <span>
#include <vector>

namespace stoker {

// What Smoother does to one row. A row is `values` values, pixel by pixel, channel by channel within a pixel; the same
// channel of the next pixel is `step` values on. The functions are thread-safe and write the same bytes on every CPU.

// So many values beyond the end of a row of sums or of an output row may be read and written.
inline constexpr int64_t kRowPadding = 64;

// Half of a symmetric kernel, from its center on. Weight i is for the two values at distance i from the center; the
// center's is for the center's value taken twice. Weights have 15 fraction bits and add up to 2^14, a half.
class HalfKernel {
 public:
  // Sets the weights, each from 0 to 2^14.
  void Set(std::span<const int32_t> weights);

  // Returns how many pixels the whole kernel reaches to either side of its center.
  int64_t reach() const { return reach_; }

  // Returns the weights in pairs: element i holds weight 2 · i in its lower 16 bits and weight 2 · i + 1, or 0 where
  // there is none, in its upper ones.
  std::span<const int32_t> pairs() const { return pairs_; }
  int32_t operator[](int64_t i) const { return pairs_[i / 2] >> (i % 2 * 16) & 0x7fff; }

 private:
  int64_t reach_ = 0;
  std::vector<int32_t> pairs_;
};

// Blurs down the columns of 2 · reach + 1 rows and writes sums with 6 fraction bits.
void BlurDown(const HalfKernel& kernel, std::span<const uint8_t* const> rows, int64_t values, int16_t* sums);

// Blurs the sums of BlurDown across and writes levels. Requires reach · step more sums before `sums` and after the last
// one.
void BlurAcross(const HalfKernel& kernel, const int16_t* sums, int64_t values, int64_t step, uint8_t* out);

// Writes the sums of three rows.
void SumDown(std::span<const uint8_t* const> rows, int64_t values, int16_t* sums);

// Blends `row`, the middle one of SumDown's three rows, in place with what PIL's ImageFilter.SMOOTH makes of it. A
// `factor` of 0 gives the smooth row, 1 the row itself. `sums` are SumDown's, with `step` more of them before and
// after.
void SharpenAcross(float factor, const int16_t* sums, int64_t values, int64_t step, uint8_t* row);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_SMOOTH_ROW_H_
