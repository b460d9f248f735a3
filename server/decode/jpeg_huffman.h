#ifndef STOKER_SERVER_DECODE_JPEG_HUFFMAN_H_
#define STOKER_SERVER_DECODE_JPEG_HUFFMAN_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/decode/jpeg_frame.h"

namespace stoker {

// Two lookup tables for one Huffman table of a JPEG. Both are indexed by the next kBits bits of the scan.
//
// `step` decodes one symbol. Its entry also holds the value of the symbol's coefficient where the coefficient's bits
// fit in the index too. `walk` skips coefficients without decoding them: its entry covers every symbol whose code fits
// in the index, up to the end of a block. An entry of either is 0 where the first code is longer than kBits; LongStep
// finds such a symbol.
//
// A table is immutable once built.
class HuffmanTable {
 public:
  static constexpr int kBits = 10;

  // An entry of `step`: one symbol.
  //
  //   31                    16 15            9 8         5 4        0
  //  +------------------------+---------------+-----------+----------+
  //  | Value, signed          | Skip          | ExtraBits | Length   |
  //  +------------------------+---------------+-----------+----------+
  struct Step {
    // The Skip of a symbol that ends the block. It leads beyond the 64 coefficients from any place in a block.
    static constexpr int kEndOfBlock = 100;

    // Bits to consume: those of the code and of the coefficient after it.
    static int Length(uint32_t step) { return step & 31; }
    // How many of these bits, the last ones, hold the coefficient and must still be read; 0 where Value is known.
    static int ExtraBits(uint32_t step) { return step >> 5 & 15; }
    // Coefficients to move on by: the zeros before the decoded one, and that one. It is 16 for a run of 16 zeros, and
    // kEndOfBlock at a block's end.
    static int Skip(uint32_t step) { return step >> 9 & 127; }
    // The coefficient, or the difference of a DC coefficient to the one before, not dequantized.
    static int Value(uint32_t step) { return static_cast<int32_t>(step) >> 16; }
    static uint32_t Make(int length, int extra_bits, int skip, int value) {
      return static_cast<uint32_t>(length | extra_bits << 5 | skip << 9) | static_cast<uint32_t>(value) << 16;
    }
  };

  // An entry of `walk`: one or more symbols in a row.
  //
  //   15                 6 5           0
  //  +--------------------+-------------+
  //  | Skip               | Length      |
  //  +--------------------+-------------+
  //
  // Length is the number of bits to consume, Skip that of coefficients to move on by.
  struct Walk {
    // This is added to Skip where the last symbol ends the block.
    static constexpr int kEndOfBlock = 128;

    static int Length(uint16_t walk) { return walk & 63; }
    static int Skip(uint16_t walk) { return walk >> 6; }
    static uint16_t Make(int length, int skip) { return static_cast<uint16_t>(length | skip << 6); }
  };

  // Builds the tables of `spec`, which codes DC coefficients (`is_dc`) or AC ones. Returns false, and leaves nothing of
  // use, where `spec` is not a prefix code or where a DC symbol is above 11, which no photograph of 8 bits has.
  bool Build(const HuffmanSpec& spec, bool is_dc);

  // These look up an entry by the top kBits bits of `bits`.
  uint32_t step(uint64_t bits) const { return steps_[bits >> (64 - kBits)]; }
  uint16_t walk(uint64_t bits) const { return walks_[bits >> (64 - kBits)]; }

  // Returns the step of the code at the top of `bits`, which must be longer than kBits; 0 where no code fits.
  uint32_t LongStep(uint64_t bits) const;

 private:
  // Makes the step of `symbol`, whose code of `length` bits is at the top of `bits`. The `known` bits after the code
  // are valid too.
  uint32_t StepOf(int symbol, int length, uint64_t bits, int known) const;

  std::array<uint32_t, 1 << kBits> steps_;
  std::array<uint16_t, 1 << kBits> walks_;
  bool is_dc_ = false;
  // Both are indexed by a code's length. limits_ holds the first number beyond the codes of that length, shifted to the
  // top of 16 bits. offsets_ holds what to add to a code of that length to get its index in symbols_.
  std::array<uint32_t, 17> limits_;
  std::array<int, 17> offsets_;
  std::array<uint8_t, 256> symbols_;
};

// Keeps the tables used last, because most files come from few encoders. It is used by one thread at a time.
class HuffmanCache {
 public:
  // Returns the table of `spec`, or null where HuffmanTable::Build fails. The table stays valid for the next kKept − 1
  // calls.
  const HuffmanTable* Get(const HuffmanSpec& spec, bool is_dc);

  static constexpr size_t kKept = 12;  // tables; a file usually has 4

 private:
  struct Entry {
    HuffmanSpec spec;
    bool is_dc = false;
    bool valid = false;
    uint64_t used = 0;  // clock_ when it was last asked for; 0 for a table that is still to be built
    HuffmanTable table;
  };

  std::vector<std::unique_ptr<Entry>> entries_;
  uint64_t clock_ = 0;  // calls of Get
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_HUFFMAN_H_
