#ifndef STOKER_SERVER_DECODE_JPEG_KERNELS_H_
#define STOKER_SERVER_DECODE_JPEG_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker {

// The arithmetic from a JPEG's coefficients to pixels. The results are libjpeg's to the bit: the arithmetic is of
// integers only, so it is the same on every CPU. All functions are thread-safe.

// The place that the samples of one block are written to.
struct BlockTarget {
  uint8_t* samples = nullptr;  // the first of 8×8 samples, or of fewer at a reduced size
  ptrdiff_t stride = 0;        // bytes from row to row
};

// Applies the inverse DCT to targets.size() blocks and writes `size` × `size` samples of each to its target. `size` is
// 8, 4 or 2. `blocks`, aligned to 64 bytes, holds the blocks one after the other, each of 64 dequantized coefficients
// row by row. The coefficients are set to 0.
//
// The algorithm is that of Loeffler, Ligtenberg and Moschytz ("Practical fast 1-D DCT algorithms with 11
// multiplications", ICASSP 1989) with 13-bit constants. It transforms columns first and keeps 2 more bits between the
// passes, like libjpeg's "islow". For a `size` of 4 or 2 the sums of neighboring outputs are folded into the constants.
void InverseDct(int16_t* blocks, int size, std::span<const BlockTarget> targets);

// Writes what InverseDct makes of a block whose only coefficient is the first, `dc`. `size` may also be 1.
void FillBlock(int16_t dc, int size, const BlockTarget& target);

// One row of samples on its way to pixels. Chroma is taken from two rows: `near` lies nearer to the luma row than
// `far`. All pointers stand at the same column of the image, and kRowSlack samples before and after each row are
// readable.
struct YCbCrRow {
  static constexpr int64_t kRowSlack = 64;

  const uint8_t* luma = nullptr;
  const uint8_t* near[2] = {};  // Cb, Cr
  const uint8_t* far[2] = {};
  // What ChromaHalving::kVertical adds before it shifts: 1 where `far` lies above, 2 where it lies below.
  int far_bias = 0;
};

// On which axes chroma has half of luma's samples. The triangle filter of libjpeg's "fancy upsampling" doubles them.
enum class ChromaHalving { kNone, kHorizontal, kVertical, kBoth };

// Writes `width` RGBX pixels to `out`, and up to 128 bytes of no meaning after them. The conversion is JFIF's matrix
// with 16 fraction bits.
void YCbCrToRgbx(const YCbCrRow& row, ChromaHalving halving, int64_t width, uint8_t* out);

// Does the same for a gray row.
void GrayToRgbx(const uint8_t* luma, int64_t width, uint8_t* out);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_KERNELS_H_
