#ifndef STOKER_SERVER_DECODE_JPEG_KERNELS_H_
#define STOKER_SERVER_DECODE_JPEG_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker {

// The arithmetic of a JPEG's pixels, with libjpeg's results to the bit: integers only, the same on every dispatch
// target. Thread-safe.

// Where the samples of one block go.
struct BlockTarget {
  uint8_t* samples = nullptr;  // 8×8, or fewer
  ptrdiff_t stride = 0;
};

// Writes the samples of `targets.size()` blocks of 64 dequantized coefficients each, one after the other at `blocks`
// (row by row; aligned to 64 bytes), and sets the coefficients to 0.
//
// The inverse DCT of Loeffler, Ligtenberg and Moschytz ("Practical fast 1-D DCT algorithms with 11 multiplications",
// ICASSP 1989) with 13-bit constants, columns first, 2 more bits kept between the passes: libjpeg's "islow". For a
// `size` of 4 or 2 samples a side instead of 8 the same, with sums of neighboring outputs folded into the constants.
void InverseDct(int16_t* blocks, int size, std::span<const BlockTarget> targets);

// What InverseDct makes of a block of one coefficient, also for a `size` of 1.
void FillBlock(int16_t dc, int size, const BlockTarget& target);

// One row of samples on its way to pixels. Chroma is taken from two rows: `near` lies nearer to the luma row than
// `far`. Indexes count from the same column of the image; kRowSlack samples before and after each are readable.
struct YCbCrRow {
  static constexpr int64_t kRowSlack = 64;

  const uint8_t* luma = nullptr;
  const uint8_t* near[2] = {};  // Cb, Cr
  const uint8_t* far[2] = {};
  int far_bias = 0;  // Of vertical halving alone: 1 where `far` lies above, else 2.
};

// How chroma is halved. The triangle filter of libjpeg's "fancy upsampling" undoes it.
enum class ChromaHalving { kNone, kHorizontal, kVertical, kBoth };

// Writes `width` pixels of RGBX to `out`, and up to 128 bytes after them. JFIF's matrix in 16 fraction bits.
void YCbCrToRgbx(const YCbCrRow& row, ChromaHalving halving, int64_t width, uint8_t* out);

// The same of a gray row.
void GrayToRgbx(const uint8_t* luma, int64_t width, uint8_t* out);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_KERNELS_H_
